"""The last PE is killed while the others wait for it; argument: in which kind of barrier."""

import os
import signal
import sys
import time

from hipgraph_shmem import Stream, shmem
from hipgraph_shmem.errors import PeerLostError
from hipgraph_shmem.shmem import on_stream

TIMEOUT = 4.0


def main():
    shmem.init(timeout=TIMEOUT)
    last = shmem.n_pes() - 1
    shmem.barrier()
    if shmem.my_pe() == last:
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    with Stream() as stream:
        began = time.monotonic()
        try:
            if sys.argv[1] == "host":
                shmem.barrier()
            else:
                on_stream.barrier(stream)
                stream.synchronize()
        except PeerLostError as error:
            assert f"PE {last}" in str(error), error
            print(error)
        else:
            raise AssertionError("no failure was raised")
        assert time.monotonic() - began <= TIMEOUT + 2


main()
