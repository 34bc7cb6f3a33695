#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "isa/instruction.h"
#include "isa/mfma_formats.h"
#include "isa/mfma_layout.h"
#include "isa/operand.h"

/// The dense matrix product, for every shape and element type.
///
/// Arithmetic ("fast" numerics): on every target each element of D is C plus its products, added
/// one by one in the order of k, each addition rounded to nearest even. Hardware sums groups of
/// products with its own truncation before it rounds, and gfx90a flushes 16-bit denormals and sums
/// in pairs: results differ from a GPU's in the last bits. i8 products are exact, f32 and f64 ones
/// fused.
namespace hipgraph::emu::matrix {

/// What the modifiers of one instruction ask; each is checked against what the shape supports.
struct Modifiers {
  std::uint8_t broadcast_log2 = 0;  ///< cbsz: 2^n blocks of A get the values of one of them
  std::uint8_t broadcast_from = 0;  ///< abid: which of them
  std::uint8_t lanes_of_b = 0;      ///< blgp: a pattern of lanes
  std::uint8_t negate = 0;          ///< f64: bits for A, B, C
};
/// Throws Trap for a modifier that this shape does not have on this target.
Modifiers modifiers_of(const Wave& wave, const Instruction& instruction, const MatrixShape& shape,
                       bool f32_inputs);
/// Copies `count` rows of A so that every lane has what cbsz and abid give it.
void broadcast_a(const Modifiers& modifiers, const MatrixShape& shape, const VectorRegister* rows,
                 VectorRegister* copy, std::uint32_t count);
/// Copies `count` rows of B so that every lane has what blgp gives it.
void permute_b(const Modifiers& modifiers, const VectorRegister* rows, VectorRegister* copy,
               std::uint32_t count);

/// An input by block, k and row or column.
template <MatrixShape shape, typename Value>
using Panel = std::array<std::array<std::array<Value, shape.m>, shape.k>, shape.blocks>;
/// C and D by element and lane.
template <MatrixShape shape, typename Value>
using Accumulator = std::array<std::array<Value, wave_size>, shape.outputs_per_lane()>;

/// Reads A or B out of the registers.
template <MatrixShape shape, typename Format>
void read_panel(const Format& format, const VectorRegister* rows,
                Panel<shape, typename Format::Value>& panel) {
  constexpr std::uint32_t count = shape.inputs_per_lane();
  for (std::uint32_t g = 0; g < shape.lane_groups(); ++g) {
    const InputPlace place = input_place(shape, g);
    for (std::uint32_t e = 0; e < count; ++e) {
      auto& line = panel[place.block][place.part * count + e];
      for (std::uint32_t i = 0; i < shape.m; ++i) line[i] = format.at(rows, g * shape.m + i, e);
    }
  }
}

/// A row of m values that are computed with at once, in vector registers.
template <typename Value, std::uint32_t m>
using Line [[gnu::vector_size(sizeof(Value) * m)]] = Value;

/// Adds row `row` of A times B to a row of sums, in the order of k.
template <bool exact_products, typename Value, std::size_t m, std::size_t depth>
void add_products(const std::array<std::array<Value, m>, depth>& a, std::uint32_t row,
                  const std::array<std::array<Value, m>, depth>& b, Value* sums) {
  if constexpr (exact_products) {
    Line<Value, m> line, other;
    std::memcpy(&line, sums, sizeof(line));
    for (std::size_t k = 0; k < depth; ++k) {
      std::memcpy(&other, b[k].data(), sizeof(other));
      line += a[k][row] * other;
    }
    std::memcpy(sums, &line, sizeof(line));
  } else {
    std::array<Value, m> line;
    std::memcpy(line.data(), sums, sizeof(line));
    for (std::size_t k = 0; k < depth; ++k) {
      for (std::size_t j = 0; j < m; ++j) line[j] = std::fma(a[k][row], b[k][j], line[j]);
    }
    std::memcpy(sums, line.data(), sizeof(line));
  }
}

/// Adds A * B to the accumulator.
template <MatrixShape shape, bool exact_products, typename Value>
void accumulate(const Panel<shape, Value>& a, const Panel<shape, Value>& b,
                Accumulator<shape, Value>& sums) {
  for (std::uint32_t r = 0; r < shape.outputs_per_lane(); ++r) {
    for (std::uint32_t g = 0; g < shape.lane_groups(); ++g) {
      const OutputPlace place = output_place(shape, r, g);
      add_products<exact_products>(a[place.block], place.row, b[place.block],
                                   &sums[r][g * shape.m]);
    }
  }
}

/// Reads C from the operand `code`: registers, or an inline constant in every element.
template <typename Value, std::size_t count>
void read_accumulator(const Wave& wave, const Instruction& instruction, std::uint16_t code,
                      std::array<std::array<Value, wave_size>, count>& sums) {
  if (code < operand_vgpr) {
    Value value;
    if constexpr (sizeof(Value) == 8) {
      value = std::bit_cast<Value>(scalar_f64(wave, instruction, code));
    } else {
      value = std::bit_cast<Value>(scalar_u32(wave, instruction, code));
    }
    for (auto& line : sums) line.fill(value);
    return;
  }
  const VectorRegister* rows = wave.vgpr + (code - operand_vgpr);
  if constexpr (sizeof(Value) == 4) {
    std::memcpy(sums.data(), rows, sizeof(sums));
  } else {
    for (std::uint32_t e = 0; e < count; ++e) {
      for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
        sums[e][lane] =
            std::bit_cast<Value>(rows[2 * e][lane] | std::uint64_t{rows[2 * e + 1][lane]} << 32);
      }
    }
  }
}

