"""Text in, text out: what we print for the words of a line assembles to the same words.

The lines exercise every modifier and operand form; tests/isa/test_decode.py covers every opcode.
"""

from __future__ import annotations

import pytest
from helpers import isa
from helpers.assembler import TARGETS, assemble, assemble_each

SCALAR = """
s_mov_b32 s4, 0x12345678
s_mov_b32 s4, lit(0x5)
s_mov_b32 s4, -16
s_mov_b32 vcc_hi, 0.15915494
s_mov_b32 m0, s101
s_mov_b64 exec, -1
s_mov_b64 s[4:5], 0.15915494309189532
s_mov_b64 vcc, src_shared_base
s_mov_b64 s[100:101], src_private_limit
s_add_u32 s4, src_scc, 0x3f800000
s_cselect_b64 ttmp[2:3], xnack_mask, flat_scratch
s_and_b32 s0, src_vccz, src_execz
s_getpc_b64 s[4:5]
s_setpc_b64 s[6:7]
s_swappc_b64 s[4:5], s[6:7]
s_movk_i32 s0, 0x8000
s_cmpk_lg_u32 s101, 0xffff
s_addk_i32 exec_lo, 0x7
s_getreg_b32 s4, hwreg(HW_REG_XCC_ID)
s_getreg_b32 s4, hwreg(HW_REG_HW_ID, 8, 4)
s_setreg_b32 hwreg(HW_REG_MODE, 4, 4), s7
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0x3
s_call_b64 s[4:5], 65533
s_cmp_lg_u64 s[2:3], 0x12345678
s_set_gpr_idx_on s6, gpr_idx(SRC0,DST)
s_set_gpr_idx_mode gpr_idx(SRC1,SRC2)
s_set_gpr_idx_off
s_setvskip s4, 3
s_nop 7
s_branch 65530
s_cbranch_execnz 16
s_waitcnt vmcnt(63) expcnt(7) lgkmcnt(15)
s_waitcnt vmcnt(24)
s_waitcnt lgkmcnt(0)
s_waitcnt vmcnt(0) expcnt(1) lgkmcnt(2)
s_sendmsg sendmsg(MSG_INTERRUPT)
s_trap 2
s_sleep 127
s_endpgm
s_endpgm 3
"""

SMEM = """
s_load_dword s5, s[2:3], 0x40
s_load_dwordx16 s[16:31], s[2:3], -0x40 glc
s_load_dwordx2 vcc, s[2:3], s7
s_load_dwordx4 s[8:11], ttmp[4:5], s7 offset:0x10
s_load_dword s5, s[2:3], m0
s_buffer_load_dwordx8 s[8:15], s[4:7], 0xffffc
s_buffer_load_dword s5, s[4:7], s8 glc
s_store_dwordx4 s[4:7], s[2:3], 0x4 glc
s_buffer_store_dword s4, s[8:11], s12
s_atomic_dec s5, s[2:3], 0x0
s_atomic_cmpswap s[4:5], s[2:3], 0x8 glc
s_atomic_cmpswap_x2 s[4:7], s[2:3], s8
s_buffer_atomic_add_x2 s[4:5], s[8:11], 0x10 glc
s_memtime s[4:5]
s_memrealtime vcc
s_dcache_wb
s_dcache_discard s[2:3], 0x40
s_atc_probe 3, s[2:3], 0x40
"""

