#include <array>

#include "isa/tables.h"

// Typed buffer accesses: graphics formats, which compute code does not use. Known and refused.
namespace hipgraph::emu::tables {
namespace {

constexpr std::array mtbuf_rows{
    Row{0, all_targets, "tbuffer_load_format_x", nullptr, {1}},
    Row{1, all_targets, "tbuffer_load_format_xy", nullptr, {2}},
    Row{2, all_targets, "tbuffer_load_format_xyz", nullptr, {3}},
    Row{3, all_targets, "tbuffer_load_format_xyzw", nullptr, {4}},
    Row{4, all_targets, "tbuffer_store_format_x", nullptr, {0, 1}},
    Row{5, all_targets, "tbuffer_store_format_xy", nullptr, {0, 2}},
    Row{6, all_targets, "tbuffer_store_format_xyz", nullptr, {0, 3}},
    Row{7, all_targets, "tbuffer_store_format_xyzw", nullptr, {0, 4}},
    Row{8, all_targets, "tbuffer_load_format_d16_x", nullptr, {1}},
    Row{9, all_targets, "tbuffer_load_format_d16_xy", nullptr, {1}},
    Row{10, all_targets, "tbuffer_load_format_d16_xyz", nullptr, {2}},
    Row{11, all_targets, "tbuffer_load_format_d16_xyzw", nullptr, {2}},
    Row{12, all_targets, "tbuffer_store_format_d16_x", nullptr, {0, 1}},
    Row{13, all_targets, "tbuffer_store_format_d16_xy", nullptr, {0, 1}},
    Row{14, all_targets, "tbuffer_store_format_d16_xyz", nullptr, {0, 2}},
    Row{15, all_targets, "tbuffer_store_format_d16_xyzw", nullptr, {0, 2}},
};
static_assert(ascends(mtbuf_rows));

}  // namespace

std::span<const Row> mtbuf() { return mtbuf_rows; }

}  // namespace hipgraph::emu::tables
