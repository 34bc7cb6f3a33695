"""The decoder against LLVM: names, sizes, and text that assembles to the same words.

gfx9_opcodes.tsv lists every (encoding, opcode) that LLVM accepts on the three targets, with words
that the assembler makes for it. Words that two encodings share (SOPK within SOP2, VOP3P within
VOP3) are listed once, under the encoding that the first bits name.
"""

from __future__ import annotations

import csv
import pathlib
import struct

import pytest
from helpers import isa
from helpers.assembler import TARGETS, assemble_each, functions

from hipgraph_shmem.offload_bundle import entries

FIXTURES = pathlib.Path(__file__).parents[1] / "fixtures"
KERNELS = pathlib.Path(__file__).parents[2] / "hipgraph_shmem" / "kernels"
SHORT_FORMS = {"VOPC": 0, "VOP2": 0x100, "VOP1": 0x140}  # VOP3 opcode of opcode 0
VOP3_ONLY = 0x1C0


def fixture_rows(target: str) -> list[tuple[str, int, str, bytes]]:
    with (FIXTURES / "gfx9_opcodes.tsv").open() as file:
        return [
            (
                row["encoding"],
                int(row["opcode"]),
                row[target],
                b"".join(bytes.fromhex(w)[::-1] for w in row["sample_words"].split()),
            )
            for row in csv.DictReader(file, delimiter="\t")
            if row[target] != "-"
        ]


# LLVM sets scope bits in gfx90a's buffer_wbl2 that its assembler has no words for.
WRITE_BACK_TO_SYSTEM = bytes.fromhex("00c0a0e000000000")


def without_form(mnemonic: str) -> str:
    for suffix in ("_e32", "_e64", "_sdwa", "_dpp"):
        mnemonic = mnemonic.removesuffix(suffix)
    return mnemonic


def assert_same_words(target: str, codes: list[bytes]) -> None:
    """Our text of each code assembles to the same bytes."""
    texts = [isa.decode(target, code)[0] for code in codes]
    assembled = assemble_each(target, texts)
    wrong = [
        (text, code.hex(), None if back is None else back.hex())
        for text, code, back in zip(texts, codes, assembled, strict=True)
        if back != code
    ]
    assert not wrong


@pytest.mark.parametrize("target", TARGETS)
def test_every_opcode_of_llvm_has_a_row_and_no_other(target: str) -> None:
    expected = {
        (encoding, opcode, name)
        for encoding, opcode, name, _ in fixture_rows(target)
        if encoding != "VOP3PX2" and not (encoding == "VOP3" and opcode < VOP3_ONLY)
    }
    rows = {(row.family, row.opcode, row.mnemonic) for row in isa.rows(target)}
    assert rows == expected


@pytest.mark.parametrize("target", TARGETS)
def test_every_opcode_decodes_to_its_name_and_size(target: str) -> None:
    wrong = []
    for encoding, opcode, name, code in fixture_rows(target):
        text, size = isa.decode(target, code + b"\xff\xff\xff\xff")
        if without_form(text.split()[0]) != name or size != len(code):
            wrong.append((encoding, opcode, name, text, size))
    assert not wrong


@pytest.mark.parametrize("target", TARGETS)
def test_text_of_every_opcode_assembles_to_the_same_words(target: str) -> None:
    assert_same_words(target, [code for _, _, _, code in fixture_rows(target)])


@pytest.mark.parametrize("target", TARGETS)
def test_an_opcode_without_a_row_is_illegal(target: str) -> None:
    known = {(encoding, opcode) for encoding, opcode, _, _ in fixture_rows(target)}
    layouts = {
        "SOP2": (0x80000000, 23, 96), "SOPK": (0xB0000000, 23, 29), "SOP1": (0xBE800000, 8, 256),
        "SOPC": (0xBF000000, 16, 128), "SOPP": (0xBF800000, 16, 128),
        "SMEM": (0xC0000000, 18, 256), "VOP2": (0, 25, 62), "VOP1": (0x7E000000, 9, 256),
        "VOPC": (0x7C000000, 17, 256), "VOP3": (0xD0000000, 16, 896),
        "VOP3P": (0xD3800000, 16, 128), "DS": (0xD8000000, 17, 256),
        "FLAT": (0xDC000000, 18, 128), "SCRATCH": (0xDC004000, 18, 128),
        "GLOBAL": (0xDC008000, 18, 128), "MUBUF": (0xE0000000, 18, 128),
    }  # fmt: skip
    load_scale = 0x2C
    accepted = []
    for encoding, (base, shift, count) in layouts.items():
        for opcode in range(count):
            scale = encoding == "VOP3P" and opcode == load_scale
            if (encoding, opcode) in known or scale:
                continue
            try:
                text, _ = isa.decode(target, [base | opcode << shift, 0, 0, 0])
            except isa.Trap as trap:
                assert trap.kind == "illegal instruction"
            else:
                accepted.append((encoding, opcode, text))
    assert not accepted


