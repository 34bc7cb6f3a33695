#include "isa/memory_access.h"
#include "isa/mfma_sparse.h"
#include "isa/tables.h"

// Matrix products and the moves between VGPRs and AccVGPRs. The shapes carry the name of the
// instruction set's shape; _nb says that there are n independent blocks.
namespace hipgraph::emu {
namespace {

using namespace matrix;

constexpr TargetMask gfx942_only = static_cast<TargetMask>(Target::gfx942);
constexpr std::uint16_t kSparse = kMatrix | kReadsDst;

constexpr MatrixShape s4x4x1_16b{4, 1, 16};
constexpr MatrixShape s4x4x2_16b{4, 2, 16};
constexpr MatrixShape s4x4x4_4b_f64{4, 4, 4, true};
constexpr MatrixShape s4x4x4_16b{4, 4, 16};
constexpr MatrixShape s16x16x1_4b{16, 1, 4};
constexpr MatrixShape s16x16x2_4b{16, 2, 4};
constexpr MatrixShape s16x16x4{16, 4};
constexpr MatrixShape s16x16x4_f64{16, 4, 1, true};
constexpr MatrixShape s16x16x4_4b{16, 4, 4};
constexpr MatrixShape s16x16x8{16, 8};
constexpr MatrixShape s16x16x16{16, 16};
constexpr MatrixShape s16x16x32{16, 32};
constexpr MatrixShape s16x16x64{16, 64};
constexpr MatrixShape s32x32x1_2b{32, 1, 2};
constexpr MatrixShape s32x32x2{32, 2};
constexpr MatrixShape s32x32x2_2b{32, 2, 2};
constexpr MatrixShape s32x32x4{32, 4};
constexpr MatrixShape s32x32x4_2b{32, 4, 2};
constexpr MatrixShape s32x32x8{32, 8};
constexpr MatrixShape s32x32x16{32, 16};
constexpr MatrixShape s32x32x32{32, 32};

/// Registers that hold `elements` elements a lane.
template <typename Format>
constexpr std::uint8_t registers_for(std::uint32_t elements) {
  return static_cast<std::uint8_t>(elements * Format::bits / 32);
}

/// Registers that hold C or D.
template <typename Format>
constexpr std::uint8_t result_registers(const MatrixShape& shape) {
  return static_cast<std::uint8_t>(shape.outputs_per_lane() * sizeof(typename Format::Value) / 4);
}

template <MatrixShape shape, typename A, typename B = A>
constexpr Row dense(std::uint16_t opcode, TargetMask targets, const char* mnemonic) {
  const std::uint8_t a = registers_for<A>(shape.inputs_per_lane());
  const std::uint8_t d = result_registers<A>(shape);
  return {opcode, targets, mnemonic, multiply<shape, A, B>, {d, a, a, d}, kMatrix};
}

template <MatrixShape shape, typename A, typename B = A>
constexpr Row sparse(std::uint16_t opcode, TargetMask targets, const char* mnemonic) {
  const std::uint8_t b = registers_for<B>(shape.inputs_per_lane());
  const auto a = static_cast<std::uint8_t>(b / 2);
  const std::uint8_t d = result_registers<A>(shape);
  return {opcode, targets, mnemonic, multiply_sparse<shape, A, B>, {d, a, b, 1}, kSparse};
}

/// Moves a row under EXEC: these two are ordinary vector moves between the register banks.
void read_accvgpr(Wave& wave, const Instruction& in) {
  const VectorRegister& from = *rows_of(wave, in.src[0]);
  VectorRegister& to = *rows_of(wave, in.dst);
  for_each_lane(wave.exec(), [&](std::uint32_t lane) { to[lane] = from[lane]; });
}

void write_accvgpr(Wave& wave, const Instruction& in) {
  if (in.src[0] >= operand_vgpr) return read_accvgpr(wave, in);
  const std::uint32_t value = scalar_u32(wave, in, in.src[0]);
  VectorRegister& to = *rows_of(wave, in.dst);
  for_each_lane(wave.exec(), [&](std::uint32_t lane) { to[lane] = value; });
}

// Refused: the f8f6f4 products, block-scaled or not, and gfx950's own sparse shapes, whose layouts
// no public document gives.
constexpr Row table[] = {
    {45, gfx950_only, "v_mfma_f32_16x16x128_f8f6f4", nullptr, {4, 8, 8, 4}, kMatrix},
    {46, gfx950_only, "v_mfma_f32_32x32x64_f8f6f4", nullptr, {16, 8, 8, 16}, kMatrix},
    dense<s16x16x32, Bf16>(53, gfx950_only, "v_mfma_f32_16x16x32_bf16"),
    dense<s16x16x64, I8>(54, gfx950_only, "v_mfma_i32_16x16x64_i8"),
    dense<s32x32x16, Bf16>(55, gfx950_only, "v_mfma_f32_32x32x16_bf16"),
    dense<s32x32x32, I8>(56, gfx950_only, "v_mfma_i32_32x32x32_i8"),
    {57, gfx950_only, "v_smfmac_f32_16x16x64_bf16", nullptr, {4, 4, 8, 1}, kSparse},
    {58, gfx950_only, "v_smfmac_i32_16x16x128_i8", nullptr, {4, 4, 8, 1}, kSparse},
    {59, gfx950_only, "v_smfmac_f32_16x16x128_bf8_bf8", nullptr, {4, 4, 8, 1}, kSparse},
    {60, gfx950_only, "v_smfmac_f32_16x16x128_bf8_fp8", nullptr, {4, 4, 8, 1}, kSparse},
    {61, gfx950_only, "v_smfmac_f32_16x16x128_fp8_bf8", nullptr, {4, 4, 8, 1}, kSparse},
    dense<s16x16x8, Xf32>(62, gfx942_only, "v_mfma_f32_16x16x8_xf32"),
    dense<s32x32x4, Xf32>(63, gfx942_only, "v_mfma_f32_32x32x4_xf32"),
    dense<s32x32x1_2b, F32>(64, gfx90a_only, "v_mfma_f32_32x32x1f32"),
    dense<s32x32x1_2b, F32>(64, since_gfx942, "v_mfma_f32_32x32x1_2b_f32"),
    dense<s16x16x1_4b, F32>(65, gfx90a_only, "v_mfma_f32_16x16x1f32"),
    dense<s16x16x1_4b, F32>(65, since_gfx942, "v_mfma_f32_16x16x1_4b_f32"),
    dense<s4x4x1_16b, F32>(66, gfx90a_only, "v_mfma_f32_4x4x1f32"),
    dense<s4x4x1_16b, F32>(66, since_gfx942, "v_mfma_f32_4x4x1_16b_f32"),
    {67, gfx950_only, "v_smfmac_f32_16x16x128_fp8_fp8", nullptr, {4, 4, 8, 1}, kSparse},
    dense<s32x32x2, F32>(68, gfx90a_only, "v_mfma_f32_32x32x2f32"),
    dense<s32x32x2, F32>(68, since_gfx942, "v_mfma_f32_32x32x2_f32"),
    dense<s16x16x4, F32>(69, gfx90a_only, "v_mfma_f32_16x16x4f32"),
    dense<s16x16x4, F32>(69, since_gfx942, "v_mfma_f32_16x16x4_f32"),
    {70, gfx950_only, "v_smfmac_f32_32x32x32_bf16", nullptr, {16, 4, 8, 1}, kSparse},
    {71, gfx950_only, "v_smfmac_i32_32x32x64_i8", nullptr, {16, 4, 8, 1}, kSparse},
    dense<s32x32x4_2b, F16>(72, gfx90a_only, "v_mfma_f32_32x32x4f16"),
    dense<s32x32x4_2b, F16>(72, since_gfx942, "v_mfma_f32_32x32x4_2b_f16"),
    dense<s16x16x4_4b, F16>(73, gfx90a_only, "v_mfma_f32_16x16x4f16"),
    dense<s16x16x4_4b, F16>(73, since_gfx942, "v_mfma_f32_16x16x4_4b_f16"),
    dense<s4x4x4_16b, F16>(74, gfx90a_only, "v_mfma_f32_4x4x4f16"),
    dense<s4x4x4_16b, F16>(74, since_gfx942, "v_mfma_f32_4x4x4_16b_f16"),
    {75, gfx950_only, "v_smfmac_f32_32x32x64_bf8_bf8", nullptr, {16, 4, 8, 1}, kSparse},
    dense<s32x32x8, F16>(76, gfx90a_only, "v_mfma_f32_32x32x8f16"),
    dense<s32x32x8, F16>(76, since_gfx942, "v_mfma_f32_32x32x8_f16"),
    dense<s16x16x16, F16>(77, gfx90a_only, "v_mfma_f32_16x16x16f16"),
    dense<s16x16x16, F16>(77, since_gfx942, "v_mfma_f32_16x16x16_f16"),
    {78, gfx950_only, "v_smfmac_f32_32x32x64_bf8_fp8", nullptr, {16, 4, 8, 1}, kSparse},
    {79, gfx950_only, "v_smfmac_f32_32x32x64_fp8_bf8", nullptr, {16, 4, 8, 1}, kSparse},
    dense<s32x32x4_2b, I8>(80, gfx90a_only, "v_mfma_i32_32x32x4i8"),
    dense<s32x32x4_2b, I8>(80, since_gfx942, "v_mfma_i32_32x32x4_2b_i8"),
    dense<s16x16x4_4b, I8>(81, gfx90a_only, "v_mfma_i32_16x16x4i8"),
    dense<s16x16x4_4b, I8>(81, since_gfx942, "v_mfma_i32_16x16x4_4b_i8"),
    dense<s4x4x4_16b, I8>(82, gfx90a_only, "v_mfma_i32_4x4x4i8"),
    dense<s4x4x4_16b, I8>(82, since_gfx942, "v_mfma_i32_4x4x4_16b_i8"),
    {83, gfx950_only, "v_smfmac_f32_32x32x64_fp8_fp8", nullptr, {16, 4, 8, 1}, kSparse},
    dense<s32x32x8, I8>(84, gfx90a_only, "v_mfma_i32_32x32x8i8"),
    dense<s16x16x32, F16>(84, gfx950_only, "v_mfma_f32_16x16x32_f16"),
    dense<s16x16x16, I8>(85, gfx90a_only, "v_mfma_i32_16x16x16i8"),
    dense<s32x32x16, F16>(85, gfx950_only, "v_mfma_f32_32x32x16_f16"),
    dense<s32x32x16, I8>(86, since_gfx942, "v_mfma_i32_32x32x16_i8"),
    dense<s16x16x32, I8>(87, since_gfx942, "v_mfma_i32_16x16x32_i8"),
    {88, all_targets, "v_accvgpr_read_b32", read_accvgpr, {1, 1}},
    {89, all_targets, "v_accvgpr_write_b32", write_accvgpr, {1, 1}},
    {90, gfx950_only, "v_smfmac_f32_16x16x64_f16", nullptr, {4, 4, 8, 1}, kSparse},
    {91, gfx950_only, "v_smfmac_f32_32x32x32_f16", nullptr, {16, 4, 8, 1}, kSparse},
    dense<s32x32x4_2b, Bf16>(93, since_gfx942, "v_mfma_f32_32x32x4_2b_bf16"),
    dense<s16x16x4_4b, Bf16>(94, since_gfx942, "v_mfma_f32_16x16x4_4b_bf16"),
    dense<s4x4x4_16b, Bf16>(95, since_gfx942, "v_mfma_f32_4x4x4_16b_bf16"),
    dense<s32x32x8, Bf16>(96, since_gfx942, "v_mfma_f32_32x32x8_bf16"),
    dense<s16x16x16, Bf16>(97, since_gfx942, "v_mfma_f32_16x16x16_bf16"),
    sparse<s16x16x32, F16>(98, since_gfx942, "v_smfmac_f32_16x16x32_f16"),
    dense<s32x32x4_2b, Bf16>(99, gfx90a_only, "v_mfma_f32_32x32x4bf16_1k"),
    dense<s16x16x4_4b, Bf16>(100, gfx90a_only, "v_mfma_f32_16x16x4bf16_1k"),
    sparse<s32x32x16, F16>(100, since_gfx942, "v_smfmac_f32_32x32x16_f16"),
    dense<s4x4x4_16b, Bf16>(101, gfx90a_only, "v_mfma_f32_4x4x4bf16_1k"),
    dense<s32x32x8, Bf16>(102, gfx90a_only, "v_mfma_f32_32x32x8bf16_1k"),
    sparse<s16x16x32, Bf16>(102, since_gfx942, "v_smfmac_f32_16x16x32_bf16"),
    dense<s16x16x16, Bf16>(103, gfx90a_only, "v_mfma_f32_16x16x16bf16_1k"),
    dense<s32x32x2_2b, Bf16>(104, gfx90a_only, "v_mfma_f32_32x32x2bf16"),
    sparse<s32x32x16, Bf16>(104, since_gfx942, "v_smfmac_f32_32x32x16_bf16"),
    dense<s16x16x2_4b, Bf16>(105, gfx90a_only, "v_mfma_f32_16x16x2bf16"),
    sparse<s16x16x64, I8>(106, since_gfx942, "v_smfmac_i32_16x16x64_i8"),
    dense<s4x4x2_16b, Bf16>(107, gfx90a_only, "v_mfma_f32_4x4x2bf16"),
    dense<s32x32x4, Bf16>(108, gfx90a_only, "v_mfma_f32_32x32x4bf16"),
    sparse<s32x32x32, I8>(108, since_gfx942, "v_smfmac_i32_32x32x32_i8"),
    dense<s16x16x8, Bf16>(109, gfx90a_only, "v_mfma_f32_16x16x8bf16"),
    dense<s16x16x4_f64, F64>(110, gfx90a_only, "v_mfma_f64_16x16x4f64"),
    dense<s16x16x4_f64, F64>(110, since_gfx942, "v_mfma_f64_16x16x4_f64"),
    dense<s4x4x4_4b_f64, F64>(111, gfx90a_only, "v_mfma_f64_4x4x4f64"),
    dense<s4x4x4_4b_f64, F64>(111, since_gfx942, "v_mfma_f64_4x4x4_4b_f64"),
    dense<s16x16x32, Bf8>(112, since_gfx942, "v_mfma_f32_16x16x32_bf8_bf8"),
    dense<s16x16x32, Bf8, Fp8>(113, since_gfx942, "v_mfma_f32_16x16x32_bf8_fp8"),
    dense<s16x16x32, Fp8, Bf8>(114, since_gfx942, "v_mfma_f32_16x16x32_fp8_bf8"),
    dense<s16x16x32, Fp8>(115, since_gfx942, "v_mfma_f32_16x16x32_fp8_fp8"),
    dense<s32x32x16, Bf8>(116, since_gfx942, "v_mfma_f32_32x32x16_bf8_bf8"),
    dense<s32x32x16, Bf8, Fp8>(117, since_gfx942, "v_mfma_f32_32x32x16_bf8_fp8"),
    dense<s32x32x16, Fp8, Bf8>(118, since_gfx942, "v_mfma_f32_32x32x16_fp8_bf8"),
    dense<s32x32x16, Fp8>(119, since_gfx942, "v_mfma_f32_32x32x16_fp8_fp8"),
    sparse<s16x16x64, Bf8>(120, since_gfx942, "v_smfmac_f32_16x16x64_bf8_bf8"),
    sparse<s16x16x64, Bf8, Fp8>(121, since_gfx942, "v_smfmac_f32_16x16x64_bf8_fp8"),
    sparse<s16x16x64, Fp8, Bf8>(122, since_gfx942, "v_smfmac_f32_16x16x64_fp8_bf8"),
    sparse<s16x16x64, Fp8>(123, since_gfx942, "v_smfmac_f32_16x16x64_fp8_fp8"),
    sparse<s32x32x32, Bf8>(124, since_gfx942, "v_smfmac_f32_32x32x32_bf8_bf8"),
    sparse<s32x32x32, Bf8, Fp8>(125, since_gfx942, "v_smfmac_f32_32x32x32_bf8_fp8"),
    sparse<s32x32x32, Fp8, Bf8>(126, since_gfx942, "v_smfmac_f32_32x32x32_fp8_bf8"),
    sparse<s32x32x32, Fp8>(127, since_gfx942, "v_smfmac_f32_32x32x32_fp8_fp8"),
};
static_assert(tables::ascends(table));

}  // namespace

std::span<const Row> tables::mfma() { return table; }

}  // namespace hipgraph::emu
