#pragma once
#include "isa/mfma_product.h"

/// Matrix products whose A holds two of every four elements along k, and says which.
namespace hipgraph::emu::matrix {

/// For each element of A along k and row: which of its four it is.
template <MatrixShape half>
using Choices = std::array<std::array<std::uint8_t, half.m>, half.k>;

/// Which of the index sets in the index register an instruction uses. Set n holds two bits for each
/// of a lane's `count` elements of A; throws Trap for a set beyond the register's end.
std::uint32_t index_set(const Instruction& instruction, std::uint32_t count);

/// Reads the indices as `read_panel` reads A.
template <MatrixShape half>
void read_choices(const VectorRegister& indices, std::uint32_t set, Choices<half>& choices) {
  constexpr std::uint32_t count = half.inputs_per_lane();
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    const std::uint32_t own = indices[lane] >> (2 * count * set);
    for (std::uint32_t e = 0; e < count; ++e) {
      const auto choice = static_cast<std::uint8_t>(own >> (2 * e) & 3);
      choices[lane / half.m * count + e][lane % half.m] = choice;
    }
  }
}

/// Adds A * B to the accumulator, over the elements that A has, in the order of k. Elements that A
/// lacks are not multiplied: they do not turn an infinity of B into NaN.
template <MatrixShape shape, MatrixShape half, typename Value>
void accumulate_chosen(const Panel<half, Value>& a, const Choices<half>& choices,
                       const Panel<shape, Value>& b, Accumulator<shape, Value>& sums) {
  for (std::uint32_t r = 0; r < shape.outputs_per_lane(); ++r) {
    for (std::uint32_t g = 0; g < shape.lane_groups(); ++g) {
      const std::uint32_t row = output_place(shape, r, g).row;
      Value* line = &sums[r][g * shape.m];
      for (std::uint32_t k = 0; k < half.k; ++k) {
        const Value x = a[0][k][row];
        const auto& y = b[0][k / 2 * 4 + choices[k][row]];
        for (std::uint32_t j = 0; j < shape.m; ++j) line[j] = x * y[j] + line[j];
      }
    }
  }
}

/// The meaning of a sparse matrix instruction: D += A * B, with A's indices in src2. All its
/// element types have exact products.
template <MatrixShape shape, typename FormatA, typename FormatB = FormatA>
void multiply_sparse(Wave& wave, const Instruction& instruction) {
  using Value = typename FormatA::Value;
  constexpr MatrixShape half{shape.m, shape.k / 2};
  static_assert(FormatA::exact_products && shape.blocks == 1);
  const auto rows_of_source = [&](std::uint32_t source) {
    return wave.vgpr + (instruction.src[source] - operand_vgpr);
  };
  Choices<half> choices;
  const std::uint32_t set = index_set(instruction, half.inputs_per_lane());
  read_choices<half>(*rows_of_source(2), set, choices);
  alignas(64) Panel<half, Value> a;
  alignas(64) Panel<shape, Value> b;
  read_panel<half>(FormatA(wave), rows_of_source(0), a);
  read_panel<shape>(FormatB(wave), rows_of_source(1), b);
  alignas(64) Accumulator<shape, Value> sums;
  read_accumulator(wave, instruction, instruction.dst, sums);
  accumulate_chosen<shape, half>(a, choices, b, sums);
  write_accumulator(wave, instruction, sums);
}

}  // namespace hipgraph::emu::matrix
