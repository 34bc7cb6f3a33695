"""The provider's library: the one door to SHMEM, with the C prototypes and checked calls."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import (
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_long,
    c_longlong,
    c_size_t,
    c_ssize_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path
from typing import Any

from .. import env
from ..errors import (
    CollectiveMismatchError,
    PeerLostError,
    ShmemError,
    ShmemTimeoutError,
    ShmemUnavailable,
    SymmetricMemoryError,
)
from ..routes import Out
from ..runtime import library as hip_library
from .releases import unavailable

__all__ = ["PROTOTYPES", "SHIM_FILE", "UNIQUE_ID_BYTES", "Provider", "open_provider"]

UNIQUE_ID_BYTES = 128
TEXT_BYTES = 16 * 1024
NAME_BYTES = 64
SHIM_FILE = "librocshmem_c.so"
LOCAL_FILE = "libhipgraph_shmem_local.so"
_PACKAGE = Path(__file__).resolve().parents[1]

#: Status codes (hgs_status) and what is raised for each.
INVALID = 1
_KINDS: dict[int, type[ShmemError]] = {
    2: ShmemError,
    3: ShmemTimeoutError,
    4: PeerLostError,
    5: CollectiveMismatchError,
    6: SymmetricMemoryError,
    7: ShmemError,
}

_COPY = (c_void_p, c_void_p, c_size_t, c_int)
_REDUCE = (c_void_p, c_void_p, c_void_p, c_int, c_void_p)
_REDUCE_TYPES = ("float", "double", "int", "long", "bfloat16")
_REDUCE_OPERATIONS = ("sum", "min", "max", "prod")

_INTEGERS: dict[str, type] = {
    "int": c_int,
    "long": c_long,
    "uint32": c_uint32,
    "uint64": c_uint64,
    "size": c_size_t,
    "ptrdiff": c_ssize_t,
}
_FLOATS: dict[str, type] = {"float": c_float, "double": c_double}
_LONGLONG: dict[str, type] = {"longlong": c_longlong}
_BITS = {name: _INTEGERS[name] for name in ("uint32", "uint64")}

#: Atomic operations: for which C types, how many operands, whether the old value is returned.
_ATOMICS: tuple[tuple[str, dict[str, type], int, bool], ...] = (
    ("fetch", _INTEGERS | _FLOATS, 0, True),
    ("set", _INTEGERS | _LONGLONG | _FLOATS, 1, False),
    ("swap", _INTEGERS | _FLOATS, 1, True),
    ("compare_swap", _INTEGERS, 2, True),
    ("fetch_add", _INTEGERS, 1, True),
    ("fetch_inc", _INTEGERS, 0, True),
    ("add", _INTEGERS | _LONGLONG, 1, False),
    ("inc", _INTEGERS | _LONGLONG, 0, False),
    *((f"fetch_{bitwise}", _BITS, 1, True) for bitwise in ("and", "or", "xor")),
    *((bitwise, _BITS, 1, False) for bitwise in ("and", "or", "xor")),
)

#: Parameters of every function of rocshmem_c.h, without its prefix hgs_.
PROTOTYPES: dict[str, tuple[type | Out, ...]] = {
    "error": (c_char_p, c_size_t),
    "attach": (c_char_p, c_char_p),
    "name": (c_char_p, c_size_t),
    "version": (Out(c_int), Out(c_int), Out(c_int)),
    "get_uniqueid": (c_char_p,),
    "init": (c_int, c_int, c_char_p, c_size_t, c_double),
    "finalize": (),
    "my_pe": (Out(c_int),),
    "n_pes": (Out(c_int),),
    "query_thread": (Out(c_int),),
    "check": (),
    "malloc": (c_size_t, Out(c_void_p)),
    "align": (c_size_t, c_size_t, Out(c_void_p)),
    "calloc": (c_size_t, c_size_t, Out(c_void_p)),
    "free": (c_void_p,),
    "ptr": (c_void_p, c_int, Out(c_void_p)),
    "buffer_register": (c_void_p, c_size_t),
    "buffer_unregister": (c_void_p,),
    "buffer_unregister_all": (),
    "team_world": (Out(c_void_p),),
    "team_shared": (Out(c_void_p),),
    "team_my_pe": (c_void_p, Out(c_int)),
    "team_n_pes": (c_void_p, Out(c_int)),
    "team_translate_pe": (c_void_p, c_int, c_void_p, Out(c_int)),
    "team_split_strided": (c_void_p, c_int, c_int, c_int, Out(c_void_p)),
    "team_split_2d": (c_void_p, c_int, Out(c_void_p), Out(c_void_p)),
    "team_destroy": (c_void_p,),
    "fence": (),
    "quiet": (),
    "barrier_all": (),
    "sync_all": (),
    "barrier": (c_void_p,),
    "team_sync": (c_void_p,),
    "putmem": _COPY,
    "getmem": _COPY,
    "putmem_nbi": _COPY,
    "getmem_nbi": _COPY,
    "quiet_on_stream": (c_void_p,),
    "barrier_all_on_stream": (c_void_p,),
    "sync_all_on_stream": (c_void_p,),
    "barrier_on_stream": (c_void_p, c_void_p),
    "team_sync_on_stream": (c_void_p, c_void_p),
    "putmem_on_stream": (*_COPY, c_void_p),
    "getmem_on_stream": (*_COPY, c_void_p),
    "putmem_signal_on_stream": (
        *(c_void_p, c_void_p, c_size_t, c_void_p, c_uint64),
        *(c_int, c_int, c_void_p),
    ),
    "signal_wait_until_on_stream": (c_void_p, c_int, c_uint64, c_void_p),
    "signal_set_on_stream": (c_void_p, c_uint64, c_int, c_void_p),
    "signal_add_on_stream": (c_void_p, c_uint64, c_int, c_void_p),
    "alltoallmem_on_stream": (c_void_p, c_void_p, c_void_p, c_size_t, c_void_p),
    "broadcastmem_on_stream": (c_void_p, c_void_p, c_void_p, c_size_t, c_int, c_void_p),
    **{
        f"{kind}_{operation}_reduce_on_stream": _REDUCE
        for kind in _REDUCE_TYPES
        for operation in _REDUCE_OPERATIONS
    },
    "hipmodule_init": (c_void_p, c_void_p),
    "get_device_ctx": (Out(c_void_p),),
    "symbol_bytes": (c_char_p, c_char_p, c_size_t, Out(c_size_t)),
    **{
        f"{kind}_atomic_{operation}": (
            *(c_void_p, *operands * (ctype,), c_int),
            *((Out(ctype),) if returns else ()),
        )
        for operation, kinds, operands, returns in _ATOMICS
        for kind, ctype in kinds.items()
    },
}


class Provider:
    """A loaded provider; its calls release the GIL.

    Attributes:
        path: The library's file.
        name: What it calls itself, "local" or rocSHMEM's name with its backends.
    """

    def __init__(self, path: Path) -> None:
        """Load a library and bind it to the HIP library of this process."""
        try:
            self._functions = ctypes.CDLL(str(path))
        except OSError as error:
            raise ShmemError("open_provider", f"{path} does not load: {error}") from error
        self.path = path
        self._calls: dict[str, Callable[..., Any]] = {}
        kernels = _PACKAGE / "kernels" / "kernels.hipfb"
        self.call("attach", str(hip_library().path).encode(), str(kernels).encode())
        text = ctypes.create_string_buffer(NAME_BYTES)
        self.call("name", text, NAME_BYTES)
        self.name = text.value.decode(errors="replace")

    @property
    def is_local(self) -> bool:
        """Whether it is the package's own provider for one node."""
        return self.name == "local"

    def call(self, function: str, *args: Any) -> Any:
        """Call a function; return its outputs (None, one value, or a tuple).

        Raises:
            ValueError: An argument, or the state, that the provider refuses; nothing happened.
            ShmemUnavailable: This release has no such function.
            ShmemError: What failed, as its kind says.
        """
        bound = self._calls.get(function)
        if bound is None:
            bound = self._calls[function] = self._bind(function)
        return bound(*args)

    def _bind(self, function: str) -> Callable[..., Any]:
        parameters = PROTOTYPES[function]
        try:
            c_function = self._functions[f"hgs_{function}"]
        except AttributeError:
            raise ShmemUnavailable(function, unavailable(function, self.name)) from None
        c_function.argtypes = [c_void_p if isinstance(p, Out) else p for p in parameters]
        c_function.restype = c_int
        outs = [(at, p.type) for at, p in enumerate(parameters) if isinstance(p, Out)]

        def invoke(*args: Any) -> Any:
            full, values = list(args), []
            for at, kind in outs:
                values.append(kind())
                full.insert(at, ctypes.byref(values[-1]))
            status = c_function(*full)
            if status:
                raise self._failure(function, status)
            results = tuple(0 if value.value is None else value.value for value in values)
            return results[0] if len(results) == 1 else results or None

        return invoke

    def _failure(self, function: str, status: int) -> Exception:
        text = ctypes.create_string_buffer(TEXT_BYTES)
        self._functions.hgs_error(text, c_size_t(TEXT_BYTES))
        problem = text.value.decode(errors="replace")
        if status == INVALID:
            return ValueError(f"{function}: {problem}")
        return _KINDS.get(status, ShmemError)(function, problem)


