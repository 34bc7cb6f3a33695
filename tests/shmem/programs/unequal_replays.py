"""The last PE replays once less than the others, whose barrier gives up and says who is missing."""

import time

from hipgraph_shmem import Stream, capture, shmem
from hipgraph_shmem.errors import ShmemTimeoutError
from hipgraph_shmem.shmem import on_stream

TIMEOUT = 2.0


def main():
    shmem.init(timeout=TIMEOUT)
    last = shmem.n_pes() - 1
    with Stream() as stream:
        with capture(stream) as captured:
            on_stream.barrier(stream)
        with captured.graph.instantiate() as graph_exec:
            for _ in range(3):
                graph_exec.launch(stream)
            stream.synchronize()
            if shmem.my_pe() == last:
                time.sleep(2 * TIMEOUT)
                return
            graph_exec.launch(stream)
            began = time.monotonic()
            try:
                stream.synchronize()
            except ShmemTimeoutError as error:
                assert TIMEOUT / 2 <= time.monotonic() - began <= TIMEOUT + 2, error
                text = str(error)
                assert f"PE {last}" in text, text
                print(text)
            else:
                raise AssertionError("no failure was raised")


main()
