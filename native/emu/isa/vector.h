#pragma once
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "isa/instruction.h"
#include "isa/vector_value.h"
#include "machine/wave.h"

/// The engine of the vector ALU rows. The meaning of a row is a stateless lambda over the values
/// of one lane; operand kinds, register widths and flags of the row follow from its signature:
///   u16 i16 u32 i32 u64 i64 float double Half BFloat   sources in order, or the result
///   bool                                               a lane of the mask source, or a mask result
///   Carry<T>                                           a result with a lane of the mask result
///   Old<T>                                             the destination before the instruction
///   Raw<T>                                             bits that take float modifiers, not flushed
///   Pair<T>                                            both halves of a packed source or result
///   Lane                                               the lane's number
///   const Context&                                     what is the same for all lanes
namespace hipgraph::emu::vector {

using Kernel = void (*)(const Lanes&);

/// What a row honours beyond the plain forms.
enum Option : u16 {
  kPlain = 0,
  kRounds = 1,        ///< the host's rounding mode gives MODE's rounding
  kExact = 2,         ///< the result needs no rounding, or the lambda sees to it
  kOpSel = 4,         ///< op_sel picks 16-bit halves; the other half of the destination stays
  kKeepsHigh = 8,     ///< a 16-bit result leaves the high half alone
  kOpSelByte = 16,    ///< op_sel[3:2] picks the byte of the destination; the others stay
  kWritesExec = 32,   ///< v_cmpx
  kLiteral = 64,      ///< madmk, madak and their like
  kScalarPair = 128,  ///< VOP3B: the mask result goes to an SGPR pair in every form
  kVccMask = 256,     ///< the mask source is VCC in every form (v_div_fmas)
  kPacked = 512       ///< one lambda call for each element of a packed pair
};

/// A row as the engine sees it.
struct Meaning {
  Kernel kernel = nullptr;
  Kernel saturating = nullptr;  ///< the kernel when clamp is set and the result is an integer
  Kind result = Kind::None;
  std::array<Kind, 3> source{Kind::None, Kind::None, Kind::None};
  bool reads_mask = false, writes_mask = false, reads_old = false;
  u16 options = kPlain;
  u32 mode_care = 0;      ///< MODE bits that matter to the row
  u32 mode_expected = 0;  ///< their values on the fast path
};

namespace mode_bit {
constexpr u32 f32_round = 3, f16_f64_round = 3 << 2, f32_denormals = 3 << 4;
constexpr u32 f16_f64_denormals = 3 << 6, f16_overflow = 1 << 23;
}  // namespace mode_bit

/// MODE bits that matter to an operand of `kind`.
constexpr u32 denormal_bits(Kind kind) {
  switch (kind) {
    case Kind::F32:
    case Kind::PF32: return mode_bit::f32_denormals;
    case Kind::F16:
    case Kind::PF16:
    case Kind::F64: return mode_bit::f16_f64_denormals;
    default: return 0;
  }
}

/// MODE bits that say how a result of `kind` is rounded.
constexpr u32 rounding_bits(Kind kind) {
  switch (kind) {
    case Kind::F32:
    case Kind::PF32: return mode_bit::f32_round;
    case Kind::F64: return mode_bit::f16_f64_round;
    case Kind::F16:
    case Kind::PF16: return mode_bit::f16_f64_round | mode_bit::f16_overflow;
    default: return 0;
  }
}

/// Executes one row for one wave.
void execute(Wave& wave, const Instruction& instruction, const Meaning& meaning, u32 parameter = 0);

template <typename R>
struct IsCarry : std::false_type {};
template <typename T>
struct IsCarry<Carry<T>> : std::true_type {};

/// Everything about a lambda that its signature tells.
template <typename Call>
struct Signature;

template <typename L, typename R, typename... P>
struct Signature<R (L::*)(P...) const> {
  static constexpr bool compares = std::is_same_v<R, bool>;
  static constexpr bool carries = IsCarry<R>::value;
  static constexpr bool reads_mask = (Parameter<P>::is_mask || ...);
  static constexpr bool reads_old = (Parameter<P>::is_old || ...);

  /// The source slot of each parameter.
  static constexpr std::array<std::size_t, sizeof...(P)> slots() {
    std::array<std::size_t, sizeof...(P)> result{};
    const std::array<bool, sizeof...(P)> takes{Parameter<P>::is_source...};
    std::size_t next = 0;
    for (std::size_t i = 0; i < takes.size(); ++i) result[i] = takes[i] ? next++ : 0;
    return result;
  }

  static constexpr std::array<Kind, 3> sources() {
    std::array<Kind, 3> result{Kind::None, Kind::None, Kind::None};
    const std::array<bool, sizeof...(P)> takes{Parameter<P>::is_source...};
    const std::array<Kind, sizeof...(P)> kinds{Parameter<P>::kind...};
    for (std::size_t i = 0; i < takes.size(); ++i) {
      if (takes[i]) result[slots()[i]] = kinds[i];
    }
    return result;
  }

  static constexpr Kind result() {
    if constexpr (compares)
      return Kind::None;
    else
      return Value<R>::kind;
  }

  template <bool Packed>
  static void store(const Lanes& lanes, std::size_t i, R value) {
    if constexpr (compares) {
      lanes.flags[i] = value ? ~0U : 0;
    } else if constexpr (carries) {
      Value<R>::store(lanes.result, i, value.value);
      lanes.flags[i] = value.carry ? ~0U : 0;
    } else if constexpr (Packed) {
      Value<R>::store_packed(lanes.result, i, value);
    } else {
      Value<R>::store(lanes.result, i, value);
    }
  }

