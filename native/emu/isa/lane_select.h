#pragma once
#include <cstddef>
#include <cstdint>

#include "isa/instruction.h"

namespace hipgraph::emu {

/// Which part of a dword SDWA (and op_sel) names.
namespace part {
constexpr std::uint8_t byte0 = 0, word0 = 4, word1 = 5, dword = 6;
}  // namespace part

/// What SDWA does with the bits of a destination that it does not select.
namespace unused {
constexpr std::uint8_t pad = 0, sign_extend = 1, preserve = 2;
}  // namespace unused

/// Takes `selection` of every lane, zero- or sign-extended. `from` and `to` may be the same row.
void select_part(const std::uint32_t* from, std::uint8_t selection, bool sign_extends,
                 std::uint32_t* to);

/// Puts the low bits of every lane of `result` into `selection` of the destination, in place;
/// `old` is the destination before.
void place_part(std::uint32_t* result, std::uint8_t selection, std::uint8_t rest,
                const std::uint32_t* old);

/// Moves `rows` rows across lanes as DPP says. Returns the lanes that may be written: those
/// enabled by the row and bank masks and, without bound_ctrl, only those that have a source lane.
std::uint64_t move_lanes(const Dpp& dpp, std::uint64_t exec, const std::uint32_t* from,
                         std::size_t rows, std::uint32_t* to);

}  // namespace hipgraph::emu
