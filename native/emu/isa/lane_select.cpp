#include "isa/lane_select.h"

#include <string>

#include "machine/target.h"
#include "machine/trap.h"

namespace hipgraph::emu {
namespace {

constexpr int row_lanes = 16;

struct Part {
  std::uint32_t shift, bits;
};

constexpr Part part_of(std::uint8_t selection) {
  if (selection < part::word0) return {selection * 8U, 8};
  if (selection < part::dword) return {(selection - part::word0) * 16U, 16};
  return {0, 32};
}

constexpr std::uint32_t mask_of(std::uint32_t bits) { return bits == 32 ? ~0U : (1U << bits) - 1; }

constexpr int none = -1;

// Controls that move within a row; the amount of a shift or rotation is in the low four bits.
int source_in_row(std::uint32_t ctrl, int lane) {
  const int in_row = lane % row_lanes;
  const int row = lane - in_row;
  const int amount = static_cast<int>(ctrl & 15);
  if (ctrl == 0x140) return row + row_lanes - 1 - in_row;  // row_mirror
  if (ctrl == 0x141) return (lane & ~7) + 7 - lane % 8;    // row_half_mirror
  switch (ctrl >> 4) {
    case 0x10: return in_row + amount < row_lanes ? lane + amount : none;  // row_shl
    case 0x11: return in_row >= amount ? lane - amount : none;             // row_shr
    case 0x12: return row + (in_row - amount + row_lanes) % row_lanes;     // row_ror
    default: return row + amount;                                          // row_newbcast
  }
}

// Controls that cross rows.
int source_across_rows(std::uint32_t ctrl, int lane) {
  constexpr int last = static_cast<int>(wave_size) - 1;
  switch (ctrl) {
    case 0x130: return lane < last ? lane + 1 : none;                 // wave_shl:1
    case 0x134: return (lane + 1) & last;                             // wave_rol:1
    case 0x138: return lane - 1;                                      // wave_shr:1
    case 0x13c: return (lane - 1) & last;                             // wave_ror:1
    case 0x142: return lane < row_lanes ? none : (lane & ~15) - 1;    // row_bcast:15
    default: return lane < 2 * row_lanes ? none : 2 * row_lanes - 1;  // row_bcast:31
  }
}

bool shifts_row(std::uint32_t ctrl) {
  return (ctrl >= 0x101 && ctrl <= 0x12f && ctrl != 0x110 && ctrl != 0x120) ||
         (ctrl >= 0x150 && ctrl <= 0x15f) || ctrl == 0x140 || ctrl == 0x141;
}

bool crosses_rows(std::uint32_t ctrl) {
  return ctrl == 0x130 || ctrl == 0x134 || ctrl == 0x138 || ctrl == 0x13c || ctrl == 0x142 ||
         ctrl == 0x143;
}

int source_lane(std::uint32_t ctrl, int lane) {
  if (ctrl < 0x100) return (lane & ~3) + static_cast<int>(ctrl >> (lane & 3) * 2 & 3);
  if (shifts_row(ctrl)) return source_in_row(ctrl, lane);
  if (crosses_rows(ctrl)) return source_across_rows(ctrl, lane);
  throw Trap(TrapKind::UnsupportedModifier, "dpp_ctrl " + std::to_string(ctrl));
}

}  // namespace

void select_part(const std::uint32_t* from, std::uint8_t selection, bool sign_extends,
                 std::uint32_t* to) {
  const Part part = part_of(selection);
  const std::uint32_t mask = mask_of(part.bits);
  const std::uint32_t sign = sign_extends ? 1U << (part.bits - 1) : 0;
  for (std::size_t i = 0; i < wave_size; ++i) {
    to[i] = ((from[i] >> part.shift & mask) ^ sign) - sign;
  }
}

void place_part(std::uint32_t* result, std::uint8_t selection, std::uint8_t rest,
                const std::uint32_t* old) {
  const Part part = part_of(selection);
  if (part.bits == 32) return;
  const std::uint32_t mask = mask_of(part.bits);
  const std::uint32_t sign = rest == unused::sign_extend ? 1U << (part.bits - 1) : 0;
  const std::uint32_t kept = rest == unused::preserve ? ~(mask << part.shift) : 0;
  for (std::size_t i = 0; i < wave_size; ++i) {
    const std::uint32_t value = ((result[i] & mask) ^ sign) - sign;
    result[i] = value << part.shift | (old[i] & kept);
  }
}

std::uint64_t move_lanes(const Dpp& dpp, std::uint64_t exec, const std::uint32_t* from,
                         std::size_t rows, std::uint32_t* to) {
  std::uint64_t writable = 0;
  for (int lane = 0; lane < static_cast<int>(wave_size); ++lane) {
    const int source = source_lane(dpp.ctrl, lane);
    const bool valid = source != none && (exec >> source & 1) != 0;
    const bool enabled = (dpp.row_mask >> lane / row_lanes & 1) != 0 &&
                         (dpp.bank_mask >> lane % row_lanes / 4 & 1) != 0;
    if (enabled && (valid || dpp.bound_ctrl)) writable |= 1ULL << lane;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t base = row * wave_size;
      to[base + static_cast<std::size_t>(lane)] =
          valid ? from[base + static_cast<std::size_t>(source)] : 0;
    }
  }
  return writable;
}

}  // namespace hipgraph::emu
