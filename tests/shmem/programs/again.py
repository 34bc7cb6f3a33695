"""init, finalize, init: the second world works, a graph of the first refuses to be launched."""

import numpy as np

from hipgraph_shmem import GraphError, Stream, capture, shmem
from hipgraph_shmem.errors import ShmemError
from hipgraph_shmem.shmem import Reduction, on_stream


def refused(kind, function, *args):
    try:
        function(*args)
    except kind as error:
        return str(error)
    raise AssertionError(f"{function} raised no {kind}")


def use(stream, step):
    pe, n_pes = shmem.my_pe(), shmem.n_pes()
    total = shmem.zeros(64, np.int32)
    with capture(stream) as captured:
        on_stream.reduce(total, total, Reduction.SUM, stream)
    total.copy_from(np.full(64, pe + step, np.int32), stream)
    graph_exec = captured.graph.instantiate()
    graph_exec.launch(stream)
    assert np.all(total.to_numpy(stream) == sum(range(n_pes)) + step * n_pes)
    return total, graph_exec


def main():
    refused(ShmemError, shmem.my_pe)
    refused(ShmemError, shmem.finalize)
    with Stream() as stream:
        shmem.init()
        refused(ShmemError, shmem.init)
        total, old_exec = use(stream, 1)
        assert shmem.finalize() == (repr_of(total),)
        refused(GraphError, old_exec.launch, stream)
        refused(ValueError, lambda: total.address)
        shmem.init()
        again, new_exec = use(stream, 5)
        refused(GraphError, old_exec.launch, stream)
        # A live graph uses it: freed on all PEs, and the graph refuses.
        again.free()
        refused(GraphError, new_exec.launch, stream)
        refused(ValueError, again.free)
        old_exec.close()
        new_exec.close()
        assert shmem.finalize(strict=True) == ()


def repr_of(array):
    return f"symmetric array {array._address:#x} 64 int32"


main()