  /// The loop over the lanes. A lane reads and writes only its own column of the register rows,
  /// so iterations are independent even where the destination is also a source.
  template <auto F, bool Packed, std::size_t... I>
  [[gnu::flatten]] static void run(const Lanes& given, std::index_sequence<I...>) {
    const Lanes lanes = given;
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"  // calls into libm stay scalar loops
#pragma clang loop vectorize(assume_safety)
    for (std::size_t i = 0; i < (Packed ? 2 * wave_size : wave_size); ++i) {
      store<Packed>(lanes, i, F(Parameter<P>::template load<Packed>(lanes, slots()[I], i)...));
    }
#pragma clang diagnostic pop
  }

  template <auto F, bool Packed>
  static void kernel(const Lanes& lanes) {
    run<F, Packed>(lanes, std::index_sequence_for<P...>{});
  }
};

template <auto F>
using SignatureOf = Signature<decltype(&decltype(F)::operator())>;

/// The packed form of an element's kind.
constexpr Kind packed_kind(Kind kind) {
  switch (kind) {
    case Kind::B16: return Kind::PB16;
    case Kind::F16: return Kind::PF16;
    case Kind::BF16: return Kind::PBF16;
    case Kind::F32: return Kind::PF32;
    default: return kind;
  }
}

/// Fills in what follows from the kinds.
constexpr Meaning with_mode(Meaning meaning) {
  if ((meaning.options & kPacked) != 0) {
    meaning.result = packed_kind(meaning.result);
    for (Kind& kind : meaning.source) kind = packed_kind(kind);
  }
  u32 denormals = denormal_bits(meaning.result);
  for (const Kind kind : meaning.source) denormals |= denormal_bits(kind);
  const u32 rounding = (meaning.options & kExact) != 0 ? 0 : rounding_bits(meaning.result);
  meaning.mode_care = denormals | rounding;
  meaning.mode_expected = denormals;
  return meaning;
}

template <auto F, bool Packed>
constexpr Kernel kernel_or_null() {
  if constexpr (std::is_null_pointer_v<decltype(F)>)
    return nullptr;
  else
    return &SignatureOf<F>::template kernel<F, Packed>;
}

template <auto F, unsigned Options, auto Saturating>
constexpr Meaning make_meaning() {
  using S = SignatureOf<F>;
  constexpr bool packed = (Options & kPacked) != 0;
  return with_mode({.kernel = kernel_or_null<F, packed>(),
                    .saturating = kernel_or_null<Saturating, packed>(),
                    .result = S::result(),
                    .source = S::sources(),
                    .reads_mask = S::reads_mask,
                    .writes_mask = S::compares || S::carries,
                    .reads_old = S::reads_old,
                    .options = Options});
}

/// The meaning of a lambda; `Saturating` replaces it when an integer row has clamp set.
template <auto F, unsigned Options = kPlain, auto Saturating = nullptr>
inline constexpr Meaning meaning = make_meaning<F, Options, Saturating>();

/// Whether the result leaves a part of its register as it was.
constexpr bool is_partial(const Meaning& m) {
  const bool half = m.result == Kind::B16 || m.result == Kind::F16 || m.result == Kind::BF16;
  return (m.options & (kKeepsHigh | kOpSelByte)) != 0 || ((m.options & kOpSel) != 0 && half);
}

/// The flags of a row whose meaning is known.
constexpr u16 flags_of(const Meaning& m) {
  const bool compares = m.writes_mask && m.result == Kind::None;
  const bool carries = m.writes_mask && !compares;
  const bool vop3b = (m.options & kScalarPair) != 0;
  return static_cast<u16>((m.reads_mask ? kReadsVcc : 0) | (carries && !vop3b ? kWritesVcc : 0) |
                          (compares ? kMaskDst : 0) | (vop3b ? kHasSdst : 0) |
                          (m.reads_old || is_partial(m) ? kReadsDst : 0) |
                          ((m.options & kLiteral) != 0 ? kLiteralK : 0));
}

/// The widths of a row whose meaning is known.
constexpr Widths widths_of(const Meaning& m) {
  const bool compares = m.writes_mask && m.result == Kind::None;
  return {.dst = compares ? u8{2} : rows_of(m.result),
          .src0 = rows_of(m.source[0]),
          .src1 = rows_of(m.source[1]),
          .src2 = rows_of(m.source[2])};
}

template <const Meaning& M>
void execute_row(Wave& wave, const Instruction& instruction) {
  execute(wave, instruction, M);
}

/// One row of a table.
template <auto F, unsigned Options = kPlain, auto Saturating = nullptr>
constexpr Row row(u16 opcode, const char* mnemonic, TargetMask targets = all_targets) {
  constexpr const Meaning& m = meaning<F, Options, Saturating>;
  return {opcode, targets, mnemonic, &execute_row<m>, widths_of(m), flags_of(m)};
}

/// A row that is known and refused.
constexpr Row refused(u16 opcode, const char* mnemonic, Widths widths,
                      TargetMask targets = all_targets, u16 flags = 0) {
  return {opcode, targets, mnemonic, nullptr, widths, flags};
}

/// The trap for a modifier that an instruction does not take here.
[[noreturn]] void refuse(const Instruction& instruction, const char* what);

}  // namespace hipgraph::emu::vector
