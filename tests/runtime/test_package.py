"""What importing the package costs and does, and that every public name is there."""

import pytest
from helpers.process import run_python

import hipgraph_shmem


def test_importing_loads_no_hip_library_and_not_hip_python():
    done = run_python(
        """
        import sys
        import hipgraph_shmem
        assert "hip" not in sys.modules and "numpy" not in sys.modules
        assert "amdhip64" not in open("/proc/self/maps").read()
        """,
        HIPGRAPH_RUNTIME="rocm",
    )
    assert done.returncode == 0, done.stderr


def test_importing_takes_less_than_150_ms():
    code = """
        import time
        start = time.perf_counter()
        import hipgraph_shmem
        print(time.perf_counter() - start)
        """
    assert min(float(run_python(code).stdout) for _ in range(3)) < 0.150


@pytest.mark.parametrize("name", hipgraph_shmem.__all__)
def test_every_public_name_is_found(name):
    value = getattr(hipgraph_shmem, name)
    assert value.__doc__
    assert name in value.__module__ or value.__name__ == name


def test_a_wrong_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Bufer"):
        _ = hipgraph_shmem.Bufer
