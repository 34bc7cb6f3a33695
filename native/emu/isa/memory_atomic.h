#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "isa/memory_access.h"
#include "machine/float_formats.h"

/// Read-modify-write: every atomic is an operation, a word type and a memory.
namespace hipgraph::emu {

/// The operations. `apply` gives the new word; the old one is what the instruction returns.
/// T is std::uint32_t or std::uint64_t: words are bits, and an operation knows what they mean.
namespace atomic {

/// The signed type as wide as T.
template <typename T>
using Signed = std::make_signed_t<T>;
/// The floating-point type as wide as T.
template <typename T>
using Real = std::conditional_t<sizeof(T) == 4, float, double>;

/// Replaces the word.
struct Swap {
  template <typename T>
  static T apply(T /*old*/, T data) {
    return data;
  }
};
/// Replaces the word when it equals `compare`.
struct CompareSwap {
  template <typename T>
  static T apply(T old, T data, T compare) {
    return old == compare ? data : old;
  }
};
/// CompareSwap on floating-point values: -0 equals 0, NaN equals nothing.
struct CompareSwapFloat {
  template <typename T>
  static T apply(T old, T data, T compare) {
    return std::bit_cast<Real<T>>(old) == std::bit_cast<Real<T>>(compare) ? data : old;
  }
};
/// Wrapping sum.
struct Add {
  template <typename T>
  static T apply(T old, T data) {
    return old + data;
  }
};
/// Wrapping difference.
struct Subtract {
  template <typename T>
  static T apply(T old, T data) {
    return old - data;
  }
};
/// Wrapping difference the other way round.
struct ReverseSubtract {
  template <typename T>
  static T apply(T old, T data) {
    return data - old;
  }
};
/// Bitwise and.
struct And {
  template <typename T>
  static T apply(T old, T data) {
    return old & data;
  }
};
/// Bitwise or.
struct Or {
  template <typename T>
  static T apply(T old, T data) {
    return old | data;
  }
};
/// Bitwise exclusive or.
struct Xor {
  template <typename T>
  static T apply(T old, T data) {
    return old ^ data;
  }
};
/// Clears the bits of `data`, then sets those of `bits`.
struct MaskedOr {
  template <typename T>
  static T apply(T old, T data, T bits) {
    return (old & ~data) | bits;
  }
};
/// Counts up; from `data` on it starts at 0 again.
struct Increment {
  template <typename T>
  static T apply(T old, T data) {
    return old >= data ? 0 : old + 1;
  }
};
/// Counts down; 0 and whatever exceeds `data` become `data`.
struct Decrement {
  template <typename T>
  static T apply(T old, T data) {
    return old == 0 || old > data ? data : old - 1;
  }
};
/// Subtracts `data` if that does not go below 0, else adds `otherwise`.
struct Wrap {
  template <typename T>
  static T apply(T old, T data, T otherwise) {
    return old >= data ? old - data : old + otherwise;
  }
};
/// Signed minimum.
struct MinSigned {
  template <typename T>
  static T apply(T old, T data) {
    return static_cast<Signed<T>>(data) < static_cast<Signed<T>>(old) ? data : old;
  }
};
/// Signed maximum.
struct MaxSigned {
  template <typename T>
  static T apply(T old, T data) {
    return static_cast<Signed<T>>(data) > static_cast<Signed<T>>(old) ? data : old;
  }
};
/// Unsigned minimum.
struct MinUnsigned {
  template <typename T>
  static T apply(T old, T data) {
    return data < old ? data : old;
  }
};
/// Unsigned maximum.
struct MaxUnsigned {
  template <typename T>
  static T apply(T old, T data) {
    return data > old ? data : old;
  }
};
/// Floating-point sum, to nearest even. Denormals are kept: hardware flushes f32 ones on some
/// paths.
struct AddFloat {
  template <typename T>
  static T apply(T old, T data) {
    return std::bit_cast<T>(std::bit_cast<Real<T>>(old) + std::bit_cast<Real<T>>(data));
  }
};
/// Floating-point minimum: a NaN loses against a number, and -0 is below 0.
struct MinFloat {
  template <typename T>
  static T apply(T old, T data) {
    const auto a = std::bit_cast<Real<T>>(old), b = std::bit_cast<Real<T>>(data);
    if (std::isnan(a)) return data;
    return b < a || (b == a && std::signbit(b)) ? data : old;
  }
};
/// Floating-point maximum: a NaN loses against a number, and 0 is above -0.
struct MaxFloat {
  template <typename T>
  static T apply(T old, T data) {
    const auto a = std::bit_cast<Real<T>>(old), b = std::bit_cast<Real<T>>(data);
    if (std::isnan(a)) return data;
    return b > a || (b == a && !std::signbit(b)) ? data : old;
  }
};
/// Sums of both halves, each rounded once: f32 holds enough bits that rounding twice is harmless.
template <typename Narrow, float (*widen)(Narrow), Narrow (*narrow)(float)>
struct PackedAdd {
  static std::uint32_t apply(std::uint32_t old, std::uint32_t data) {
    const auto sum = [&](std::uint32_t shift) -> std::uint32_t {
      const Narrow a{static_cast<std::uint16_t>(old >> shift)};
      const Narrow b{static_cast<std::uint16_t>(data >> shift)};
      return std::uint32_t{narrow(widen(a) + widen(b)).bits} << shift;
    };
    return sum(0) | sum(16);
  }
};
/// Packed f16 sum.
using PackedAddF16 = PackedAdd<Half, f32_from_f16, f16_from_f32>;
/// Packed bf16 sum.
using PackedAddBf16 = PackedAdd<BFloat, f32_from_bf16, bf16_from_f32>;

}  // namespace atomic

/// The rows an atomic works with; `second` is read only by operations of two operands, `returned`
/// is null when the old value is not wanted.
struct AtomicRows {
  const VectorRegister* first;
  const VectorRegister* second;
  VectorRegister* returned;
};

/// The rows of an instruction whose data operands lie behind each other in `data`, and which
/// returns the old value when its sc0 bit asks for it.
template <typename T>
AtomicRows atomic_rows(Wave& wave, const Instruction& instruction) {
  const VectorRegister* data = rows_of(wave, instruction.data);
  return {data, data + sizeof(T) / 4, instruction.sc0 ? rows_of(wave, instruction.dst) : nullptr};
}

/// One lane's word of 4 or 8 bytes out of its rows.
template <typename T>
T word_of(const VectorRegister* rows, std::uint32_t lane) {
  if constexpr (sizeof(T) == 4) {
    return rows[0][lane];
  } else {
    return rows[0][lane] | std::uint64_t{rows[1][lane]} << 32;
  }
}

/// Puts one lane's word of 4 or 8 bytes into its rows.
template <typename T>
void set_word(VectorRegister* rows, std::uint32_t lane, T value) {
  rows[0][lane] = static_cast<std::uint32_t>(value);
  if constexpr (sizeof(T) == 8) rows[1][lane] = static_cast<std::uint32_t>(value >> 32);
}

/// Applies the operation to one word with a real CPU atomic: kernels on other threads and other
/// processes may touch it at the same time. Returns the old word and whether it changed.
template <typename Operation, typename T, typename... Data>
std::pair<T, bool> atomic_update(std::uint8_t* address, Data... data) {
  T* word = reinterpret_cast<T*>(address);
  T old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  T next = Operation::apply(old, data...);
  while (
      !__atomic_compare_exchange_n(word, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    next = Operation::apply(old, data...);
  }
  return {old, next != old};
}

/// Whether an operation takes two data operands.
template <typename Operation, typename T>
constexpr bool takes_two = requires(T value) { Operation::apply(value, value, value); };

/// Runs an atomic for the active lanes, ascending, so that float sums have one order.
template <typename Operation, typename T, typename Space>
void atomic_lanes(Space space, const LaneAddresses& lanes, const AtomicRows& rows) {
  if (lanes.mask == 0) return;
  T seen = 0;  // by the first active lane
  const auto first = static_cast<std::uint32_t>(std::countr_zero(lanes.mask));
  for_each_lane(lanes.mask, [&](std::uint32_t lane) {
    std::uint8_t* address = space.word(lane, lanes.of[lane], sizeof(T));
    const T data = word_of<T>(rows.first, lane);
    std::pair<T, bool> result;
    if constexpr (takes_two<Operation, T>) {
      result = atomic_update<Operation, T>(address, data, word_of<T>(rows.second, lane));
    } else {
      result = atomic_update<Operation, T>(address, data);
    }
    space.wrote(lanes.of[lane], sizeof(T), result.second);
    if (lane == first) seen = result.first;
    if (rows.returned != nullptr) set_word(rows.returned, lane, result.first);
  });
  space.finish_writes();
  if (rows.returned != nullptr) {
    space.finish_reads(lanes.of[first], sizeof(T), static_cast<std::uint32_t>(seen));
  }
}

}  // namespace hipgraph::emu
