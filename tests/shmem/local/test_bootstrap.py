"""The local provider: how PEs come together, and what everybody is told if they do not."""

import ctypes
import os
import signal
import socket
import struct
import time

from helpers import pes
from helpers.pes import INVALID, MISMATCH, NO_MEMORY, PEER_LOST, TIMEOUT, Pe

PORT_AT = 14  # of the id: magic, version, family, port


def join_briefly(pe: Pe):
    pe.init(timeout=3)


def test_a_missing_pe_is_named_on_all_others():
    for outcome in pes.run(join_briefly, 4, processes=[0, 2]):
        assert outcome.status == TIMEOUT
        assert outcome.text == "hgs_init: PEs 1, 3 of 4 did not come within 3 s"


def join_for_ten_seconds(pe: Pe):
    pe.init(timeout=10)


def test_a_pe_that_comes_twice_is_told_to_all():
    for outcome in pes.run(join_for_ten_seconds, 3, processes=[0, 1, 1]):
        assert outcome.status == MISMATCH
        assert "hgs_init: PE 1 came twice: process " in outcome.text


def disagree(pe: Pe):
    pe.init(n_pes=2 + pe.pe, timeout=10)


def test_another_number_of_pes_is_told_to_all():
    for outcome in pes.run(disagree, 2):
        assert outcome.status == MISMATCH
        assert outcome.text == "hgs_init: PE 1 says that there are 3 PEs, PE 0 says 2"


def another_heap(pe: Pe):
    pe.init(heap_bytes=pes.HEAP_BYTES << pe.pe)


def test_another_heap_size_is_told_to_all():
    for outcome in pes.run(another_heap, 2):
        assert outcome.status == MISMATCH
        assert "PE 0: hgs_init(heap_bytes=1048576); PE 1: hgs_init(heap_bytes=2097152)" in (
            outcome.text
        )


def come_late(pe: Pe):
    if pe.pe == 1:
        pe.hear("gave up")
    began = time.monotonic()
    try:
        pe.init(timeout=1 if pe.pe == 0 else 20)
    finally:
        if pe.pe == 0:
            pe.tell("gave up")
            pe.hear("was late")
        else:
            pe.tell("was late")
            assert time.monotonic() - began < 5


def test_a_late_pe_is_told_what_the_others_were():
    for outcome in pes.run(come_late, 2):
        assert outcome.status == TIMEOUT
        assert outcome.text == "hgs_init: PE 1 of 2 did not come within 1 s"


def third_process(pe: Pe):
    # The processes are alike: the one that makes this folder is the one too many.
    try:
        if pe.pe == 1:
            pe.folder.joinpath("third").mkdir()
            pe.hear("complete")
            try:
                pe.init()
            except pes.ShmemError as error:
                return error.status, error.text
            finally:
                pe.tell("refused")
    except FileExistsError:
        pass
    pe.init()
    pe.barrier()
    pe.tell("complete")
    pe.hear("refused")
    pe.barrier()
    pe.ok("hgs_finalize")
    return None


def test_one_pe_too_many_does_not_disturb_a_complete_world():
    first, *others = pes.values(pes.run(third_process, 2, processes=[0, 1, 1]))
    assert first is None
    status, text = next(value for value in others if value is not None)
    assert status == INVALID
    assert "PE 1 came twice" in text
    assert None in others


def meet_strangers(pe: Pe):
    if pe.pe == 0:
        made = ctypes.create_string_buffer(pes.ID_BYTES)
        pe.ok("hgs_get_uniqueid", made)
        (port,) = struct.unpack_from("<H", made.raw, PORT_AT)
        rude = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        rude[0].sendall(b"GET / HTTP/1.0\r\n\r\n")
        rude[1].sendall(bytes(4))
        pe.tell("id", made.raw)
        pe.ok("hgs_init", 0, 2, made, pes.HEAP_BYTES, ctypes.c_double(20))
        for connection in rude:
            connection.close()
    else:
        other_token = bytearray(pe.hear("id"))
        other_token[20] ^= 1
        status, text = pe.error(
            "hgs_init", 1, 2, bytes(other_token), pes.HEAP_BYTES, ctypes.c_double(20)
        )
        assert (status, text) == (INVALID, "hgs_init: this id is of another job")
        pe.ok("hgs_init", 1, 2, pe.hear("id"), pes.HEAP_BYTES, ctypes.c_double(20))
    pe.barrier()
    pe.ok("hgs_finalize")


def test_strangers_are_kept_out():
    pes.values(pes.run(meet_strangers, 2))


def speak_another_version(pe: Pe):
    if pe.pe != 1:
        pe.init()
    unique_id = pe.hear("id")
    (port,) = struct.unpack_from("<H", unique_id, PORT_AT)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        hello = struct.pack("<B16s4I", 0, unique_id[16:32], 99, 1, 3, os.getpid())
        body = hello + bytes(16 + 8 + 4 + 8 + 4 + 4)
        connection.sendall(struct.pack("<I", len(body)) + body)
        return connection.recv(1000)[-200:].decode(errors="replace")


def test_another_version_of_the_protocol_is_told_to_all():
    text = (
        "hgs_init: PE 1 speaks version 99 of the bootstrap, PE 0 1: "
        "use the same release on every PE"
    )
    first, second, third = pes.run(speak_another_version, 3)
    assert first.status == third.status == MISMATCH
    assert first.text == third.text == text
    assert text in second.value


def ask_for_too_much(pe: Pe):
    pe.init(heap_bytes=1 << 50)


def test_a_heap_that_the_device_lacks_is_told_to_all():
    for outcome in pes.run(ask_for_too_much, 2):
        assert outcome.status == NO_MEMORY
        assert "for the symmetric heap: pass a smaller heap_bytes to hgs_init" in outcome.text


def die_while_joining(pe: Pe):
    if pe.pe == 1:
        child = os.fork()
        if child == 0:
            pe.init(timeout=20)
        time.sleep(1)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "killed its child"
    pe.init(timeout=20)
    return None


def test_a_pe_that_dies_while_others_join_is_told_to_all():
    outcomes = pes.run(die_while_joining, 3, processes=[0, 1])
    assert outcomes[1].value == "killed its child"
    assert outcomes[0].status == PEER_LOST
    assert outcomes[0].text == "hgs_init: PE 1 died or gave up while others joined"


def use_an_id_twice(pe: Pe):
    pe.init("id")
    pe.ok("hgs_finalize")
    pe.tell(f"left.{pe.pe}")
    pe.hear("left.0")
    unique_id = pe.hear("id")
    return pe.error("hgs_init", pe.pe, 2, unique_id, pes.HEAP_BYTES, ctypes.c_double(0.5))


def test_an_id_serves_one_world():
    first, second = pes.values(pes.run(use_an_id_twice, 2))
    assert first[0] == INVALID
    assert "anew for each hgs_init" in first[1]
    assert second[0] == TIMEOUT
    assert "nobody listens where the id says" in second[1]