def field_sweep(code: bytes, encoding: str) -> list[bytes]:
    """The sample with one source field at a time set to each kind of operand."""
    scalars = [0, 101, 102, 106, 107, 108, 123, 124, 126, 127]
    constants = [128, 129, 192, 193, 208, *range(240, 249), 251, 252, 253]
    sources = [*scalars, *constants, 256, 257, 511]
    fields = {
        "SOP1": [(0, 0, 8)], "SOP2": [(0, 0, 8), (0, 8, 8)], "SOPC": [(0, 0, 8)],
        "VOP1": [(0, 0, 9)], "VOP2": [(0, 0, 9)], "VOPC": [(0, 0, 9)],
        "VOP3": [(1, 0, 9), (1, 9, 9), (1, 18, 9)], "VOP3P": [(1, 0, 9), (1, 9, 9), (1, 18, 9)],
        "MUBUF": [(1, 24, 8)],
    }  # fmt: skip
    words = list(struct.unpack(f"<{len(code) // 4}I", code))
    swept = []
    for word, low, bits in fields.get(encoding, []):
        for value in sources:
            if value < 1 << bits:
                changed = words.copy()
                changed[word] = words[word] & ~((1 << bits) - 1 << low) & 0xFFFFFFFF | value << low
                swept.append(struct.pack(f"<{len(words)}I", *changed))
    return swept


@pytest.mark.parametrize("target", TARGETS)
def test_operand_fields_print_as_llvm_reads_them(target: str) -> None:
    """Whatever we accept and the assembler takes too must give the words we started from.

    The assembler also refuses what the decoder must not: two scalar registers in one instruction.
    """
    codes, texts = [], []
    for encoding, _, _, sample in fixture_rows(target):
        sample_text, _ = isa.decode(target, sample)
        for code in field_sweep(sample, encoding):
            try:
                text, size = isa.decode(target, code)
            except isa.Trap:
                continue
            if size == len(code) and text != sample_text:  # the same text: an idle field
                codes.append(code)
                texts.append(text)
    assembled = assemble_each(target, texts)
    wrong = [
        (text, code.hex(), back.hex())
        for text, code, back in zip(texts, codes, assembled, strict=True)
        if back is not None and back != code
    ]
    assert not wrong
    assert sum(back is not None for back in assembled) > len(codes) * 9 // 10


@pytest.mark.parametrize("target", TARGETS)
def test_kernels_of_the_package_round_trip(target: str) -> None:
    image = (KERNELS / "kernels.hipfb").read_bytes()
    elves = [
        entry.image for entry in entries(image, "kernels.hipfb") if entry.target.processor == target
    ]
    assert elves
    found = [code for code in distinct_instructions(target, elves) if code != WRITE_BACK_TO_SYSTEM]
    assert_same_words(target, found)


def distinct_instructions(target: str, elves: list[bytes]) -> list[bytes]:
    """Every different instruction of the functions; each function must end where its code ends."""
    found: dict[bytes, None] = {}
    for elf in elves:
        assert any(functions(elf))
        for name, code in functions(elf):
            at = 0
            while at < len(code):
                _, size = isa.decode(target, code[at : at + 16])
                found[code[at : at + size]] = None
                at += size
            assert at == len(code), name
    return list(found)


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_kernels_of_amd_round_trip(target: str, aiter_dir: pathlib.Path) -> None:
    paths = [path for path in sorted(aiter_dir.rglob("*.co")) if target in path.parts]
    if not paths:
        pytest.skip(f"no {target} code objects in {aiter_dir}")
    assert_same_words(target, distinct_instructions(target, [p.read_bytes() for p in paths]))


ILLEGAL = {
    "EXP": [0xC4000000, 0],
    "VINTRP": [0xD4000000, 0],
    "MIMG": [0xF0000000, 0],
    "the null register": [0xBE84007D],
    "a source without meaning": [0xBE8400D1],
    "LDS direct": [0x7E0202FE],
    "a literal that is not there": [0xBE8400FF],
    "half an instruction": [0xD1000000],
    "an odd scalar pair": [0xBE850106],
    "a scalar quad across VCC": [0xC00A1902, 0],
    "an odd vector pair": [0x7E0A2F08],
    "a vector tuple beyond v255": [0xDC5C8000, 0xFE7F0008],
    "a literal in VOP3": [0xD1010004, 0x000210FF],
    "SDWA of f64": [0x7E082FF9, 0x00060608],
    "SDWA selector 7": [0x7E0802F9, 0x00060708],
    "DPP of a compare": [0x7C840CFA, 0xFF00E408],
    "DPP control 0x100": [0x7E0802FA, 0xFF010008],
    "quad_perm of f64": [0x7E082EFA, 0xFF00E408],
    "memory segment 3": [0xDC50C000, 0x017F0002],
    "a matrix product of scalars": [0xD3CD0000, 0x02021004],
    "EXEC loaded from memory": [0xC0021F82, 0],
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("what", ILLEGAL)
def test_illegal_words_trap_and_are_shown(target: str, what: str) -> None:
    words = ILLEGAL[what]
    with pytest.raises(isa.Trap) as trap:
        isa.decode(target, words)
    assert trap.value.kind == "illegal instruction"
    assert f"{words[0]:08x}" in trap.value.text
    assert target in trap.value.text
