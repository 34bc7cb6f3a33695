#include "isa/lane_move.h"
#include "isa/tables.h"
#include "isa/vector.h"
#include "isa/vop3_rows.h"

namespace hipgraph::emu::tables {
namespace {

using namespace vector;

/// How many of the bits below the lane's own are set in its half of a mask.
u32 bits_before(u32 half_mask, i32 lane_in_half) {
  const u32 below = lane_in_half >= 32 ? ~0U : (1U << (lane_in_half & 31)) - 1;
  return lane_in_half < 0 ? 0 : static_cast<u32>(__builtin_popcount(half_mask & below));
}

constexpr Row lane_rows[]{
    {649, all_targets, "v_readlane_b32", read_lane, {1, 1, 1}, kScalarDst},
    {650, all_targets, "v_writelane_b32", write_lane, {1, 1, 1}, kReadsDst},
    row<[](u32 a, u32 b, Lane lane) { return bits_before(a, static_cast<i32>(lane.number)) + b; }>(
        652, "v_mbcnt_lo_u32_b32"),
    row<[](u32 a, u32 b, Lane lane) {
      return bits_before(a, static_cast<i32>(lane.number) - 32) + b;
    }>(653, "v_mbcnt_hi_u32_b32"),
};
static_assert(ascends(lane_rows));

}  // namespace

std::span<const Row> vop3_lane() { return lane_rows; }

}  // namespace hipgraph::emu::tables