/// Writes D, in every lane: EXEC does not count for matrix instructions.
template <typename Value, std::size_t count>
void write_accumulator(Wave& wave, const Instruction& instruction,
                       const std::array<std::array<Value, wave_size>, count>& sums) {
  VectorRegister* rows = wave.vgpr + (instruction.dst - operand_vgpr);
  if constexpr (sizeof(Value) == 4) {
    std::memcpy(rows, sums.data(), sizeof(sums));
  } else {
    for (std::uint32_t e = 0; e < count; ++e) {
      for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
        const auto bits = std::bit_cast<std::uint64_t>(sums[e][lane]);
        rows[2 * e][lane] = static_cast<std::uint32_t>(bits);
        rows[2 * e + 1][lane] = static_cast<std::uint32_t>(bits >> 32);
      }
    }
  }
}

/// Negates what the f64 modifiers name.
template <typename Array>
void negate_all(Array& values) {
  if constexpr (requires { values.size(); }) {
    for (auto& value : values) negate_all(value);
  } else {
    values = -values;
  }
}

/// The meaning of a dense matrix instruction.
template <MatrixShape shape, typename FormatA, typename FormatB = FormatA>
void multiply(Wave& wave, const Instruction& instruction) {
  using Value = typename FormatA::Value;
  constexpr bool f32_inputs = FormatA::bits == 32 && !FormatA::exact_products;
  const Modifiers modifiers = modifiers_of(wave, instruction, shape, f32_inputs);
  const VectorRegister* rows_a = wave.vgpr + (instruction.src[0] - operand_vgpr);
  const VectorRegister* rows_b = wave.vgpr + (instruction.src[1] - operand_vgpr);
  std::array<VectorRegister, shape.inputs_per_lane() * FormatA::bits / 32> copy_a, copy_b;
  if (modifiers.broadcast_log2 != 0) {
    broadcast_a(modifiers, shape, rows_a, copy_a.data(), copy_a.size());
    rows_a = copy_a.data();
  }
  if (modifiers.lanes_of_b != 0) {
    permute_b(modifiers, rows_b, copy_b.data(), copy_b.size());
    rows_b = copy_b.data();
  }
  alignas(64) Panel<shape, Value> a, b;
  read_panel<shape>(FormatA(wave), rows_a, a);
  read_panel<shape>(FormatB(wave), rows_b, b);
  alignas(64) Accumulator<shape, Value> sums;
  read_accumulator(wave, instruction, instruction.src[2], sums);
  if constexpr (shape.f64) {
    if ((modifiers.negate & 1) != 0) negate_all(a);
    if ((modifiers.negate & 2) != 0) negate_all(b);
    if ((modifiers.negate & 4) != 0) negate_all(sums);
  }
  accumulate<shape, FormatA::exact_products>(a, b, sums);
  write_accumulator(wave, instruction, sums);
}

}  // namespace hipgraph::emu::matrix
