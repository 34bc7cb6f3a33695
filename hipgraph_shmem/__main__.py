"""`python -m hipgraph_shmem` is the `hipgraph-shmem` command."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
