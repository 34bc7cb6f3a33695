"""MTBUF: typed buffer accesses are known by name and refused."""

from __future__ import annotations

import pytest
from helpers import isa
from helpers.assembler import TARGETS


@pytest.mark.parametrize("target", TARGETS)
def test_no_row_claims_a_meaning(target: str) -> None:
    rows = [row for row in isa.rows(target) if row.family == "MTBUF"]
    assert len(rows) == 16
    assert not any(row.implemented for row in rows)


@pytest.mark.parametrize("target", TARGETS)
def test_a_typed_access_is_refused_by_name(target: str) -> None:
    line = "tbuffer_load_format_x v1, v2, s[4:7], s8 format:[BUF_NUM_FORMAT_FLOAT] offen"
    with pytest.raises(isa.Trap) as trap:
        isa.run(target, line)
    assert trap.value.kind == "unsupported instruction"
    assert "tbuffer_load_format_x" in trap.value.text
