"""SHMEM."""
