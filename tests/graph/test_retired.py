"""What is retired stays until its event has happened, and not longer."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from hipgraph_shmem.graph import capture
from hipgraph_shmem.graph.retired import Holding, drain_retired, retire
from hipgraph_shmem.runtime import state
from hipgraph_shmem.stream import Event, Stream


class Thing:
    """Something that can be watched."""


def test_kept_until_the_event_has_happened(stream: Stream, gate: Any) -> None:
    hold, flag = gate
    thing = Thing()
    alive = weakref.ref(thing)
    hold(stream)
    retire(stream.record(), thing)
    del thing
    drain_retired()
    assert alive() is not None
    flag.array[0] = 1
    stream.synchronize()
    drain_retired()
    assert alive() is None
    assert not state.retired


def test_nothing_is_asked_while_a_capture_is_open(stream: Stream) -> None:
    thing = Thing()
    alive = weakref.ref(thing)
    event = stream.record()
    stream.synchronize()
    with capture(stream):
        retire(event, thing)
        del thing
        drain_retired()
        assert alive() is not None
    drain_retired()
    assert alive() is None


def test_a_holding_without_work_keeps_nothing() -> None:
    thing = Thing()
    alive = weakref.ref(thing)
    holding = Holding()
    holding.hold(0, [thing])
    del thing
    assert alive() is not None
    del holding
    assert alive() is None
    assert not state.retired


def test_a_holding_in_a_cycle_retires_what_it_holds(stream: Stream) -> None:
    thing = Thing()
    alive = weakref.ref(thing)
    holding = Holding()
    holding.hold(0, [thing])
    holding.event = Event()
    holding.event.record(stream)
    cycle = [holding]
    cycle.append(cycle)
    del thing, holding, cycle
    gc.collect()
    stream.synchronize()
    drain_retired()
    assert alive() is None
