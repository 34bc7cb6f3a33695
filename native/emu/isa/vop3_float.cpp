#include <cmath>

#include "isa/float_math.h"
#include "isa/tables.h"
#include "isa/vector.h"
#include "isa/vop3_rows.h"

namespace hipgraph::emu::tables {
namespace {

using namespace vector;
using namespace float_math;

/// 0 times anything is 0.
float multiply_legacy(float a, float b) { return a == 0 || b == 0 ? 0 : a * b; }

/// A function of three f32 that picks one of them.
template <float (*Pick)(float, float, float, bool)>
constexpr auto of_f32 =
    [](float a, float b, float c, const Context& context) { return Pick(a, b, c, context.ieee()); };

/// The same applied to f16.
template <float (*Pick)(float, float, float, bool)>
constexpr auto of_f16 = [](Half a, Half b, Half c, const Context& context) {
  return f16_from_f32(Pick(f32_from_f16(a), f32_from_f16(b), f32_from_f16(c), context.ieee()));
};
float minimum_of_3(float a, float b, float c, bool ieee) {
  return minimum(minimum(a, b, ieee), c, ieee);
}
float maximum_of_3(float a, float b, float c, bool ieee) {
  return maximum(maximum(a, b, ieee), c, ieee);
}

// IEEE 754-2019 minimum and maximum: a NaN wins.
float minimum_2019(float a, float b) { return nan_or(a, b, minimum(a, b, false)); }
float maximum_2019(float a, float b) { return nan_or(a, b, maximum(a, b, false)); }

/// The face of a cube map that a direction meets: axis 0, 1, 2 with the largest magnitude, z first.
struct Face {
  u32 axis;
  bool negative;
};
Face face_of(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  if (az >= ax && az >= ay) return {2, z < 0};
  if (ay >= ax) return {1, y < 0};
  return {0, x < 0};
}
float cube_id(float x, float y, float z) {
  const Face face = face_of(x, y, z);
  return static_cast<float>(face.axis * 2 + (face.negative ? 1 : 0));
}
float cube_s(float x, float y, float z) {
  const Face face = face_of(x, y, z);
  if (face.axis == 1) return x;
  if (face.axis == 2) return face.negative ? -x : x;
  return face.negative ? z : -z;
}
float cube_t(float x, float y, float z) {
  const Face face = face_of(x, y, z);
  if (face.axis != 1) return -y;
  return face.negative ? -z : z;
}
float cube_major(float x, float y, float z) {
  const Face face = face_of(x, y, z);
  return 2 * (face.axis == 2 ? z : face.axis == 1 ? y : x);
}

constexpr auto ldexp_f64 = [](double a, i32 b) {
  return std::ldexp(a, b < -3000 ? -3000 : b > 3000 ? 3000 : b);
};

constexpr Row float_rows[]{
    row<[](float a, float b, float c) {
      return flushed(flushed(multiply_legacy(flushed(a), flushed(b))) + flushed(c));
    }>(448, "v_mad_legacy_f32", gfx90a_only),
    row<[](float a, float b, float c) { return mad(a, b, c); }>(449, "v_mad_f32", gfx90a_only),
    row<[](float a, float b, float c) { return cube_id(a, b, c); }, kExact>(452, "v_cubeid_f32"),
    row<[](float a, float b, float c) { return cube_s(a, b, c); }, kExact>(453, "v_cubesc_f32"),
    row<[](float a, float b, float c) { return cube_t(a, b, c); }, kExact>(454, "v_cubetc_f32"),
    row<[](float a, float b, float c) { return cube_major(a, b, c); }, kExact>(455, "v_cubema_f32"),
    row<[](float a, float b, float c) { return std::fma(a, b, c); }, kRounds>(459, "v_fma_f32"),
    row<[](double a, double b, double c) { return std::fma(a, b, c); }, kRounds>(460, "v_fma_f64"),
    row<of_f32<minimum_of_3>, kExact>(464, "v_min3_f32"),
    row<of_f32<maximum_of_3>, kExact>(467, "v_max3_f32"),
    row<of_f32<median<float>>, kExact>(470, "v_med3_f32"),
    row<[](Half a, Half b, Half c) { return mad(a, b, c); }>(490, "v_mad_legacy_f16"),
    row<[](Half a, Half b, Half c) { return fma(a, b, c); }>(494, "v_fma_legacy_f16"),
    row<of_f16<minimum_of_3>, kOpSel | kExact>(500, "v_min3_f16"),
    row<of_f16<maximum_of_3>, kOpSel | kExact>(503, "v_max3_f16"),
    row<of_f16<median<float>>, kOpSel | kExact>(506, "v_med3_f16"),
    row<[](Half a, Half b, Half c) { return mad(a, b, c); }, kOpSel>(515, "v_mad_f16"),
    row<[](Half a, Half b, Half c) { return fma(a, b, c); }, kOpSel>(518, "v_fma_f16"),
    row<[](double a, double b) { return a + b; }, kRounds>(640, "v_add_f64"),
    row<[](double a, double b) { return a * b; }, kRounds>(641, "v_mul_f64"),
    row<[](double a, double b, const Context& c) { return minimum(a, b, c.ieee()); }, kExact>(
        642, "v_min_f64"),
    row<[](double a, double b, const Context& c) { return maximum(a, b, c.ieee()); }, kExact>(
        643, "v_max_f64"),
    row<ldexp_f64>(644, "v_ldexp_f64"),
    row<[](float a, i32 b) { return static_cast<float>(scaled(a, b)); }, kRounds>(648,
                                                                                  "v_ldexp_f32"),
    refused(658, "v_trig_preop_f64", {2, 2, 1}),
    row<[](float a, float b) { return multiply_legacy(a, b); }, kRounds>(673, "v_mul_legacy_f32"),
    row<[](float a, float b, float c) { return minimum_2019(minimum_2019(a, b), c); }, kExact>(
        680, "v_minimum3_f32", gfx950_only),
    row<[](float a, float b, float c) { return maximum_2019(maximum_2019(a, b), c); }, kExact>(
        681, "v_maximum3_f32", gfx950_only),
};
static_assert(ascends(float_rows));

}  // namespace

std::span<const Row> vop3_float() { return float_rows; }

}  // namespace hipgraph::emu::tables
