#pragma once
#include <cstdint>

#include "machine/target.h"

/// How matrices lie in the lanes and registers of a wave: one closed form for every dense shape.
namespace hipgraph::emu {

/// D = A * B + C for `blocks` independent products of m x k by k x m matrices.
struct MatrixShape {
  std::uint32_t m;
  std::uint32_t k;
  std::uint32_t blocks = 1;
  bool f64 = false;  ///< f64 spreads its results and blocks over the lanes in another order

  /// Groups of m lanes: what lies side by side in A, B and D.
  constexpr std::uint32_t lane_groups() const { return wave_size / m; }
  /// Groups of lanes that share a block and divide k between them.
  constexpr std::uint32_t k_groups() const { return wave_size / (m * blocks); }
  /// Elements of A (and of B) in one lane.
  constexpr std::uint32_t inputs_per_lane() const { return k / k_groups(); }
  /// Elements of C and D in one lane.
  constexpr std::uint32_t outputs_per_lane() const { return m * m * blocks / wave_size; }
};

/// Which block, and which part of k, lane group g holds of A and B. Within it, lane g * m + i holds
/// row i of A (column i of B), and its element e is k = part * inputs_per_lane + e.
struct InputPlace {
  std::uint32_t block;
  std::uint32_t part;
};
constexpr InputPlace input_place(const MatrixShape& shape, std::uint32_t g) {
  if (shape.f64) return {g % shape.blocks, g / shape.blocks};
  return {g / shape.k_groups(), g % shape.k_groups()};
}

/// Which block and row element r of lane group g is in C and D; lane g * m + j holds column j.
struct OutputPlace {
  std::uint32_t block;
  std::uint32_t row;
};
constexpr OutputPlace output_place(const MatrixShape& shape, std::uint32_t r, std::uint32_t g) {
  if (shape.f64) {
    return {g % shape.blocks, shape.blocks == 1 ? 4 * r + g : g / shape.blocks};
  }
  if (shape.m == 4) return {g, r};
  // Four registers hold four neighbouring rows for each lane group.
  const std::uint32_t rows = 4 * shape.lane_groups() * (r / 4);
  return {rows / shape.m, rows % shape.m + 4 * g + r % 4};
}

}  // namespace hipgraph::emu
