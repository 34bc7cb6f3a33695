"""Which function of a SHMEM provider exists since which rocSHMEM release, and what it needs of it.

A release number alone is not trusted: the shim is built from what the user's archive defines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "DEVICE_SYMBOLS",
    "FUNCTIONS",
    "READS_ENVIRONMENT_AT_LOAD",
    "Function",
    "alternative",
    "newest_release",
    "unavailable",
]


@dataclass(frozen=True, slots=True)
class Function:
    """One function of rocshmem_c.h, without its prefix hgs_.

    Attributes:
        name: Its name.
        since: The first rocSHMEM release that has its counterpart; "" where none has.
        needs: Alternatives in order of preference, each the C++ names that must all be defined;
            an empty one is always there.
    """

    name: str
    since: str
    needs: tuple[tuple[str, ...], ...]


def _symbol(name: str, arguments: str = "", scope: str = "") -> str:
    """Mangle a name of namespace rocshmem, a function's with its encoded parameters."""
    names = [part for part in ("rocshmem", scope, name) if part]
    return f"_ZN{''.join(f'{len(part)}{part}' for part in names)}E{arguments}"


def _function(name: str, since: str, arguments: str, *more: str) -> Function:
    return Function(name, since, ((_symbol(f"rocshmem_{name}", arguments), *more),))


_STREAM = "P12ihipStream_t"
_HOST_CONTEXT = _symbol("ROCSHMEM_HOST_CTX_DEFAULT")
_OWN: tuple[tuple[str, ...], ...] = ((),)

_LIFE = (
    Function("error", "2.0", _OWN),
    Function("attach", "2.0", _OWN),
    Function("name", "2.0", ((_symbol("rocshmem_info_get_name", "Pc"),), ())),
    Function("version", "2.0", ((_symbol("rocshmem_vendor_get_version_info", "PiS0_S0_"),), ())),
    _function("get_uniqueid", "3.0", "PSt5arrayIhLm128EE"),
    Function(
        "init",
        "3.0",
        (
            (
                _symbol(
                    "rocshmem_set_attr_uniqueid_args",
                    "iiPSt5arrayIhLm128EEPNS_20rocshmem_init_attr_tE",
                ),
                _symbol("rocshmem_init_attr", "jPNS_20rocshmem_init_attr_tE"),
            ),
        ),
    ),
    _function("finalize", "2.0", "v"),
    _function("my_pe", "2.0", "v"),
    _function("n_pes", "2.0", "v"),
    _function("query_thread", "2.0", "Pi"),
    Function("check", "2.0", _OWN),
)

_MEMORY = (
    _function("malloc", "2.0", "m"),
    _function("align", "3.4", "mm"),
    _function("calloc", "3.4", "mm"),
    _function("free", "2.0", "Pv"),
    # The parameter became const in 3.3.
    Function("ptr", "3.1", ((_symbol("rocshmem_ptr", "PKvi"),), (_symbol("rocshmem_ptr", "Pvi"),))),
    _function("buffer_register", "3.3", "Pvm"),
    _function("buffer_unregister", "3.3", "Pv"),
    _function("buffer_unregister_all", "3.4", "v"),
    *(
        _function(name, "2.0", "PvPKvmi")
        for name in ("putmem", "getmem", "putmem_nbi", "getmem_nbi")
    ),
)

_CONFIGS = "PKNS_22rocshmem_team_config_tElPS0_"
_TEAMS = (
    # The variable moved when the device got one of the same name.
    Function(
        "team_world",
        "2.0",
        (
            (_symbol("ROCSHMEM_TEAM_WORLD", scope="host"),),
            (_symbol("ROCSHMEM_TEAM_WORLD"),),
        ),
    ),
    Function("team_shared", "3.3", ((_symbol("ROCSHMEM_TEAM_SHARED", scope="host"),),)),
    _function("team_my_pe", "2.0", "Pm"),
    _function("team_n_pes", "2.0", "Pm"),
    _function("team_translate_pe", "2.0", "PmiS0_"),
    _function("team_split_strided", "2.0", f"Pmiii{_CONFIGS}"),
    _function("team_split_2d", "3.4", f"Pmi{_CONFIGS}S3_lS4_"),
    _function("team_destroy", "2.0", "Pm"),
)

_ORDER = (
    *(_function(name, "2.0", "v") for name in ("fence", "quiet", "barrier_all", "sync_all")),
    *(_function(name, "3.4", "Pm") for name in ("barrier", "team_sync")),
)

_ON_STREAM = (
    *(
        _function(f"{name}_on_stream", "3.3", _STREAM)
        for name in ("quiet", "barrier_all", "sync_all")
    ),
    *(_function(f"{name}_on_stream", "3.4", f"Pm{_STREAM}") for name in ("barrier", "team_sync")),
    *(_function(f"{name}_on_stream", "3.3", f"PvPKvmi{_STREAM}") for name in ("putmem", "getmem")),
    _function("putmem_signal_on_stream", "3.3", f"PvPKvmPmmii{_STREAM}"),
    _function("signal_wait_until_on_stream", "3.3", f"Pmim{_STREAM}"),
    _function("signal_set_on_stream", "3.8", f"Pmmi{_STREAM}"),
    _function("signal_add_on_stream", "3.8", f"Pmmi{_STREAM}"),
    _function("alltoallmem_on_stream", "3.3", f"PmPvPKvm{_STREAM}"),
    _function("broadcastmem_on_stream", "3.3", f"PmPvPKvmi{_STREAM}"),
)

