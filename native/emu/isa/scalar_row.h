#pragma once
#include <cstdint>

#include "isa/instruction.h"
#include "isa/operand.h"
#include "machine/wave.h"

/// How a function of scalar values becomes a row of a scalar table. Operand widths come from the
/// function's types, so that they cannot disagree with what it reads.
namespace hipgraph::emu::scalar {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

template <typename T>
T read(const Wave& wave, const Instruction& in, std::uint32_t code) {
  if constexpr (sizeof(T) == 4) {
    return static_cast<T>(scalar_u32(wave, in, code));
  } else if constexpr (static_cast<T>(-1) < T{0}) {
    return static_cast<T>(scalar_i64(wave, in, code));
  } else {
    return scalar_u64(wave, in, code);
  }
}

template <typename T>
void write(Wave& wave, std::uint32_t code, T value) {
  if constexpr (sizeof(T) == 4) {
    set_scalar_u32(wave, code, static_cast<u32>(value));
  } else {
    set_scalar_u64(wave, code, static_cast<u64>(value));
  }
}

/// Registers of a value of type T.
template <typename T>
constexpr std::uint8_t width_of = sizeof(T) / 4;

/// `value`, with SCC telling whether it is not zero: the rule of logic, shifts and counts.
template <typename T>
T with_scc(Wave& wave, T value) {
  wave.scc = value != 0;
  return value;
}

/// D = F(wave, S0).
template <auto F, typename R, typename A>
constexpr Row unary_row(R (*)(Wave&, A), std::uint16_t opcode, const char* mnemonic) {
  const Execute execute = [](Wave& wave, const Instruction& in) {
    write<R>(wave, in.dst, F(wave, read<A>(wave, in, in.src[0])));
  };
  return {opcode, all_targets, mnemonic, execute, {width_of<R>, width_of<A>}, 0};
}
template <auto F>
constexpr Row unary(std::uint16_t opcode, const char* mnemonic) {
  return unary_row<F>(+F, opcode, mnemonic);
}

/// D = F(wave, old D, S0).
template <auto F, typename R, typename A>
constexpr Row update_row(R (*)(Wave&, R, A), std::uint16_t opcode, const char* mnemonic) {
  const Execute execute = [](Wave& wave, const Instruction& in) {
    write<R>(wave, in.dst, F(wave, read<R>(wave, in, in.dst), read<A>(wave, in, in.src[0])));
  };
  return {opcode, all_targets, mnemonic, execute, {width_of<R>, width_of<A>}, kReadsDst};
}
template <auto F>
constexpr Row update(std::uint16_t opcode, const char* mnemonic) {
  return update_row<F>(+F, opcode, mnemonic);
}

/// D = F(wave, S0, S1).
template <auto F, typename R, typename A, typename B>
constexpr Row binary_row(R (*)(Wave&, A, B), std::uint16_t opcode, const char* mnemonic) {
  const Execute execute = [](Wave& wave, const Instruction& in) {
    write<R>(wave, in.dst, F(wave, read<A>(wave, in, in.src[0]), read<B>(wave, in, in.src[1])));
  };
  return {opcode, all_targets, mnemonic, execute, {width_of<R>, width_of<A>, width_of<B>}, 0};
}
template <auto F>
constexpr Row binary(std::uint16_t opcode, const char* mnemonic) {
  return binary_row<F>(+F, opcode, mnemonic);
}

/// SCC = F(S0, S1).
template <auto F, typename A, typename B>
constexpr Row compare_row(bool (*)(A, B), std::uint16_t opcode, const char* mnemonic) {
  const Execute execute = [](Wave& wave, const Instruction& in) {
    wave.scc = F(read<A>(wave, in, in.src[0]), read<B>(wave, in, in.src[1]));
  };
  return {opcode, all_targets, mnemonic, execute, {0, width_of<A>, width_of<B>}, 0};
}
template <auto F>
constexpr Row compare(std::uint16_t opcode, const char* mnemonic) {
  return compare_row<F>(+F, opcode, mnemonic);
}

}  // namespace hipgraph::emu::scalar
