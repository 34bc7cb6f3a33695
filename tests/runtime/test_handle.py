"""Every class of handle obeys one set of rules, tested as one."""

import gc
import weakref

import numpy as np
import pytest
from helpers.kernels import compile_hip

import hipgraph_shmem.graph
from hipgraph_shmem.allocation import Allocation
from hipgraph_shmem.handle import Handle
from hipgraph_shmem.memory import Buffer, PinnedBuffer
from hipgraph_shmem.module import Module
from hipgraph_shmem.runtime import call, state
from hipgraph_shmem.stream import Event, Stream


def make_stream(device):
    return Stream()


def make_event(device):
    return Event()


def make_buffer(device):
    return Buffer((2, 3), np.float32)


def make_pinned_buffer(device):
    return PinnedBuffer(8)


def make_module(device):
    return Module(compile_hip('extern "C" __global__ void empty() {}', device.target.split(":")[0]))


def make_graph(device):
    return hipgraph_shmem.Graph()


def make_graph_exec(device):
    with hipgraph_shmem.Graph() as graph:
        return graph.instantiate()


HANDLE_MAKERS = [
    make_stream,
    make_event,
    make_buffer,
    make_pinned_buffer,
    make_module,
    make_graph,
    make_graph_exec,
]
every_handle = pytest.mark.parametrize("make", HANDLE_MAKERS, ids=lambda make: make.__name__[5:])


def concrete_classes(base):
    for kind in base.__subclasses__():
        if kind is not Allocation:
            yield kind
        yield from concrete_classes(kind)


def test_every_class_of_handle_is_tested(device):
    made = {type(make(device)) for make in HANDLE_MAKERS}
    assert made == set(concrete_classes(Handle))


@every_handle
def test_handles_close_once_compare_by_raw_and_print_themselves(make, device):
    handle, other = make(device), make(device)
    assert handle == handle
    assert handle != other
    assert handle != handle.handle
    assert hash(handle) == hash(handle)
    assert handle.owned
    name = type(handle).__name__
    with handle as entered:
        assert entered is handle
        assert name in repr(handle)
        assert not handle.closed
    assert handle.closed
    assert "closed" in repr(handle)
    handle.close()
    other.close()


@every_handle
def test_a_closed_handle_says_so_when_used(make, device):
    handle = make(device)
    handle.close()
    with pytest.raises(ValueError, match="closed"):
        _ = handle.handle


@every_handle
def test_dropping_the_last_reference_destroys(make, device):
    gc.collect()
    before = len(state.live)
    handle = make(device)
    gone = weakref.ref(handle)
    assert len(state.live) > before
    del handle
    gc.collect()
    assert gone() is None
    assert len(state.live) == before


@pytest.mark.parametrize("make", [make_buffer, make_pinned_buffer, make_module])
def test_closing_memory_is_counted(make, device):
    handle = make(device)
    before = state.closes
    handle.close()
    assert state.closes == before + 1
    with make(device):
        pass
    assert state.closes == before + 2


def test_a_borrowed_stream_or_event_is_left_alone(device, stream):
    borrowed = Stream.borrow(stream.handle)
    assert borrowed == stream
    assert not borrowed.owned
    assert "borrowed" in repr(borrowed)
    borrowed.close()
    assert not borrowed.closed
    assert stream.query()
    with Event() as event:
        event.record(stream)
        Event.borrow(event.handle).synchronize()


@pytest.mark.parametrize("kind", [Buffer, PinnedBuffer, Module])
def test_memory_cannot_be_borrowed(kind):
    with pytest.raises(TypeError, match="borrow"):
        kind.borrow(0x1000)


def test_what_a_handle_needs_lives_as_long(device):
    class Needed:
        pass

    needed = Needed()
    gone = weakref.ref(needed)
    handle = Event()
    keeper = Handle.__new__(type("Keeper", (Event,), {"__slots__": ()}))
    Handle.__init__(keeper, call("hipEventCreateWithFlags", 0), needed)
    del needed
    gc.collect()
    assert gone() is not None
    keeper.close()
    gc.collect()
    assert gone() is None
    handle.close()
    del keeper
    gc.collect()


def test_a_close_that_hip_refuses_keeps_the_handle(device):
    buffer = Buffer(16)
    raw = buffer.handle
    call("hipFree", raw)
    with pytest.raises(hipgraph_shmem.HipError) as caught:
        buffer.close()
    assert caught.value.call == "hipFree"
    assert not buffer.closed
    with pytest.warns(ResourceWarning, match="hipFree"):
        del buffer, caught
        gc.collect()
