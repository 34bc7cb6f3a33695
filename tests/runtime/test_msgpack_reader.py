"""Compared with the msgpack package, an independent writer."""

import msgpack
import pytest

from hipgraph_shmem.msgpack_reader import unpack

VALUES = [
    None, True, False, 0, 1, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**64 - 1,
    -1, -32, -33, -128, -129, -32768, -32769, -(2**31), -(2**31) - 1, -(2**63),
    0.5, -1e300, "", "a", "x" * 31, "x" * 32, "x" * 255, "x" * 256, "x" * 65536, "é",
    b"", b"\0" * 256, b"\1" * 65536, [], [1] * 15, [2] * 16, list(range(65536)),
    {}, {"a": [1, {"b": None}]}, {str(n): n for n in range(16)}, {n: n for n in range(65536)},
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:20])
def test_reads_what_msgpack_writes(value):
    assert unpack(msgpack.packb(value)) == value


@pytest.mark.parametrize("value", VALUES[-4:], ids=lambda value: repr(value)[:20])
def test_truncated_data_are_refused(value):
    packed = msgpack.packb(value)
    for end in {0, len(packed) // 2, len(packed) - 1} - {len(packed)}:
        if end < len(packed):
            with pytest.raises(ValueError, match="ends at byte"):
                unpack(packed[:end])


def test_types_that_metadata_does_not_use_are_refused():
    with pytest.raises(ValueError, match="0xd4"):
        unpack(msgpack.packb(msgpack.ExtType(1, b"x")))


def test_endless_nesting_is_refused():
    with pytest.raises(ValueError, match="nested"):
        unpack(b"\x91" * 100 + b"\x01")
