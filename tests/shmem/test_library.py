"""The binding says what the C header says."""

import ctypes
import re
from pathlib import Path

import pytest

from hipgraph_shmem import errors
from hipgraph_shmem.routes import Out
from hipgraph_shmem.shmem.library import PROTOTYPES, UNIQUE_ID_BYTES

HEADER = Path(__file__).resolve().parents[2] / "native" / "shmem" / "rocshmem_c.h"
#: C types that are passed by value, on x86-64 Linux.
VALUES = {
    "int": ctypes.c_int,
    "long": ctypes.c_long,
    "long long": ctypes.c_longlong,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
    "ptrdiff_t": ctypes.c_ssize_t,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
#: Pointers whose target is the caller's array or text; other pointers in last places are results.
RESULTS = {"address", "peer", "pe", "n_pes", "team", "x_team", "y_team", "target_pe", "provided",
           "major", "minor", "patch", "context", "size", "result"}  # fmt: skip


def declared() -> dict[str, list[tuple[str, str]]]:
    """Parameters (type, name) by function, read from the header."""
    text = re.sub(r"//[^\n]*", "", HEADER.read_text())
    found = {}
    for name, inside in re.findall(r"HGS_API int hgs_(\w+)\(([^)]*)\);", text):
        parameters = [] if inside.strip() == "void" else inside.split(",")
        found[name] = [
            (" ".join(each.split()).rpartition(" ")[0].replace("const ", ""), each.split()[-1])
            for each in parameters
        ]
    return found


def test_every_function_of_the_header_is_bound_and_no_other():
    assert set(PROTOTYPES) == set(declared())
    assert len(PROTOTYPES) > 130


@pytest.mark.parametrize("name", sorted(PROTOTYPES))
def test_parameters_equal_the_header(name):
    bound, parameters = PROTOTYPES[name], declared()[name]
    assert len(bound) == len(parameters)
    for kind, (c_type, c_name) in zip(bound, parameters, strict=True):
        if isinstance(kind, Out):
            assert c_name in RESULTS
            target = c_type.removesuffix("*")
            wanted = ctypes.c_void_p if target.endswith("*") else VALUES[target]
            assert kind.type is wanted
        elif c_type.endswith("*"):
            assert kind in (ctypes.c_void_p, ctypes.c_char_p)
        else:
            assert kind is VALUES[c_type]


def test_the_unique_id_is_as_long_as_in_the_header():
    assert f"#define HGS_UNIQUE_ID_BYTES {UNIQUE_ID_BYTES}" in HEADER.read_text()


def test_statuses_are_raised_as_errors_of_their_kind():
    from hipgraph_shmem.shmem.library import _KINDS, INVALID

    text = HEADER.read_text()
    codes = {name: int(code) for name, code in re.findall(r"HGS_([A-Z_]+) = (\d)", text)}
    assert {codes["INVALID"]} == {INVALID}
    assert {name: _KINDS[code] for name, code in codes.items() if code > 1} == {
        "HIP": errors.ShmemError,
        "TIMEOUT": errors.ShmemTimeoutError,
        "PEER_LOST": errors.PeerLostError,
        "MISMATCH": errors.CollectiveMismatchError,
        "NO_MEMORY": errors.SymmetricMemoryError,
        "FAILED": errors.ShmemError,
    }
