import pytest

from hipgraph_shmem.errors import RuntimeLibraryError
from hipgraph_shmem.routes import ROUTES
from hipgraph_shmem.runtime import pointer, state
from hipgraph_shmem.self_test import self_test


def test_the_library_and_this_hip_python_fit(device):
    self_test()
    assert set(ROUTES) <= set(state.calls)


def lost_mode(_):
    return 0


def lost_edge(node, graph, _dependencies, _count):
    return pointer_of_the_library["hipGraphAddEmptyNode"](node, graph, None, 0)


def lost_result(*_):
    return 0


pointer_of_the_library = {}


@pytest.mark.parametrize(
    "step, name, fault",
    [
        ("mode", "hipThreadExchangeStreamCaptureMode", lost_mode),
        ("graph", "hipGraphAddEmptyNode", lost_edge),
        ("capture", "hipGraphGetNodes", lost_result),
        ("memory", "hipMemcpyAsync", lost_result),
        ("capture", "hipGraphLaunch", lost_result),
    ],
)
def test_a_function_that_loses_something_is_found(device, monkeypatch, step, name, fault):
    pointer_of_the_library[name] = pointer(name)
    monkeypatch.setitem(state.pointers, name, fault)
    try:
        with pytest.raises(RuntimeLibraryError) as raised:
            self_test()
    finally:
        state.calls.pop(name, None)
    assert raised.value.tried[0][0] == f"self-test, {step}"


def test_a_wrapper_that_loses_something_is_found(device, monkeypatch):
    monkeypatch.setattr(state.binding, "hipMemsetD16Async", lambda _to, _value, _count, _on: (0,))
    with pytest.raises(RuntimeLibraryError) as raised:
        self_test()
    state.calls.pop("hipMemsetD16Async")
    assert raised.value.tried[0][0] == "self-test, memory"


def test_a_wrapper_that_takes_other_arguments_is_found(device, monkeypatch):
    monkeypatch.setattr(state.binding, "hipGetDeviceCount", lambda _count: (0,))
    with pytest.raises(RuntimeLibraryError, match="takes 1 arguments, expected 0") as raised:
        self_test()
    assert raised.value.tried[0][0] == "self-test, hipGetDeviceCount"
