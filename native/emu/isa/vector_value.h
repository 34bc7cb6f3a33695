#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "machine/float_formats.h"
#include "machine/target.h"

/// The types that the lambda of a vector row may take and return, and how a lane of each is read
/// from register rows and written to them.
namespace hipgraph::emu::vector {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

/// How an operand lies in registers and which modifiers it takes.
enum class Kind : u8 {
  None,
  B16,
  F16,
  R16,
  BF16,
  B32,
  F32,
  R32,
  B64,
  I64,
  F64,
  R64,
  PB16,
  PF16,
  PBF16,
  PB32,
  PF32  // packed pairs; the last two in two registers
};

/// Registers of an operand.
constexpr u8 rows_of(Kind kind) {
  switch (kind) {
    case Kind::None: return 0;
    case Kind::B64:
    case Kind::I64:
    case Kind::F64:
    case Kind::R64:
    case Kind::PB32:
    case Kind::PF32: return 2;
    default: return 1;
  }
}

/// What all lanes of one instruction share.
struct Context {
  Target target;
  u32 mode;
  u32 parameter;  ///< of rows that encode one in place of modifiers
  bool ieee() const { return (mode >> 9 & 1) != 0; }
  bool f16_overflow_clamps() const { return (mode >> 23 & 1) != 0; }
};

template <typename T>
struct Carry {
  T value;
  bool carry;
};

template <typename T>
struct Old {
  T value;
};

template <typename T>
struct Raw {
  T bits;
};

template <typename T>
struct Pair {
  T low, high;
};

struct Lane {
  u32 number;
};

/// Row pointers of one execution. Register rows are contiguous, so a 64-bit operand is two rows.
struct Lanes {
  std::array<const u32*, 4> source;  ///< the fourth: the destination before the instruction
  const u32* mask;                   ///< flags of the mask source
  u32* result;
  u32* flags;  ///< flags of the mask result
  Context context;
};

/// The kind of a value type, and how a lane of it is read and written.
template <typename T>
struct Value;

template <typename T, Kind K>
struct ShortValue {
  static constexpr Kind kind = K;
  static T load(const u32* row, std::size_t i) {
    return std::bit_cast<T>(static_cast<u16>(row[i]));
  }
  static void store(u32* row, std::size_t i, T value) { row[i] = std::bit_cast<u16>(value); }
  static T load_packed(const u32* row, std::size_t i) {
    T value;
    std::memcpy(&value, reinterpret_cast<const char*>(row) + 2 * i, 2);
    return value;
  }
  static void store_packed(u32* row, std::size_t i, T value) {
    std::memcpy(reinterpret_cast<char*>(row) + 2 * i, &value, 2);
  }
};

template <typename T, Kind K>
struct WordValue {
  static constexpr Kind kind = K;
  static T load(const u32* row, std::size_t i) { return std::bit_cast<T>(row[i]); }
  static void store(u32* row, std::size_t i, T value) { row[i] = std::bit_cast<u32>(value); }
  static T load_packed(const u32* row, std::size_t i) { return load(row, i); }
  static void store_packed(u32* row, std::size_t i, T value) { store(row, i, value); }
};

template <typename T, Kind K>
struct WideValue {
  static constexpr Kind kind = K;
  static T load(const u32* row, std::size_t i) {
    return std::bit_cast<T>(row[i] | static_cast<u64>(row[i + wave_size]) << 32);
  }
  static void store(u32* row, std::size_t i, T value) {
    row[i] = static_cast<u32>(std::bit_cast<u64>(value));
    row[i + wave_size] = static_cast<u32>(std::bit_cast<u64>(value) >> 32);
  }
};

template <>
struct Value<u16> : ShortValue<u16, Kind::B16> {};
template <>
struct Value<i16> : ShortValue<i16, Kind::B16> {};
template <>
struct Value<Half> : ShortValue<Half, Kind::F16> {};
template <>
struct Value<BFloat> : ShortValue<BFloat, Kind::BF16> {};
template <>
struct Value<Raw<u16>> : ShortValue<Raw<u16>, Kind::R16> {};
template <>
struct Value<u32> : WordValue<u32, Kind::B32> {};
template <>
struct Value<i32> : WordValue<i32, Kind::B32> {};
template <>
struct Value<float> : WordValue<float, Kind::F32> {};
template <>
struct Value<Raw<u32>> : WordValue<Raw<u32>, Kind::R32> {};
template <>
struct Value<Pair<u16>> : WordValue<Pair<u16>, Kind::PB16> {};
template <>
struct Value<Pair<i16>> : WordValue<Pair<i16>, Kind::PB16> {};
template <>
struct Value<Pair<Half>> : WordValue<Pair<Half>, Kind::PF16> {};
template <>
struct Value<Pair<BFloat>> : WordValue<Pair<BFloat>, Kind::PBF16> {};
template <>
struct Value<u64> : WideValue<u64, Kind::B64> {};
template <>
struct Value<i64> : WideValue<i64, Kind::I64> {};
template <>
struct Value<double> : WideValue<double, Kind::F64> {};
template <>
struct Value<Raw<u64>> : WideValue<Raw<u64>, Kind::R64> {};
template <>
struct Value<Pair<u32>> : WideValue<Pair<u32>, Kind::PB32> {};
template <>
struct Value<Pair<float>> : WideValue<Pair<float>, Kind::PF32> {};
template <typename T>
struct Value<Carry<T>> : Value<T> {};

/// A parameter of a lambda: which source slot it takes, if any.
template <typename P>
struct Parameter {
  static constexpr bool is_source = true, is_mask = false, is_old = false;
  static constexpr Kind kind = Value<P>::kind;
  template <bool Packed>
  static P load(const Lanes& lanes, std::size_t slot, std::size_t i) {
    if constexpr (Packed)
      return Value<P>::load_packed(lanes.source[slot], i);
    else
      return Value<P>::load(lanes.source[slot], i);
  }
};

template <>
struct Parameter<bool> {
  static constexpr bool is_source = false, is_mask = true, is_old = false;
  static constexpr Kind kind = Kind::None;
  template <bool Packed>
  static bool load(const Lanes& lanes, std::size_t, std::size_t i) {
    return lanes.mask[i] != 0;
  }
};

template <typename T>
struct Parameter<Old<T>> {
  static constexpr bool is_source = false, is_mask = false, is_old = true;
  static constexpr Kind kind = Value<T>::kind;
  template <bool Packed>
  static Old<T> load(const Lanes& lanes, std::size_t, std::size_t i) {
    return {Parameter<T>::template load<Packed>(lanes, 3, i)};
  }
};

template <>
struct Parameter<Lane> {
  static constexpr bool is_source = false, is_mask = false, is_old = false;
  static constexpr Kind kind = Kind::None;
  template <bool Packed>
  static Lane load(const Lanes&, std::size_t, std::size_t i) {
    return {static_cast<u32>(i)};
  }
};

template <>
struct Parameter<const Context&> {
  static constexpr bool is_source = false, is_mask = false, is_old = false;
  static constexpr Kind kind = Kind::None;
  template <bool Packed>
  static const Context& load(const Lanes& lanes, std::size_t, std::size_t) {
    return lanes.context;
  }
};

}  // namespace hipgraph::emu::vector