VECTOR = """
v_nop
v_mov_b32_e32 v255, v0
v_mov_b32_e32 v1, 0x3f800001
v_mov_b32_e64 v1, s3
v_readfirstlane_b32 s4, v8
v_readlane_b32 vcc_lo, v8, 63
v_writelane_b32 v4, s8, m0
v_swap_b32 v4, v8
v_accvgpr_mov_b32 a4, a255
v_add_f32_e64 v0, -v1, |v2| clamp mul:2
v_add_f32_e64 v0, neg(1), -|s3| mul:4
v_mul_f32_e64 v0, |0.5|, -v2 div:2
v_mul_f16_e32 v0, 0.5, v1
v_mul_f16_e32 v0, 0x3801, v1
v_add_co_u32_e32 v4, vcc, v8, v6
v_add_co_u32_e64 v4, s[6:7], v8, s4
v_addc_co_u32_e32 v4, vcc, v8, v6, vcc
v_addc_co_u32_e64 v4, s[6:7], v8, v6, vcc clamp
v_cndmask_b32_e32 v4, v8, v6, vcc
v_cndmask_b32_e64 v4, -v8, |v6|, s[8:9]
v_cmp_lt_f32_e32 vcc, s4, v6
v_cmp_lt_f32_e64 s[4:5], -v8, |v6|
v_cmpx_eq_u64_e64 exec, v[8:9], s[4:5]
v_cmp_class_f64_e64 vcc, v[8:9], v6
v_cvt_f32_f64_e32 v0, 0x400921fb
v_fma_f64 v[4:5], -v[8:9], |s[4:5]|, 1.0 clamp mul:2
v_div_scale_f32 v4, vcc, v8, v10, v8
v_div_scale_f64 v[4:5], s[2:3], v[8:9], v[10:11], v[8:9]
v_div_fmas_f32 v4, v8, -v10, v12
v_mad_u64_u32 v[4:5], s[2:3], v8, v10, v[12:13]
v_mad_u16 v4, v8, v10, v12 op_sel:[1,0,1,1]
v_min3_i16 v4, v8, v10, v12 op_sel:[0,0,0,1]
v_pack_b32_f16 v4, -v8, v10 op_sel:[0,1,0]
v_mqsad_u32_u8 v[4:7], v[8:9], v10, v[12:15]
v_perm_b32 v4, v8, v10, s4
v_add_u32_sdwa v4, v8, sext(v6) dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 \
src1_sel:BYTE_3
v_mul_f32_sdwa v4, -|v8|, s6 clamp mul:2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD \
src1_sel:WORD_0
v_mov_b32_sdwa v4, v8 dst_sel:WORD_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_2
v_cmp_eq_u32_sdwa s[4:5], v8, v6 src0_sel:BYTE_0 src1_sel:WORD_1
v_cmp_lt_f16_sdwa vcc, -v8, |v6| src0_sel:WORD_1 src1_sel:WORD_1
v_add_co_u32_sdwa v4, vcc, v8, v6 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD
v_cndmask_b32_sdwa v4, v8, v6, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 \
src1_sel:DWORD
v_mov_b32_dpp v4, v8 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v4, v8 row_shl:15 row_mask:0x5 bank_mask:0xf bound_ctrl:1
v_add_f32_dpp v4, -v8, |v6| row_ror:3 row_mask:0xf bank_mask:0x3
v_max_f32_dpp v4, v8, v6 wave_shr:1 row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v4, v8 row_half_mirror row_mask:0xf bank_mask:0xf
v_mov_b32_dpp v4, v8 row_bcast:31 row_mask:0xc bank_mask:0xf
v_mov_b32_dpp v4, v8 row_newbcast:7 row_mask:0xf bank_mask:0xf
v_addc_co_u32_dpp v4, vcc, v8, v6, vcc row_mirror row_mask:0xf bank_mask:0xf
v_ceil_f64_dpp v[4:5], v[8:9] row_newbcast:2 row_mask:0xf bank_mask:0xf
v_pk_add_f16 v4, v8, v6 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0] neg_hi:[0,1] clamp
v_pk_fma_f32 v[4:5], v[8:9], s[4:5], v[6:7] op_sel_hi:[1,0,1]
v_pk_mov_b32 v[4:5], v[8:9], v[10:11] op_sel:[1,0] op_sel_hi:[0,1]
v_fma_mix_f32 v4, -|v8|, v6, 1.0 op_sel:[1,0,0] op_sel_hi:[1,1,0] clamp
v_fma_mixhi_f16 v4, v8, v6, v7 op_sel_hi:[0,0,1]
v_dot4_i32_i8 v4, v8, v6, v7 clamp
v_dot2_f32_f16 v4, v8, v6, v7 neg_lo:[1,0,0]
v_accvgpr_read_b32 v4, a8
v_accvgpr_write_b32 a4, 1.0
"""

MATRIX = """
v_mfma_f32_16x16x16_f16 v[0:3], a[4:5], v[6:7], 0
v_mfma_f32_16x16x16_bf16 a[0:3], v[4:5], a[6:7], a[0:3]
v_mfma_f32_32x32x1_2b_f32 v[0:31], v32, a33, 1.0 cbsz:1 abid:3 blgp:2
v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], v[0:7] neg:[1,0,1]
v_mfma_i32_4x4x4_16b_i8 a[0:3], v8, v9, a[0:3] blgp:7
v_smfmac_f32_16x16x32_f16 a[0:3], v[4:5], a[8:11], v12 cbsz:1 abid:2
"""

MEMORY = """
ds_read_b32 v1, v2 offset:65535
ds_read2st64_b64 a[0:3], v2 offset0:1 offset1:255
ds_write2_b32 v1, v2, v3 offset1:9
ds_write_b128 v1, a[4:7]
ds_add_rtn_u32 v1, v2, v3 offset:8
ds_cmpst_rtn_b64 v[0:1], v2, v[4:5], v[6:7]
ds_swizzle_b32 v1, v2 offset:swizzle(BITMASK_PERM,"01pip")
ds_append v1 offset:4
ds_gws_barrier v2 offset:4 gds
flat_load_dwordx4 v[4:7], v[2:3] offset:4095
flat_store_short_d16_hi v[2:3], a4
global_load_dword a1, v[2:3], off offset:-4096
global_load_dwordx3 v[4:6], v2, s[4:5] offset:4095
global_store_byte v2, v3, vcc
scratch_load_dword v1, off, s3 offset:-8
scratch_store_dwordx2 off, v[2:3], m0
buffer_load_dword v1, off, s[4:7], 0
buffer_load_dwordx4 a[4:7], v[2:3], s[8:11], s101 idxen offen offset:4095
buffer_load_ubyte off, s[4:7], m0 offset:4 lds
buffer_load_dword v2, s[4:7], s8 offen lds
buffer_store_format_xyzw v[4:7], v2, s[8:11], 0.5 idxen
tbuffer_load_format_xyz v[4:6], v2, s[8:11], s4 \
format:[BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_SINT] offen offset:4
"""