_CODES = {
    "int": "i",
    "long": "l",
    "longlong": "x",
    "uint32": "j",
    "uint64": "m",
    "size": "m",
    "ptrdiff": "l",
    "float": "f",
    "double": "d",
}


def _reduce(kind: str, operation: str) -> Function:
    name = f"{kind}_{operation}_reduce_on_stream"
    code = _CODES[kind]
    arguments = f"NS_12rocshmem_ctxEPmP{code}PK{code}i{_STREAM}"
    return Function(name, "3.4", ((_symbol(f"rocshmem_ctx_{name}", arguments), _HOST_CONTEXT),))


_OPERATIONS = ("sum", "min", "max", "prod")
_REDUCES = (
    *(
        _reduce(kind, operation)
        for kind in ("float", "double", "int", "long")
        for operation in _OPERATIONS
    ),
    *(Function(f"bfloat16_{operation}_reduce_on_stream", "", ()) for operation in _OPERATIONS),
)

#: Device symbols a module may hold, with the names that rocSHMEM's host variables of them have had.
DEVICE_SYMBOLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ROCSHMEM_CTX_DEFAULT", ("ROCSHMEM_CTX_DEFAULT", _symbol("ROCSHMEM_CTX_DEFAULT"))),
    (
        "ROCSHMEM_TEAM_WORLD",
        ("ROCSHMEM_TEAM_WORLD", _symbol("ROCSHMEM_TEAM_WORLD", scope="device")),
    ),
    (
        "ROCSHMEM_TEAM_SHARED",
        ("ROCSHMEM_TEAM_SHARED", _symbol("ROCSHMEM_TEAM_SHARED", scope="device")),
    ),
    ("constmem", (_symbol("constmem"),)),
)

_MODULES = (
    _function("hipmodule_init", "3.3", f"P12ihipModule_t{_STREAM}"),
    Function(
        "get_device_ctx",
        "3.1",
        (("ROCSHMEM_CTX_DEFAULT",), (_symbol("rocshmem_get_device_ctx", "v"),)),
    ),
    Function("symbol_bytes", "2.0", _OWN),
)

_BITS = ("uint32", "uint64")
_INTEGERS = ("int", "long", *_BITS, "size", "ptrdiff")
_FLOATS = ("float", "double")

#: Atomics: the operation, its types, and how many values follow the address.
_ATOMIC_ROWS: tuple[tuple[str, tuple[str, ...], int], ...] = (
    ("fetch", (*_INTEGERS, *_FLOATS), 0),
    ("set", (*_INTEGERS, "longlong", *_FLOATS), 1),
    ("swap", (*_INTEGERS, *_FLOATS), 1),
    ("compare_swap", _INTEGERS, 2),
    ("fetch_add", _INTEGERS, 1),
    ("fetch_inc", _INTEGERS, 0),
    ("add", (*_INTEGERS, "longlong"), 1),
    ("inc", (*_INTEGERS, "longlong"), 0),
    *((f"fetch_{operation}", _BITS, 1) for operation in ("and", "or", "xor")),
    *((operation, _BITS, 1) for operation in ("and", "or", "xor")),
)
_ATOMICS = tuple(
    _function(f"{kind}_atomic_{operation}", "2.0", f"P{_CODES[kind]}{_CODES[kind] * values}i")
    for operation, kinds, values in _ATOMIC_ROWS
    for kind in kinds
)

#: Every function of rocshmem_c.h.
FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        *_LIFE,
        *_MEMORY,
        *_TEAMS,
        *_ORDER,
        *_ON_STREAM,
        *_REDUCES,
        *_MODULES,
        *_ATOMICS,
    )
}

#: Defined by releases that read their environment when they are loaded, not when initialised.
READS_ENVIRONMENT_AT_LOAD = "_ZN8rocshmem6envvar5_base9heap_sizeE"


def alternative(function: Function, defined: frozenset[str]) -> int:
    """Return which alternative of what a function needs is defined, from 1; 0 where none is."""
    for number, names in enumerate(function.needs, 1):
        if defined.issuperset(names):
            return number
    return 0


def newest_release(names: Iterable[str]) -> str:
    """Return the release that a provider with these functions must be at least."""
    return max((FUNCTIONS[name].since for name in names), key=_order, default="")


def unavailable(function: str, provider: str) -> str:
    """Say why a loaded provider lacks a function.

    Args:
        function: Its name without the prefix hgs_.
        provider: What the provider says it is.
    """
    since = FUNCTIONS[function].since
    if not since:
        return f"only the local provider has it; this is {provider}"
    return f"rocSHMEM has it since {since}; this is {provider}"


def _order(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split(".") if part)