def open_provider(heap_bytes: int, timeout: float) -> Provider:
    """Load the provider that HIPGRAPH_SHMEM_PROVIDER names.

    `auto` takes rocSHMEM where the process runs on ROCm and `hipgraph-shmem build-rocshmem` made
    its shim, else the local provider. The library is loaded at the first `init`, never at import:
    rocSHMEM's static constructors may end the process where there is no GPU.

    Args:
        heap_bytes: What `init` will ask for; rocSHMEM may want to know when it is loaded.
        timeout: Likewise, in seconds.

    Raises:
        ShmemError: It cannot be loaded; the text says what to do.
    """
    choice = env.settings().shmem_provider
    shim = env.cache_dir() / SHIM_FILE
    env.announce_to_rocshmem(heap_bytes, timeout)
    if "/" in choice:
        return Provider(Path(choice))
    if choice == "rocshmem" or (
        choice == "auto" and hip_library().kind == "rocm" and shim.exists()
    ):
        if not shim.exists():
            cure = "build it with `hipgraph-shmem build-rocshmem`"
            raise ShmemError("open_provider", f"{shim} does not exist; {cure}")
        return Provider(shim)
    if choice in ("auto", "local"):
        return Provider(_PACKAGE / "lib" / "shmem" / LOCAL_FILE)
    raise ValueError(
        f"HIPGRAPH_SHMEM_PROVIDER={choice!r}: use auto, local, rocshmem or a path with a /"
    )
