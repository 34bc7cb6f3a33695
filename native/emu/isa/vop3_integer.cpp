#include "isa/integer_math.h"
#include "isa/tables.h"
#include "isa/vector.h"
#include "isa/vop3_rows.h"

namespace hipgraph::emu::tables {
namespace {

using namespace vector;
using namespace integer_math;

u32 bits_below(u32 width) { return (1U << width) - 1; }

i32 extract_signed(i32 value, u32 offset, u32 width) {
  const u32 field = static_cast<u32>(value >> (offset & 31)) & bits_below(width & 31);
  const u32 sign = (width & 31) == 0 ? 0 : 1U << ((width & 31) - 1);
  return static_cast<i32>((field ^ sign) - sign);
}

u32 lerp_u8(u32 a, u32 b, u32 round) {
  u32 result = 0;
  for (u32 at = 0; at < 32; at += 8) {
    const u32 sum = (a >> at & 0xff) + (b >> at & 0xff) + (round >> at & 1);
    result |= sum >> 1 << at;
  }
  return result;
}

/// One byte of v_perm_b32: 0-3 pick a byte of `low`, 4-7 of `high`, 8-11 the sign of bytes 1, 3,
/// 5, 7 spread over the byte, 12 is zero, above it all ones.
[[gnu::always_inline]] inline u32 permuted_byte(u32 high, u32 low, u32 selector) {
  const u32 picked = ((selector & 4) != 0 ? high : low) >> (selector & 3) * 8 & 0xff;
  const u32 signs = (selector & 2) != 0 ? high : low;
  const u32 sign = (signs >> ((selector & 1) * 16 + 15) & 1) * 0xff;
  const u32 special = selector < 12 ? sign : selector == 12 ? 0 : 0xff;
  return selector < 8 ? picked : special;
}

[[gnu::always_inline]] inline u32 permute(u32 high, u32 low, u32 selectors) {
  return permuted_byte(high, low, selectors & 0xff) |
         permuted_byte(high, low, selectors >> 8 & 0xff) << 8 |
         permuted_byte(high, low, selectors >> 16 & 0xff) << 16 |
         permuted_byte(high, low, selectors >> 24) << 24;
}

u32 shift_pair(u32 high, u32 low, u32 count) {
  return static_cast<u32>((u64{high} << 32 | low) >> count);
}

/// v_mad_u64_u32 and v_mad_i64_i32: the mask result is bit 64 of the sum.
Carry<u64> multiply_add_u64(u32 a, u32 b, u64 c) {
  const u64 sum = u64{a} * b + c;
  return {sum, sum < c};
}
Carry<i64> multiply_add_i64(i32 a, i32 b, i64 c) {
  const i64 product = i64{a} * b;
  const u64 sum = static_cast<u64>(product) + static_cast<u64>(c);
  const bool carry = sum < static_cast<u64>(c);
  return {static_cast<i64>(sum), carry != ((product < 0) != (c < 0))};
}

/// Any function of three bits: bit n of the table is the result where the sources' bits read n.
u32 lookup(u32 a, u32 b, u32 c, u32 table) {
  u32 result = 0;
  for (u32 entry = 0; entry < 8; ++entry) {
    const u32 matches =
        ((entry & 4) != 0 ? a : ~a) & ((entry & 2) != 0 ? b : ~b) & ((entry & 1) != 0 ? c : ~c);
    result |= (table >> entry & 1) != 0 ? matches : 0;
  }
  return result;
}

/// v_bitop3 keeps its table in the bits that other rows use for modifiers.
template <const Meaning& M>
void bitop3(Wave& wave, const Instruction& in) {
  Instruction plain = in;
  const auto table = static_cast<u32>(in.omod << 6 | in.abs << 3 | in.neg);
  plain.omod = plain.abs = plain.neg = 0;
  execute(wave, plain, M, table);
}
constexpr auto lookup_b32 = [](u32 a, u32 b, u32 c, const Context& context) {
  return lookup(a, b, c, context.parameter);
};
constexpr auto lookup_b16 = [](u16 a, u16 b, u16 c, const Context& context) {
  return static_cast<u16>(lookup(a, b, c, context.parameter));
};

u16 shifted_pair_i8(i32 a, i32 b, u32 count) {
  const auto low = static_cast<u8>(saturated<i8>(a >> (count & 31)));
  const auto high = static_cast<u8>(saturated<i8>(b >> (count & 31)));
  return static_cast<u16>(low | high << 8);
}
u16 shifted_pair_u8(i32 a, i32 b, u32 count) {
  const auto low = saturated<u8>(a >> (count & 31));
  const auto high = saturated<u8>(b >> (count & 31));
  return static_cast<u16>(low | high << 8);
}

constexpr auto mad_u16 = [](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); };
constexpr auto mad_i16 = [](i16 a, i16 b, i16 c) { return static_cast<i16>(a * b + c); };
constexpr auto mad_u16_saturated = [](u16 a, u16 b, u16 c) {
  return saturated<u16>(i64{a} * b + c);
};
constexpr auto mad_i16_saturated = [](i16 a, i16 b, i16 c) {
  return saturated<i16>(i64{a} * b + c);
};

constexpr Row integer_rows[]{
    row<[](u32 a, u32 b, u32 c) { return static_cast<u32>(i24(a)) * static_cast<u32>(i24(b)) + c; },
        kPlain, [](u32 a, u32 b, i32 c) { return saturated<i32>(i64{i24(a)} * i24(b) + c); }>(
        450, "v_mad_i32_i24"),
    row<[](u32 a, u32 b, u32 c) { return u24(a) * u24(b) + c; }, kPlain,
        [](u32 a, u32 b, u32 c) { return saturated<u32>(i64{u24(a)} * u24(b) + c); }>(
        451, "v_mad_u32_u24"),
    row<[](u32 a, u32 b, u32 c) { return (a >> (b & 31)) & bits_below(c & 31); }>(456, "v_bfe_u32"),
    row<[](i32 a, u32 b, u32 c) { return extract_signed(a, b, c); }>(457, "v_bfe_i32"),
    row<[](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }>(458, "v_bfi_b32"),
    row<[](u32 a, u32 b, u32 c) { return lerp_u8(a, b, c); }>(461, "v_lerp_u8"),
    row<[](u32 a, u32 b, u32 c) { return shift_pair(a, b, c & 31); }>(462, "v_alignbit_b32"),
    row<[](u32 a, u32 b, u32 c) { return shift_pair(a, b, (c & 3) * 8); }>(463, "v_alignbyte_b32"),
    row<[](i32 a, i32 b, i32 c) { return smaller(smaller(a, b), c); }>(465, "v_min3_i32"),
    row<[](u32 a, u32 b, u32 c) { return smaller(smaller(a, b), c); }>(466, "v_min3_u32"),
    row<[](i32 a, i32 b, i32 c) { return larger(larger(a, b), c); }>(468, "v_max3_i32"),
    row<[](u32 a, u32 b, u32 c) { return larger(larger(a, b), c); }>(469, "v_max3_u32"),
    row<[](i32 a, i32 b, i32 c) { return middle(a, b, c); }>(471, "v_med3_i32"),
    row<[](u32 a, u32 b, u32 c) { return middle(a, b, c); }>(472, "v_med3_u32"),
    row<[](u32 a, u32 b, u32 c) { return sum_of_differences<8>(a, b) + c; }>(473, "v_sad_u8"),
    row<[](u32 a, u32 b, u32 c) { return (sum_of_differences<8>(a, b) << 16) + c; }>(474,
                                                                                     "v_sad_hi_u8"),
    row<[](u32 a, u32 b, u32 c) { return sum_of_differences<16>(a, b) + c; }>(475, "v_sad_u16"),
    row<[](u32 a, u32 b, u32 c) { return difference(a, b) + c; }>(476, "v_sad_u32"),
    row<[](u32 a, u32 b, u32 c) { return sum_of_differences<8, true>(a, b) + c; }>(484,
                                                                                   "v_msad_u8"),
    refused(485, "v_qsad_pk_u16_u8", {2, 2, 1, 2}),
    refused(486, "v_mqsad_pk_u16_u8", {2, 2, 1, 2}),
    refused(487, "v_mqsad_u32_u8", {4, 2, 1, 4}),
    row<[](u32 a, u32 b, u64 c) { return multiply_add_u64(a, b, c); }, kScalarPair>(
        488, "v_mad_u64_u32"),
    row<[](i32 a, i32 b, i64 c) { return multiply_add_i64(a, b, c); }, kScalarPair>(
        489, "v_mad_i64_i32"),
    row<mad_u16, kPlain, mad_u16_saturated>(491, "v_mad_legacy_u16"),
    row<mad_i16, kPlain, mad_i16_saturated>(492, "v_mad_legacy_i16"),
    row<[](u32 a, u32 b, u32 c) { return permute(a, b, c); }>(493, "v_perm_b32"),
    row<[](u16 a, u16 b, u32 c) { return u32{a} * b + c; }, kOpSel,
        [](u16 a, u16 b, u32 c) { return saturated<u32>(i64{a} * b + c); }>(497, "v_mad_u32_u16"),
    row<[](i16 a, i16 b, u32 c) { return static_cast<u32>(a * b) + c; }, kOpSel,
        [](i16 a, i16 b, i32 c) { return saturated<i32>(i64{a} * b + c); }>(498, "v_mad_i32_i16"),
    row<[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>(499, "v_xad_u32"),
    row<[](i16 a, i16 b, i16 c) { return smaller(smaller(a, b), c); }, kOpSel>(501, "v_min3_i16"),
    row<[](u16 a, u16 b, u16 c) { return smaller(smaller(a, b), c); }, kOpSel>(502, "v_min3_u16"),
    row<[](i16 a, i16 b, i16 c) { return larger(larger(a, b), c); }, kOpSel>(504, "v_max3_i16"),
    row<[](u16 a, u16 b, u16 c) { return larger(larger(a, b), c); }, kOpSel>(505, "v_max3_u16"),
    row<[](i16 a, i16 b, i16 c) { return middle(a, b, c); }, kOpSel>(507, "v_med3_i16"),
    row<[](u16 a, u16 b, u16 c) { return middle(a, b, c); }, kOpSel>(508, "v_med3_u16"),
    row<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }>(509, "v_lshl_add_u32"),
    row<[](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }>(510, "v_add_lshl_u32"),
    row<[](u32 a, u32 b, u32 c) { return a + b + c; }>(511, "v_add3_u32"),
    row<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; }>(512, "v_lshl_or_b32"),
    row<[](u32 a, u32 b, u32 c) { return (a & b) | c; }>(513, "v_and_or_b32"),
    row<[](u32 a, u32 b, u32 c) { return a | b | c; }>(514, "v_or3_b32"),
    row<mad_u16, kOpSel, mad_u16_saturated>(516, "v_mad_u16"),
    row<mad_i16, kOpSel, mad_i16_saturated>(517, "v_mad_i16"),
    row<[](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; }>(520, "v_lshl_add_u64",
                                                                since_gfx942),
    {563,
     gfx950_only,
     "v_bitop3_b16",
     bitop3<meaning<lookup_b16, kOpSel>>,
     {1, 1, 1, 1},
     kReadsDst},
    {564, gfx950_only, "v_bitop3_b32", bitop3<meaning<lookup_b32>>, {1, 1, 1, 1}},
    row<[](i32 a, i32 b, u32 c) { return shifted_pair_i8(a, b, c); }, kOpSel>(
        613, "v_ashr_pk_i8_i32", gfx950_only),
    row<[](i32 a, i32 b, u32 c) { return shifted_pair_u8(a, b, c); }, kOpSel>(
        614, "v_ashr_pk_u8_i32", gfx950_only),
    row<[](u32 a, u32 b) { return a * b; }>(645, "v_mul_lo_u32"),
    row<[](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }>(646, "v_mul_hi_u32"),
    row<[](i32 a, i32 b) { return static_cast<i32>(i64{a} * b >> 32); }>(647, "v_mul_hi_i32"),
    row<[](u32 a, u32 b) { return static_cast<u32>(__builtin_popcount(a)) + b; }>(651,
                                                                                  "v_bcnt_u32_b32"),
    row<[](u32 a, u64 b) { return b << (a & 63); }>(655, "v_lshlrev_b64"),
    row<[](u32 a, u64 b) { return (b >> (a & 63)); }>(656, "v_lshrrev_b64"),
    row<[](u32 a, i64 b) { return (b >> (a & 63)); }>(657, "v_ashrrev_i64"),
    row<[](u32 a, u32 b) { return bits_below(a & 31) << (b & 31); }>(659, "v_bfm_b32"),
    row<[](u32 a, u32 b) { return a + b; }, kPlain,
        [](i32 a, i32 b) { return saturated<i32>(i64{a} + b); }>(668, "v_add_i32"),
    row<[](u32 a, u32 b) { return a - b; }, kPlain,
        [](i32 a, i32 b) { return saturated<i32>(i64{a} - b); }>(669, "v_sub_i32"),
    row<[](i16 a, i16 b) { return static_cast<i16>(a + b); }, kOpSel,
        [](i16 a, i16 b) { return saturated<i16>(a + b); }>(670, "v_add_i16"),
    row<[](i16 a, i16 b) { return static_cast<i16>(a - b); }, kOpSel,
        [](i16 a, i16 b) { return saturated<i16>(a - b); }>(671, "v_sub_i16"),
};
static_assert(ascends(integer_rows));

}  // namespace

std::span<const Row> vop3_integer() { return integer_rows; }

}  // namespace hipgraph::emu::tables
