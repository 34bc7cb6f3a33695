"""The emulated device through its bare C entry points: no layer of the package in between."""

from __future__ import annotations

import ctypes
import functools
import json
import struct

import numpy as np

from hipgraph_shmem import runtime

SUCCESS, INVALID_IMAGE, NO_BINARY_FOR_GPU = 0, 200, 209
ILLEGAL_ADDRESS, LAUNCH_FAILURE = 700, 719
_EXTRA_POINTER, _EXTRA_SIZE, _EXTRA_END = 1, 2, 3
_POINTER = ctypes.c_void_p


class HipCallError(Exception):
    """A call that did not return hipSuccess; `code` is what it returned."""

    def __init__(self, name: str, code: int) -> None:
        """Remember which call failed and how."""
        super().__init__(f"{name} returned {code}: {last_text()}")
        self.code = code


@functools.cache
def hip():
    """Return the C entry points of the session's HIP library; its integers are ints."""
    return runtime.library().pointers


def call(name: str, *args) -> None:
    """Call an entry point; raise HipCallError unless it succeeds."""
    code = getattr(hip(), name)(*args)
    if code != SUCCESS:
        raise HipCallError(name, code)


def malloc(count: int) -> int:
    """Allocate bytes of device memory."""
    address = _POINTER()
    call("hipMalloc", ctypes.byref(address), ctypes.c_size_t(count))
    return address.value


def free(address: int) -> None:
    """Free device memory."""
    call("hipFree", _POINTER(address))


def upload(array: np.ndarray) -> int:
    """Allocate device memory with the bytes of an array."""
    address = malloc(array.nbytes)
    write(address, array)
    return address


def write(address: int, array: np.ndarray) -> None:
    """Copy an array to device memory."""
    source = np.ascontiguousarray(array)
    size = ctypes.c_size_t(source.nbytes)
    call("hipMemcpy", _POINTER(address), _POINTER(source.ctypes.data), size, 1)


def download(address: int, count: int, dtype=np.uint32) -> np.ndarray:
    """Copy numbers from device memory."""
    array = np.empty(count, dtype)
    size = ctypes.c_size_t(array.nbytes)
    call("hipMemcpy", _POINTER(array.ctypes.data), _POINTER(address), size, 2)
    return array


def load(image: bytes) -> ctypes.c_void_p:
    """Load a code object."""
    module = _POINTER()
    call("hipModuleLoadData", ctypes.byref(module), image)
    return module


def function(module: ctypes.c_void_p, name: str) -> ctypes.c_void_p:
    """Return a kernel of a module."""
    kernel = _POINTER()
    call("hipModuleGetFunction", ctypes.byref(kernel), module, name.encode())
    return kernel


def stream() -> ctypes.c_void_p:
    """Make a stream that does not wait for the null stream."""
    made = _POINTER()
    call("hipStreamCreateWithFlags", ctypes.byref(made), 1)
    return made


def launch(kernel, grid, block, arguments: bytes = b"", *, lds: int = 0, on=None) -> None:
    """Launch a kernel with its argument bytes as they lie in the kernarg segment."""
    size = ctypes.c_size_t(len(arguments))
    pointer = ctypes.cast(ctypes.c_char_p(arguments), _POINTER)
    extra = (_POINTER * 5)(_EXTRA_POINTER, pointer, _EXTRA_SIZE, ctypes.addressof(size), _EXTRA_END)
    grid, block = ((*extent, 1, 1)[:3] for extent in (grid, block))
    call("hipModuleLaunchKernel", kernel, *grid, *block, lds, on, None, extra)


def synchronize(on=None) -> int:
    """Wait for a stream; return the code."""
    return hip().hipStreamSynchronize(on)


def words(*values: int) -> bytes:
    """Pack 64-bit kernel arguments."""
    return struct.pack(f"<{len(values)}Q", *values)


def last_text() -> str:
    """Return the text of the last report."""
    text = ctypes.create_string_buffer(1 << 20)
    hip().hipgraphEmuReport(text, ctypes.c_size_t(len(text)))
    return text.value.decode()


def last_report() -> dict:
    """Return the last report as the device published it in JSON."""
    report = hip().hipgraphEmuLastReport
    report.restype = ctypes.c_char_p
    return json.loads(report() or b"{}")


def counters() -> dict:
    """Take the counters since the last call."""
    taken = hip().hipgraphEmuCounters
    taken.restype = ctypes.c_char_p
    return json.loads(taken())