ONLY = {
    "gfx90a": """
s_mov_b32 s4, src_pops_exiting_wave_id
v_mac_f32_e32 v4, v8, v6
v_madmk_f32 v4, v8, 0x11223344, v6
v_madak_f32 v4, v8, v6, 0x1
v_mfma_f32_16x16x16f16 v[0:3], a[4:5], v[6:7], 0
v_mfma_f64_4x4x4f64 a[0:1], v[4:5], v[6:7], a[0:1] blgp:3
global_load_dword v1, v[2:3], off glc slc scc
global_load_ushort v[2:3], off offset:4 lds
global_atomic_add v1, v[2:3], v4, off glc
scratch_load_dword v1, v2, off glc
buffer_atomic_cmpswap_x2 v[4:7], off, s[8:11], s4 glc
buffer_store_lds_dword s[4:7], s8 offset:4 lds
buffer_wbinvl1
buffer_wbl2
buffer_invl2
""",
    "gfx942": MATRIX
    + """
v_fmamk_f32 v4, v8, 0x3f800000, v6
v_fmaak_f32 v4, v8, v6, 0x11223344
v_mov_b64_e32 v[4:5], -1
v_mov_b64_dpp v[4:5], v[8:9] row_newbcast:1 row_mask:0xf bank_mask:0xf
v_lshl_add_u64 v[4:5], s[8:9], 3, v[6:7]
v_cvt_pk_fp8_f32 v4, -v8, |v6| op_sel:[0,0,1]
v_cvt_sr_bf8_f32 v4, v8, v6 op_sel:[0,0,1,1]
v_cvt_f32_fp8_sdwa v4, v8 src0_sel:BYTE_2
v_mfma_f32_32x32x4_xf32 v[0:15], v[16:17], v[18:19], v[0:15]
flat_atomic_pk_add_bf16 v1, v[2:3], v4 sc0 nt sc1
global_atomic_add_f64 v[2:3], a[4:5], off sc1
global_load_lds_dword v[2:3], off offset:16 sc0
scratch_load_dword v1, v2, s3 offset:4
scratch_load_dword v1, off, off sc0 nt sc1
scratch_load_lds_dword off, s4
buffer_load_dword v1, v2, s[4:7], 0 offen sc0 nt sc1
buffer_inv sc0 sc1
buffer_wbl2 sc1
""",
    "gfx950": MATRIX
    + """
v_bitop3_b32 v4, v8, s10, v12 bitop3:0x6c
v_bitop3_b16 v4, v8, v10, v12 bitop3:0x81 op_sel:[1,0,0,1]
v_permlane16_swap_b32_e32 v4, v8
v_permlane32_swap_b32_e64 v4, v8 bound_ctrl:1 fi:1
v_cvt_pk_bf16_f32 v4, -v8, |v6|
v_cvt_scalef32_pk_fp8_f32 v4, v8, v9, v10 op_sel:[0,0,0,1]
v_cvt_scalef32_pk32_f32_fp6 v[0:31], v[32:37], v40
v_minimum3_f32 v4, -v8, |v10|, v12
v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:9], v[12:15], v[20:23] cbsz:2 blgp:4
v_mfma_scale_f32_32x32x64_f8f6f4 a[0:15], v[16:23], v[24:29], a[0:15], v30, v31 \
op_sel:[1,0,0] op_sel_hi:[0,1,0] blgp:3
ds_read_b64_tr_b16 v[4:5], v2 offset:16
global_load_lds_dwordx4 v2, s[4:5] offset:16
buffer_load_dwordx4 v2, s[4:7], s8 offen offset:16 lds
buffer_atomic_pk_add_bf16 v4, off, s[4:7], 0 sc0
""",
}  # fmt: skip

COMMON = SCALAR + SMEM + VECTOR + MEMORY


def lines_of(target: str) -> list[str]:
    text = COMMON + ONLY[target]
    if target == "gfx90a":
        text = text.replace("s_getreg_b32 s4, hwreg(HW_REG_XCC_ID)\n", "")
    return [line for line in text.splitlines() if line]


@pytest.mark.parametrize("target", TARGETS)
def test_text_assembles_to_the_words_it_was_made_from(target: str) -> None:
    lines = lines_of(target)
    codes = assemble(target, lines)
    decoded = [isa.decode(target, code) for code in codes]
    assert [size for _, size in decoded] == [len(code) for code in codes]
    again = assemble_each(target, [text for text, _ in decoded])
    wrong = [
        (line, text)
        for line, (text, _), code, back in zip(lines, decoded, codes, again, strict=True)
        if back != code
    ]
    assert not wrong


def test_wait_counters_are_named() -> None:
    code = assemble("gfx942", ["s_waitcnt vmcnt(24) lgkmcnt(0)"])[0]
    assert isa.decode("gfx942", code)[0] == "s_waitcnt vmcnt(24) lgkmcnt(0)"
