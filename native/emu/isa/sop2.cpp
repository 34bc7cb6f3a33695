#include <array>

#include "isa/scalar_row.h"
#include "isa/tables.h"

// Scalar operations of two sources: D = S0 op S1.
namespace hipgraph::emu::tables {
namespace {

using namespace scalar;

/// S0 + S1 + carry; SCC = carry out.
u32 add(Wave& w, u32 a, u32 b, u32 carry) {
  const u64 sum = u64{a} + b + carry;
  w.scc = sum >> 32 != 0;
  return static_cast<u32>(sum);
}

/// S0 - S1 - borrow; SCC = borrow out.
u32 subtract(Wave& w, u32 a, u32 b, u32 borrow) {
  w.scc = u64{b} + borrow > a;
  return a - b - borrow;
}

/// SCC = signed overflow.
i32 add_signed(Wave& w, i32 a, i32 b) {
  i32 sum = 0;
  w.scc = __builtin_add_overflow(a, b, &sum);
  return sum;
}

i32 subtract_signed(Wave& w, i32 a, i32 b) {
  i32 difference = 0;
  w.scc = __builtin_sub_overflow(a, b, &difference);
  return difference;
}

/// SCC = whether S0 is the result.
template <typename T>
T minimum(Wave& w, T a, T b) {
  w.scc = a < b;
  return w.scc ? a : b;
}

/// SCC = whether S0 is the result; equal sources count as S0, unlike in `minimum`.
template <typename T>
T maximum(Wave& w, T a, T b) {
  w.scc = a >= b;
  return w.scc ? a : b;
}

/// (1 << width) - 1, for widths up to 64.
u64 low_ones(u32 width) { return width >= 64 ? ~u64{0} : (u64{1} << width) - 1; }

/// Bits offset..offset+width-1 of S0, zero-extended; S1 = offset in the low bits, width in 22:16.
template <typename T>
T extract(Wave& w, T value, u32 where) {
  const u32 offset = where & (8 * sizeof(T) - 1);
  const u32 width = where >> 16 & 0x7f;
  return with_scc(w, static_cast<T>((value >> offset) & low_ones(width)));
}

/// The same with the top bit of the field extended upwards; a field that ends beyond the value
/// has the value's sign bit there.
template <typename T>
T extract_signed(Wave& w, T value, u32 where) {
  const u32 offset = where & (8 * sizeof(T) - 1);
  const u32 width = where >> 16 & 0x7f;
  if (width == 0) return with_scc(w, T{0});
  const i64 shifted = i64{value} >> offset;
  if (width >= 64) return with_scc(w, static_cast<T>(shifted));
  const u32 above = 64 - width;
  const u64 field = static_cast<u64>(shifted) << above;
  return with_scc(w, static_cast<T>(static_cast<i64>(field) >> above));
}

i32 absolute_difference(Wave& w, i32 a, i32 b) {
  const u32 difference = static_cast<u32>(a) - static_cast<u32>(b);
  const bool negative = difference >> 31 != 0;
  return static_cast<i32>(with_scc(w, negative ? 0 - difference : difference));
}

/// (S0 << N) + S1; SCC = whether the exact sum needs more than 32 bits.
template <unsigned N>
u32 shift_add(Wave& w, u32 a, u32 b) {
  const u64 sum = (u64{a} << N) + b;
  w.scc = sum >> 32 != 0;
  return static_cast<u32>(sum);
}

u32 pack(u32 low, u32 high) { return (low & 0xffff) | high << 16; }

constexpr std::array sop2_rows{
    binary<[](Wave& w, u32 a, u32 b) { return add(w, a, b, 0); }>(0, "s_add_u32"),
    binary<[](Wave& w, u32 a, u32 b) { return subtract(w, a, b, 0); }>(1, "s_sub_u32"),
    binary<[](Wave& w, i32 a, i32 b) { return add_signed(w, a, b); }>(2, "s_add_i32"),
    binary<[](Wave& w, i32 a, i32 b) { return subtract_signed(w, a, b); }>(3, "s_sub_i32"),
    binary<[](Wave& w, u32 a, u32 b) { return add(w, a, b, w.scc ? 1 : 0); }>(4, "s_addc_u32"),
    binary<[](Wave& w, u32 a, u32 b) { return subtract(w, a, b, w.scc ? 1 : 0); }>(5, "s_subb_u32"),
    binary<[](Wave& w, i32 a, i32 b) { return minimum(w, a, b); }>(6, "s_min_i32"),
    binary<[](Wave& w, u32 a, u32 b) { return minimum(w, a, b); }>(7, "s_min_u32"),
    binary<[](Wave& w, i32 a, i32 b) { return maximum(w, a, b); }>(8, "s_max_i32"),
    binary<[](Wave& w, u32 a, u32 b) { return maximum(w, a, b); }>(9, "s_max_u32"),
    binary<[](Wave& w, u32 a, u32 b) { return w.scc ? a : b; }>(10, "s_cselect_b32"),
    binary<[](Wave& w, u64 a, u64 b) { return w.scc ? a : b; }>(11, "s_cselect_b64"),
    binary<[](Wave& w, u32 a, u32 b) { return with_scc(w, a & b); }>(12, "s_and_b32"),
    binary<[](Wave& w, u64 a, u64 b) { return with_scc(w, a & b); }>(13, "s_and_b64"),
    binary<[](Wave& w, u32 a, u32 b) { return with_scc(w, a | b); }>(14, "s_or_b32"),
    binary<[](Wave& w, u64 a, u64 b) { return with_scc(w, a | b); }>(15, "s_or_b64"),
    binary<[](Wave& w, u32 a, u32 b) { return with_scc(w, a ^ b); }>(16, "s_xor_b32"),
    binary<[](Wave& w, u64 a, u64 b) { return with_scc(w, a ^ b); }>(17, "s_xor_b64"),
    binary<[](Wave& w, u32 a, u32 b) { return with_scc(w, a & ~b); }>(18, "s_andn2_b32"),
    binary<[](Wave& w, u64 a, u64 b) { return with_scc(w, a & ~b); }>(19, "s_andn2_b64"),
    binary<[](Wave& w, u32 a, u32 b) { return with_scc(w, a | ~b); }>(20, "s_orn2_b32"),
    binary<[](Wave& w, u64 a, u64 b) { return with_scc(w, a | ~b); }>(21, "s_orn2_b64"),
    binary<[](Wave& w, u32 a, u32 b) { return with_scc(w, ~(a & b)); }>(22, "s_nand_b32"),
    binary<[](Wave& w, u64 a, u64 b) { return with_scc(w, ~(a & b)); }>(23, "s_nand_b64"),
    binary<[](Wave& w, u32 a, u32 b) { return with_scc(w, ~(a | b)); }>(24, "s_nor_b32"),
    binary<[](Wave& w, u64 a, u64 b) { return with_scc(w, ~(a | b)); }>(25, "s_nor_b64"),
    binary<[](Wave& w, u32 a, u32 b) { return with_scc(w, ~(a ^ b)); }>(26, "s_xnor_b32"),
    binary<[](Wave& w, u64 a, u64 b) { return with_scc(w, ~(a ^ b)); }>(27, "s_xnor_b64"),
    binary<[](Wave& w, u32 a, u32 b) { return with_scc(w, a << (b & 31)); }>(28, "s_lshl_b32"),
    binary<[](Wave& w, u64 a, u32 b) { return with_scc(w, a << (b & 63)); }>(29, "s_lshl_b64"),
    binary<[](Wave& w, u32 a, u32 b) { return with_scc(w, a >> (b & 31)); }>(30, "s_lshr_b32"),
    binary<[](Wave& w, u64 a, u32 b) { return with_scc(w, a >> (b & 63)); }>(31, "s_lshr_b64"),
    binary<[](Wave& w, i32 a, u32 b) { return with_scc(w, a >> (b & 31)); }>(32, "s_ashr_i32"),
    binary<[](Wave& w, i64 a, u32 b) { return with_scc(w, a >> (b & 63)); }>(33, "s_ashr_i64"),
    // D = ((1 << S0) - 1) << S1
    binary<[](Wave&, u32 a, u32 b) { return static_cast<u32>(low_ones(a & 31) << (b & 31)); }>(
        34, "s_bfm_b32"),
    binary<[](Wave&, u32 a, u32 b) { return low_ones(a & 63) << (b & 63); }>(35, "s_bfm_b64"),
    binary<[](Wave&, u32 a, u32 b) { return a * b; }>(36, "s_mul_i32"),
    binary<[](Wave& w, u32 a, u32 b) { return extract(w, a, b); }>(37, "s_bfe_u32"),
    binary<[](Wave& w, i32 a, u32 b) { return extract_signed(w, a, b); }>(38, "s_bfe_i32"),
    binary<[](Wave& w, u64 a, u32 b) { return extract(w, a, b); }>(39, "s_bfe_u64"),
    binary<[](Wave& w, i64 a, u32 b) { return extract_signed(w, a, b); }>(40, "s_bfe_i64"),
    binary<[](Wave& w, i32 a, i32 b) { return absolute_difference(w, a, b); }>(42, "s_absdiff_i32"),
    binary<[](Wave&, u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }>(44,
                                                                                   "s_mul_hi_u32"),
    binary<[](Wave&, i32 a, i32 b) { return static_cast<i32>(i64{a} * b >> 32); }>(45,
                                                                                   "s_mul_hi_i32"),
    binary<[](Wave& w, u32 a, u32 b) { return shift_add<1>(w, a, b); }>(46, "s_lshl1_add_u32"),
    binary<[](Wave& w, u32 a, u32 b) { return shift_add<2>(w, a, b); }>(47, "s_lshl2_add_u32"),
    binary<[](Wave& w, u32 a, u32 b) { return shift_add<3>(w, a, b); }>(48, "s_lshl3_add_u32"),
    binary<[](Wave& w, u32 a, u32 b) { return shift_add<4>(w, a, b); }>(49, "s_lshl4_add_u32"),
    binary<[](Wave&, u32 a, u32 b) { return pack(a, b); }>(50, "s_pack_ll_b32_b16"),
    binary<[](Wave&, u32 a, u32 b) { return pack(a, b >> 16); }>(51, "s_pack_lh_b32_b16"),
    binary<[](Wave&, u32 a, u32 b) { return pack(a >> 16, b >> 16); }>(52, "s_pack_hh_b32_b16"),
};
static_assert(ascends(sop2_rows));

}  // namespace

std::span<const Row> sop2() { return sop2_rows; }

}  // namespace hipgraph::emu::tables
