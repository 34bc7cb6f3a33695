import re
from pathlib import Path

import pytest

import hipgraph_shmem
from hipgraph_shmem.routes import ROUTES, Way

PACKAGE = Path(hipgraph_shmem.__file__).parent
SOURCES = {
    path: path.read_text() for path in PACKAGE.rglob("*.py") if path.name not in ("routes.py",)
}


#: They wait for the device, at least in some release or with some arguments.
WAITING = [
    "hipDeviceSynchronize",
    "hipStreamSynchronize",
    "hipStreamDestroy",
    "hipEventSynchronize",
    "hipEventDestroy",
    "hipFree",
    "hipHostFree",
    "hipMemcpyAsync",
    "hipModuleUnload",
    "hipGraphDestroy",
    "hipGraphExecDestroy",
]


@pytest.mark.parametrize("name", WAITING)
def test_a_call_that_may_wait_holds_no_lock(name):
    """hip-python up to 7.2 holds the interpreter lock in every call; ctypes gives it up."""
    assert ROUTES[name].way is Way.POINTER


def test_every_call_in_the_package_has_a_route():
    named = {
        name
        for text in SOURCES.values()
        for name in re.findall(r'"(hip(?!Error|Success)[A-Z]\w+)"', text)
    }
    assert named <= set(ROUTES)


def test_every_route_is_used_beyond_the_self_test():
    tests = [path.read_text() for path in Path(__file__).parents[1].rglob("test_*.py")]
    uses = [text for path, text in SOURCES.items() if path.name != "self_test.py"]
    text = "".join(uses + tests)
    assert [name for name in ROUTES if f'"{name}"' not in text] == []


def test_every_route_says_why():
    assert all(route.reason for route in ROUTES.values())
    assert {route.way for route in ROUTES.values()} == set(Way)
