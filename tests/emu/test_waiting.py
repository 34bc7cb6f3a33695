"""Kernels that wait for kernels of another process: hangs, naps, clocks."""

import pytest
from helpers.sharing import peers


@pytest.mark.parametrize("late", ["0", "3"])
def test_a_kernel_waits_for_a_kernel_of_another_process(late):
    facts = peers(
        2,
        f"""
        late = {late}
        flag = exported(buffer(0) if peer.rank == 0 else 0)
        out = buffer(0)
        if peer.rank == 0:
            start("await", (2,), (64,), flag, out, 5)
        else:
            time.sleep(late)
            start("set", (1,), (1,), flag, 5)
        done(code=emulated.synchronize(), out=number(out))
        """,
    )
    assert [(fact["code"], fact["report"]) for fact in facts] == [(0, {})] * 2
    assert facts[0]["out"] == 5


@pytest.mark.parametrize("loop", ["await_both, flags, buffer(1), out", "await_any, flags, out, 61"])
def test_a_loop_that_reads_other_memory_or_much_of_it_waits_too(loop):
    name, *arguments = loop.split(", ", 1)
    facts = peers(
        2,
        f"""
        flags = exported(buffer(*[0] * 61) if peer.rank == 0 else 0)
        out = buffer(0)
        if peer.rank == 0:
            start("{name}", (3,), (64,), {", ".join(arguments)})
        else:
            time.sleep(2.5)  # longer than the grace that a hang of one's own has
            start("set", (1,), (1,), flags, 5)
        done(code=emulated.synchronize(), out=number(out))
        """,
    )
    assert [(fact["code"], fact["report"]) for fact in facts] == [(0, {})] * 2
    assert facts[0]["out"] == 5


def test_waiting_takes_little_of_the_processor():
    facts = peers(
        2,
        """
        flag = exported(buffer(0) if peer.rank == 0 else 0)
        out = emulated.malloc(8)
        if peer.rank == 0:
            start("await", (1,), (64,), flag, out, 1)
        else:
            start("timed", (1,), (64,), flag, out, 0xffffffff)
        began = time.process_time()
        time.sleep(2)
        took = time.process_time() - began
        peer.gather("slept")
        if peer.rank == 0:
            other = emulated.stream()
            start("set", (1,), (1,), flag, 1, on=other)
        done(code=emulated.synchronize(), took=took)
        """,
    )
    for fact in facts:
        assert fact["code"] == 0
        assert fact["took"] < 1


def test_answers_come_back_fast():
    facts = peers(
        2,
        """
        times = 200
        both = exported(buffer(0, 0) if peer.rank == 0 else 0)
        began = time.monotonic()
        start("ping", (1,), (1,), both + 4 * peer.rank, both + 4 * (1 - peer.rank),
              1 - peer.rank, times)
        code = emulated.synchronize()
        done(code=code, each=(time.monotonic() - began) / times)
        """,
    )
    assert [fact["code"] for fact in facts] == [0, 0]
    assert max(fact["each"] for fact in facts) < 0.01


def test_clocks_tell_the_hosts_time_where_memory_is_shared():
    facts = peers(
        2,
        """
        flag = exported(buffer(0) if peer.rank == 0 else 0)
        out = emulated.malloc(8)
        began = time.monotonic()
        start("timed", (1,), (64,), flag, out, 50_000_000)
        code = emulated.synchronize()
        took = time.monotonic() - began
        done(code=code, took=took, ticks=int(emulated.download(out, 1, np.uint64)[0]))
        """,
    )
    for fact in facts:
        assert fact["code"] == 0
        assert 0.5 <= fact["ticks"] / 1e8 < 0.6
        assert 0.45 < fact["took"] < 1.5


def test_a_hang_on_memory_of_ones_own_is_still_proven():
    facts = peers(
        2,
        """
        exported(buffer(0) if peer.rank == 0 else 0)
        own, out = buffer(0), buffer(0)
        began = time.monotonic()
        start("await", (2,), (64,), own, out, 1)
        code = emulated.synchronize()
        done(code=code, took=time.monotonic() - began)
        """,
    )
    for fact in facts:
        assert (fact["code"], fact["report"]["kind"]) == (719, "hang")
        assert fact["report"]["stuck_waves"] == 2
        assert fact["took"] < 2
