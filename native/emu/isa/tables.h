#pragma once
#include <span>

#include "isa/instruction.h"

/// The instruction tables, one function a family file. Within a table opcodes ascend.
namespace hipgraph::emu::tables {

std::span<const Row> sop1();
std::span<const Row> sop2();
std::span<const Row> sopk();
std::span<const Row> sopc();
std::span<const Row> sopp();
std::span<const Row> smem();
std::span<const Row> vop1();
std::span<const Row> vop2();
std::span<const Row> vopc();
std::span<const Row> vop3();   ///< rows that exist only as VOP3 (opcode >= 0x1c0)
std::span<const Row> vop3p();  ///< packed and mixed-precision rows
std::span<const Row> mfma();   ///< the MAI rows of the VOP3P encoding
std::span<const Row> ds();
std::span<const Row> flat();
std::span<const Row> scratch();
std::span<const Row> global();
std::span<const Row> mubuf();
std::span<const Row> mtbuf();

/// Whether opcodes never descend, so that a table can be searched by halving.
constexpr bool ascends(std::span<const Row> table) {
  for (std::size_t i = 1; i < table.size(); ++i) {
    if (table[i].opcode < table[i - 1].opcode) return false;
  }
  return true;
}

}  // namespace hipgraph::emu::tables
