"""Device memory that several processes share: values, atomics, lifetimes."""

from helpers.sharing import peers


def test_copies_fills_and_kernels_see_one_memory():
    facts = peers(
        3,
        """
        size = 3 << 20
        made = emulated.malloc(size) if peer.rank == 0 else 0
        expected = np.arange(size // 4, dtype=np.uint32) * 2654435761 & 0xffffffff
        expected = expected.astype(np.uint32)
        if peer.rank == 0: emulated.write(made, expected)
        memory = exported(made)
        same = bool((emulated.download(memory, size // 4) == expected).all())
        peer.gather("looked")
        place = memory + 4096 * (peer.rank + 1)
        start("fill", (1,), (64,), place, 1000 * peer.rank)
        assert emulated.synchronize() == 0
        if peer.rank == 2:
            tail = ctypes.c_void_p(memory + size - 256)
            emulated.call("hipMemset", tail, 7, ctypes.c_size_t(256))
        assert emulated.synchronize() == 0
        peer.gather("wrote")
        for rank in range(3):
            at = 1024 * (rank + 1)
            expected[at : at + 64] = 1000 * rank + np.arange(64)
        expected[-64:] = 0x07070707
        own = emulated.malloc(size)
        emulated.call("hipMemcpy", ctypes.c_void_p(own), ctypes.c_void_p(memory),
                      ctypes.c_size_t(size), 3)
        done(same=same, after=bool((emulated.download(own, size // 4) == expected).all()))
        """,
    )
    assert [(fact["same"], fact["after"]) for fact in facts] == [(True, True)] * 3


def test_an_interior_pointer_and_what_lies_around_it():
    _, fact = peers(
        2,
        """
        made = buffer(*range(64)) if peer.rank == 0 else 0
        place = exported(made + 64)
        seen = [number(place), number(place - 64), number(place + 188)]
        attributes = (ctypes.c_char * 32)()
        emulated.call("hipPointerGetAttributes", attributes, ctypes.c_void_p(place))
        base, size = ctypes.c_void_p(), ctypes.c_size_t()
        emulated.call("hipMemGetAddressRange", ctypes.byref(base), ctypes.byref(size),
                      ctypes.c_void_p(place))
        start("set", (1,), (1,), place + 192, 1)
        beyond = emulated.synchronize()
        text = emulated.last_text()
        done(seen=seen, kind=attributes.raw[0], address=attributes.raw[8:16].hex(),
             wanted=struct.pack("<Q", place).hex(), before=place - base.value, size=size.value,
             beyond=beyond, text=text)
        """,
    )
    assert fact["seen"] == [16, 0, 63]
    assert (fact["kind"], fact["address"]) == (2, fact["wanted"])
    assert (fact["before"], fact["size"]) == (64, 256)
    assert fact["beyond"] == 700
    assert "0 bytes past the end of hipIpcOpenMemHandle" in fact["text"]


def test_atomics_of_four_processes_add_up():
    facts = peers(
        4,
        """
        words = exported(buffer(0, 0, 0, 0, 0) if peer.rank == 0 else 0)
        start("increment", (2,), (64,), words, words + 16, 25)
        code = emulated.synchronize()
        peer.gather("added")
        done(code=code, words=emulated.download(words, 5).tolist())
        """,
    )
    added = 4 * 2 * 64 * 25
    for fact in facts:
        assert (fact["code"], fact["words"]) == (0, [added, 0, added, 0, 3 * added])


def test_a_word_of_eight_bytes_is_never_torn():
    facts = peers(
        2,
        """
        memory = exported(buffer(0, 0, 0, 0) if peer.rank == 0 else 0)
        out = buffer(0)
        if peer.rank == 0:
            start("two_halves", (1,), (1,), memory, memory + 8, out, 20000)
        else:
            start("torn", (1,), (1,), memory, memory + 8, out)
        done(code=emulated.synchronize(), torn=number(out))
        """,
    )
    assert [(fact["code"], fact["torn"]) for fact in facts] == [(0, 0)] * 2


def test_imported_memory_outlives_its_exporter():
    facts = peers(
        2,
        """
        made = buffer(*range(1024)) if peer.rank == 0 else 0
        memory = exported(made)
        if peer.rank == 0:
            emulated.free(made)
            again = buffer(*([9] * 1024))
            peer.tell("freed")
            peer.ask("checked", 1)
            done(same=number(again) == 9)
            os._exit(0)
        peer.ask("freed", 0)
        first = (emulated.download(memory, 1024) == np.arange(1024)).all()
        emulated.write(memory, np.full(1024, 3, np.uint32))
        peer.tell("checked")
        peer.gather("done")
        time.sleep(0.5)
        last = (emulated.download(memory, 1024) == 3).all()
        print(json.dumps({"same": bool(first and last)}))
        """,
    )
    assert [fact["same"] for fact in facts] == [True, True]


def test_a_graph_works_on_imported_memory():
    _, fact = peers(
        2,
        """
        memory = exported(buffer(*([0] * 64)) if peer.rank == 0 else 0)
        facts = {}
        if peer.rank == 1:
            from helpers import hip_ctypes as hip
            stream, out = hip.stream(), hip.malloc(256)
            hip.begin(stream)
            start("fill", (1,), (64,), memory, 5, on=ctypes.c_void_p(stream))
            hip.ok("hipMemcpyAsync", out, memory, 256, hip.D2D, stream)
            hip.ok("hipMemsetAsync", memory, 1, 256, stream)
            exec_ = hip.instantiate(hip.end(stream))
            for _ in range(2): hip.launch(exec_, stream)
            facts["out"] = emulated.download(out, 64).tolist()
            facts["memory"] = number(memory)
        done(**facts)
        """,
    )
    assert fact["out"] == list(range(5, 69))
    assert fact["memory"] == 0x01010101


def test_memory_stays_flat_over_many_exports_and_imports():
    facts = peers(
        2,
        """
        def mapped():
            pages = int(open("/proc/self/statm").read().split()[1])
            ranges = len(open("/proc/self/maps").readlines())
            return pages * 4096, len(os.listdir("/proc/self/fd")), ranges
        out = buffer(0)
        def turn(i):
            if peer.rank == 0:
                made = emulated.upload(np.full(1 << 16, i, np.uint32))
                peer.tell(f"turn{i}", handle_of(made))
                peer.ask(f"closed{i}", 1)
                emulated.free(made)
            else:
                memory = open_handle(peer.ask(f"turn{i}", 0))
                assert number(memory + (1 << 18) - 4) == i
                assert close_code(memory) == 0
                peer.tell(f"closed{i}")
        for i in range(400): turn(i)
        before = mapped()
        for i in range(400, 1400): turn(i)
        after = mapped()
        done(before=before, after=after)
        """,
        timeout=120,
    )
    for fact in facts:
        (memory, files, ranges), (memory_after, files_after, ranges_after) = (
            fact["before"],
            fact["after"],
        )
        assert memory_after < memory + (8 << 20)
        assert files_after <= files
        assert ranges_after < ranges + 50
