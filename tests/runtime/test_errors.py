import pickle

import pytest

from hipgraph_shmem import errors

EXAMPLES = [
    errors.HipError("hipMalloc", 2, "hipErrorOutOfMemory", "out of memory", "wave 0"),
    errors.RuntimeLibraryError("rocm", (("libamdhip64.so", "not found"),), "install ROCm"),
    errors.CodeObjectError("k.co", "damaged", "build it again"),
    errors.CaptureError("hipFree", 0x10, "free it later"),
    errors.GraphError("the graph is closed", "capture again"),
    errors.HangError(
        "exec", 2.0, "the device is stuck", "wave 0", ("gemm",), (("gemm", 0x100, (0, 0, 2)),)
    ),
    errors.CounterPoolError(64, 60, 8, "reserve more"),
    errors.DirtyCounterError(0, "run again"),
    errors.ShmemError("putmem", "no such PE"),
    errors.ShmemTimeoutError("barrier", "PE 1 did not come"),
    errors.ModuleSymbolError("module_init", "no symbol"),
    errors.PeerLostError("barrier", "PE 1 ended"),
    errors.CollectiveMismatchError("malloc", "sizes differ"),
    errors.SymmetricMemoryError("malloc", "no room"),
    errors.ShmemUnavailable("align", "needs a newer release"),
]


def test_every_kind_of_error_has_an_example():
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type)}
    assert {type(example) for example in EXAMPLES} == kinds - {errors.Error}


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_crosses_a_process_boundary_whole(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert copy.args == error.args
    assert vars(copy) == vars(error)
    assert str(copy) == str(error)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_the_sentence_holds_every_fact(error):
    sentence = str(error)
    for fact in error.args:
        if isinstance(fact, str):
            assert fact in sentence


def test_facts_are_attributes():
    error = EXAMPLES[0]
    assert (error.call, error.code, error.name) == ("hipMalloc", 2, "hipErrorOutOfMemory")


def test_a_missing_library_is_an_import_error():
    assert issubclass(errors.RuntimeLibraryError, ImportError)
