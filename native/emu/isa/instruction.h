#pragma once
#include <array>
#include <cstdint>

#include "machine/target.h"

namespace hipgraph::emu {

struct Wave;
struct Instruction;

/// Encoding families of the manual. VOP3PX2 is the 16-byte scaled MFMA of gfx950.
enum class Family : std::uint8_t {
  Sop1,
  Sop2,
  Sopk,
  Sopc,
  Sopp,
  Smem,
  Vop1,
  Vop2,
  Vopc,
  Vop3,
  Vop3p,
  Vop3px2,
  Ds,
  Flat,
  Scratch,
  Global,
  Mubuf,
  Mtbuf
};

/// The meaning of one instruction; `wave.pc` already points behind it.
using Execute = void (*)(Wave&, const Instruction&);

/// Register widths of a row's operands in dwords; 0: the row has no such operand.
/// For memory rows: dst = data loaded or returned, src0 = data stored, src1 = second data of DS
/// rows.
struct Widths {
  std::uint8_t dst = 0, src0 = 0, src1 = 0, src2 = 0;
};

/// Facts about a row that decoding, disassembly and the scheduler need.
enum RowFlag : std::uint16_t {
  kReadsVcc = 1,    ///< implicit VCC operand (VOP2 carry-in, v_cndmask)
  kWritesVcc = 2,   ///< implicit VCC result (VOP2 carry-out)
  kMaskDst = 4,     ///< vector result is a lane mask in SGPRs (compares)
  kLiteralK = 8,    ///< madmk/madak/fmamk/fmaak: 32-bit constant follows
  kReadsDst = 16,   ///< dst is also a source (fmac, mac, partial writes)
  kScalarDst = 32,  ///< vector row whose dst is an SGPR (v_readlane, v_readfirstlane)
  kHasSdst = 64,    ///< VOP3B: extra SGPR-pair result
  kBranch = 128,
  kEnds = 256,  ///< s_endpgm
  kAtomic = 512,
  kMatrix = 1024,  ///< VOP3P-MAI encoding
};

/// One row of an instruction table: what an opcode is called, where it exists, and what it means.
/// `execute` is null for an instruction that is known and refused.
struct Row {
  std::uint16_t opcode;
  TargetMask targets;
  const char* mnemonic;
  Execute execute;
  Widths widths;
  std::uint16_t flags = 0;
};

/// Operand codes beyond the 9 bits of the encodings.
constexpr std::uint16_t operand_vgpr = 256;     ///< + n
constexpr std::uint16_t operand_accvgpr = 512;  ///< + n
constexpr std::uint16_t operand_literal = 255;
constexpr std::uint16_t operand_absent = 0xffff;

/// Sub-dword selection of one instruction (SDWA).
struct Sdwa {
  std::uint8_t dst_sel = 6, dst_unused = 0, src0_sel = 6, src1_sel = 6;
  bool src0_sext = false, src1_sext = false;
};

/// Cross-lane selection of source 0 (DPP).
struct Dpp {
  std::uint16_t ctrl = 0;
  std::uint8_t row_mask = 15, bank_mask = 15;
  bool bound_ctrl = false;
};

/// Which of the two a vector instruction carries.
enum class LaneSelect : std::uint8_t { None, Sdwa, Dpp };

/// One decoded instruction. Fields that its family lacks keep their defaults.
struct Instruction {
  const Row* row = nullptr;
  Family family = Family::Sopp;
  std::uint8_t size = 4;  ///< bytes, literal or SDWA/DPP word included
  std::array<std::uint32_t, 4> words{};
  std::uint16_t dst = operand_absent;   ///< operand code, AccVGPRs from 512
  std::uint16_t sdst = operand_absent;  ///< VOP3B and VOPC-SDWA mask result, operand code
  std::array<std::uint16_t, 3> src{operand_absent, operand_absent, operand_absent};
  std::uint32_t literal = 0;
  std::int32_t imm = 0;  ///< simm16 of SOPK/SOPP; offset of memory families
  // Vector modifiers; bit n belongs to source n (op_sel bit 3: destination).
  std::uint8_t abs = 0, neg = 0, neg_hi = 0, op_sel = 0, op_sel_hi = 0, omod = 0;
  bool clamp = false;
  LaneSelect lane_select = LaneSelect::None;
  Sdwa sdwa;
  Dpp dpp;
  // Memory: address and data registers as operand codes.
  std::uint16_t addr = operand_absent;   ///< VGPR address (DS, FLAT, MUBUF)
  std::uint16_t data = operand_absent;   ///< VGPR/AccVGPR data stored (DS data0); SMEM sdata
  std::uint16_t data1 = operand_absent;  ///< DS second data
  std::uint16_t saddr =
      operand_absent;  ///< GLOBAL/SCRATCH saddr, SMEM sbase, MUBUF srsrc (SGPR code)
  std::uint16_t soffset = operand_absent;     ///< MUBUF and SMEM scalar offset operand
  std::uint8_t offset0 = 0, offset1 = 0;      ///< DS
  bool sc0 = false, nt = false, sc1 = false;  ///< gfx90a names: glc, slc, scc
  bool lds = false, idxen = false, offen = false, gds = false, sve = false;
  // Matrix.
  std::uint8_t cbsz = 0, abid = 0, blgp = 0;
};

}  // namespace hipgraph::emu
