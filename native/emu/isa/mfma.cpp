#include "isa/memory_access.h"
#include "isa/mfma_product.h"
#include "isa/tables.h"

// Matrix products and the moves between VGPRs and AccVGPRs. The shapes carry the name of the
// instruction set's shape; _nb says that there are n independent blocks.
namespace hipgraph::emu {
namespace {

using namespace matrix;

constexpr TargetMask gfx90a_only = static_cast<TargetMask>(Target::gfx90a);
constexpr TargetMask gfx942_only = static_cast<TargetMask>(Target::gfx942);
constexpr TargetMask gfx950_only = static_cast<TargetMask>(Target::gfx950);
constexpr TargetMask gfx94_up = Target::gfx942 | Target::gfx950;

constexpr MatrixShape shape4x4x1_16b{4, 1, 16};
constexpr MatrixShape shape4x4x2_16b{4, 2, 16};
constexpr MatrixShape shape4x4x4_4b_f64{4, 4, 4, true};
constexpr MatrixShape shape4x4x4_16b{4, 4, 16};
constexpr MatrixShape shape16x16x1_4b{16, 1, 4};
constexpr MatrixShape shape16x16x2_4b{16, 2, 4};
constexpr MatrixShape shape16x16x4{16, 4, 1};
constexpr MatrixShape shape16x16x4_f64{16, 4, 1, true};
constexpr MatrixShape shape16x16x4_4b{16, 4, 4};
constexpr MatrixShape shape16x16x8{16, 8, 1};
constexpr MatrixShape shape16x16x16{16, 16, 1};
constexpr MatrixShape shape16x16x32{16, 32, 1};
constexpr MatrixShape shape16x16x64{16, 64, 1};
constexpr MatrixShape shape32x32x1_2b{32, 1, 2};
constexpr MatrixShape shape32x32x2{32, 2, 1};
constexpr MatrixShape shape32x32x2_2b{32, 2, 2};
constexpr MatrixShape shape32x32x4{32, 4, 1};
constexpr MatrixShape shape32x32x4_2b{32, 4, 2};
constexpr MatrixShape shape32x32x8{32, 8, 1};
constexpr MatrixShape shape32x32x16{32, 16, 1};
constexpr MatrixShape shape32x32x32{32, 32, 1};

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

// Refused: the block-scaled f8f6f4 products and the sparse ones (smfmac).
constexpr Row table[] = {
    {45, gfx950_only, "v_mfma_f32_16x16x128_f8f6f4", nullptr, {4, 8, 8, 4}, kMatrix},
    {46, gfx950_only, "v_mfma_f32_32x32x64_f8f6f4", nullptr, {16, 8, 8, 16}, kMatrix},
    {53, gfx950_only, "v_mfma_f32_16x16x32_bf16",
     multiply<shape16x16x32, Bf16>, {4, 4, 4, 4}, kMatrix},
    {54, gfx950_only, "v_mfma_i32_16x16x64_i8", multiply<shape16x16x64, I8>, {4, 4, 4, 4}, kMatrix},
    {55, gfx950_only, "v_mfma_f32_32x32x16_bf16",
     multiply<shape32x32x16, Bf16>, {16, 4, 4, 16}, kMatrix},
    {56, gfx950_only, "v_mfma_i32_32x32x32_i8",
     multiply<shape32x32x32, I8>, {16, 4, 4, 16}, kMatrix},
    {57, gfx950_only, "v_smfmac_f32_16x16x64_bf16", nullptr, {4, 4, 8, 1}, kMatrix | kReadsDst},
    {58, gfx950_only, "v_smfmac_i32_16x16x128_i8", nullptr, {4, 4, 8, 1}, kMatrix | kReadsDst},
    {59, gfx950_only, "v_smfmac_f32_16x16x128_bf8_bf8", nullptr, {4, 4, 8, 1}, kMatrix | kReadsDst},
    {60, gfx950_only, "v_smfmac_f32_16x16x128_bf8_fp8", nullptr, {4, 4, 8, 1}, kMatrix | kReadsDst},
    {61, gfx950_only, "v_smfmac_f32_16x16x128_fp8_bf8", nullptr, {4, 4, 8, 1}, kMatrix | kReadsDst},
    {62, gfx942_only, "v_mfma_f32_16x16x8_xf32",
     multiply<shape16x16x8, Xf32>, {4, 2, 2, 4}, kMatrix},
    {63, gfx942_only, "v_mfma_f32_32x32x4_xf32",
     multiply<shape32x32x4, Xf32>, {16, 2, 2, 16}, kMatrix},
    {64, gfx90a_only, "v_mfma_f32_32x32x1f32",
     multiply<shape32x32x1_2b, F32>, {32, 1, 1, 32}, kMatrix},
    {64, gfx94_up, "v_mfma_f32_32x32x1_2b_f32",
     multiply<shape32x32x1_2b, F32>, {32, 1, 1, 32}, kMatrix},
    {65, gfx90a_only, "v_mfma_f32_16x16x1f32",
     multiply<shape16x16x1_4b, F32>, {16, 1, 1, 16}, kMatrix},
    {65, gfx94_up, "v_mfma_f32_16x16x1_4b_f32",
     multiply<shape16x16x1_4b, F32>, {16, 1, 1, 16}, kMatrix},
    {66, gfx90a_only, "v_mfma_f32_4x4x1f32", multiply<shape4x4x1_16b, F32>, {4, 1, 1, 4}, kMatrix},
    {66, gfx94_up, "v_mfma_f32_4x4x1_16b_f32",
     multiply<shape4x4x1_16b, F32>, {4, 1, 1, 4}, kMatrix},
    {67, gfx950_only, "v_smfmac_f32_16x16x128_fp8_fp8", nullptr, {4, 4, 8, 1}, kMatrix | kReadsDst},
    {68, gfx90a_only, "v_mfma_f32_32x32x2f32",
     multiply<shape32x32x2, F32>, {16, 1, 1, 16}, kMatrix},
    {68, gfx94_up, "v_mfma_f32_32x32x2_f32", multiply<shape32x32x2, F32>, {16, 1, 1, 16}, kMatrix},
    {69, gfx90a_only, "v_mfma_f32_16x16x4f32", multiply<shape16x16x4, F32>, {4, 1, 1, 4}, kMatrix},
    {69, gfx94_up, "v_mfma_f32_16x16x4_f32", multiply<shape16x16x4, F32>, {4, 1, 1, 4}, kMatrix},
    {70, gfx950_only, "v_smfmac_f32_32x32x32_bf16", nullptr, {16, 4, 8, 1}, kMatrix | kReadsDst},
    {71, gfx950_only, "v_smfmac_i32_32x32x64_i8", nullptr, {16, 4, 8, 1}, kMatrix | kReadsDst},
    {72, gfx90a_only, "v_mfma_f32_32x32x4f16",
     multiply<shape32x32x4_2b, F16>, {32, 2, 2, 32}, kMatrix},
    {72, gfx94_up, "v_mfma_f32_32x32x4_2b_f16",
     multiply<shape32x32x4_2b, F16>, {32, 2, 2, 32}, kMatrix},
    {73, gfx90a_only, "v_mfma_f32_16x16x4f16",
     multiply<shape16x16x4_4b, F16>, {16, 2, 2, 16}, kMatrix},
    {73, gfx94_up, "v_mfma_f32_16x16x4_4b_f16",
     multiply<shape16x16x4_4b, F16>, {16, 2, 2, 16}, kMatrix},
    {74, gfx90a_only, "v_mfma_f32_4x4x4f16", multiply<shape4x4x4_16b, F16>, {4, 2, 2, 4}, kMatrix},
    {74, gfx94_up, "v_mfma_f32_4x4x4_16b_f16",
     multiply<shape4x4x4_16b, F16>, {4, 2, 2, 4}, kMatrix},
    {75, gfx950_only, "v_smfmac_f32_32x32x64_bf8_bf8", nullptr, {16, 4, 8, 1}, kMatrix | kReadsDst},
    {76, gfx90a_only, "v_mfma_f32_32x32x8f16",
     multiply<shape32x32x8, F16>, {16, 2, 2, 16}, kMatrix},
    {76, gfx94_up, "v_mfma_f32_32x32x8_f16", multiply<shape32x32x8, F16>, {16, 2, 2, 16}, kMatrix},
    {77, gfx90a_only, "v_mfma_f32_16x16x16f16",
     multiply<shape16x16x16, F16>, {4, 2, 2, 4}, kMatrix},
    {77, gfx94_up, "v_mfma_f32_16x16x16_f16", multiply<shape16x16x16, F16>, {4, 2, 2, 4}, kMatrix},
    {78, gfx950_only, "v_smfmac_f32_32x32x64_bf8_fp8", nullptr, {16, 4, 8, 1}, kMatrix | kReadsDst},
    {79, gfx950_only, "v_smfmac_f32_32x32x64_fp8_bf8", nullptr, {16, 4, 8, 1}, kMatrix | kReadsDst},
    {80, gfx90a_only, "v_mfma_i32_32x32x4i8",
     multiply<shape32x32x4_2b, I8>, {32, 1, 1, 32}, kMatrix},
    {80, gfx94_up, "v_mfma_i32_32x32x4_2b_i8",
     multiply<shape32x32x4_2b, I8>, {32, 1, 1, 32}, kMatrix},
    {81, gfx90a_only, "v_mfma_i32_16x16x4i8",
     multiply<shape16x16x4_4b, I8>, {16, 1, 1, 16}, kMatrix},
    {81, gfx94_up, "v_mfma_i32_16x16x4_4b_i8",
     multiply<shape16x16x4_4b, I8>, {16, 1, 1, 16}, kMatrix},
    {82, gfx90a_only, "v_mfma_i32_4x4x4i8", multiply<shape4x4x4_16b, I8>, {4, 1, 1, 4}, kMatrix},
    {82, gfx94_up, "v_mfma_i32_4x4x4_16b_i8", multiply<shape4x4x4_16b, I8>, {4, 1, 1, 4}, kMatrix},
    {83, gfx950_only, "v_smfmac_f32_32x32x64_fp8_fp8", nullptr, {16, 4, 8, 1}, kMatrix | kReadsDst},
    {84, gfx90a_only, "v_mfma_i32_32x32x8i8", multiply<shape32x32x8, I8>, {16, 1, 1, 16}, kMatrix},
    {84, gfx950_only, "v_mfma_f32_16x16x32_f16",
     multiply<shape16x16x32, F16>, {4, 4, 4, 4}, kMatrix},
    {85, gfx90a_only, "v_mfma_i32_16x16x16i8", multiply<shape16x16x16, I8>, {4, 1, 1, 4}, kMatrix},
    {85, gfx950_only, "v_mfma_f32_32x32x16_f16",
     multiply<shape32x32x16, F16>, {16, 4, 4, 16}, kMatrix},
    {86, gfx94_up, "v_mfma_i32_32x32x16_i8", multiply<shape32x32x16, I8>, {16, 2, 2, 16}, kMatrix},
    {87, gfx94_up, "v_mfma_i32_16x16x32_i8", multiply<shape16x16x32, I8>, {4, 2, 2, 4}, kMatrix},
    {88, all_targets, "v_accvgpr_read_b32", read_accvgpr, {1, 1}},
    {89, all_targets, "v_accvgpr_write_b32", write_accvgpr, {1, 1}},
    {90, gfx950_only, "v_smfmac_f32_16x16x64_f16", nullptr, {4, 4, 8, 1}, kMatrix | kReadsDst},
    {91, gfx950_only, "v_smfmac_f32_32x32x32_f16", nullptr, {16, 4, 8, 1}, kMatrix | kReadsDst},
    {93, gfx94_up, "v_mfma_f32_32x32x4_2b_bf16",
     multiply<shape32x32x4_2b, Bf16>, {32, 2, 2, 32}, kMatrix},
    {94, gfx94_up, "v_mfma_f32_16x16x4_4b_bf16",
     multiply<shape16x16x4_4b, Bf16>, {16, 2, 2, 16}, kMatrix},
    {95, gfx94_up, "v_mfma_f32_4x4x4_16b_bf16",
     multiply<shape4x4x4_16b, Bf16>, {4, 2, 2, 4}, kMatrix},
    {96, gfx94_up, "v_mfma_f32_32x32x8_bf16",
     multiply<shape32x32x8, Bf16>, {16, 2, 2, 16}, kMatrix},
    {97, gfx94_up, "v_mfma_f32_16x16x16_bf16",
     multiply<shape16x16x16, Bf16>, {4, 2, 2, 4}, kMatrix},
    {98, gfx94_up, "v_smfmac_f32_16x16x32_f16", nullptr, {4, 2, 4, 1}, kMatrix | kReadsDst},
    {99, gfx90a_only, "v_mfma_f32_32x32x4bf16_1k",
     multiply<shape32x32x4_2b, Bf16>, {32, 2, 2, 32}, kMatrix},
    {100, gfx90a_only, "v_mfma_f32_16x16x4bf16_1k",
     multiply<shape16x16x4_4b, Bf16>, {16, 2, 2, 16}, kMatrix},
    {100, gfx94_up, "v_smfmac_f32_32x32x16_f16", nullptr, {16, 2, 4, 1}, kMatrix | kReadsDst},
    {101, gfx90a_only, "v_mfma_f32_4x4x4bf16_1k",
     multiply<shape4x4x4_16b, Bf16>, {4, 2, 2, 4}, kMatrix},
    {102, gfx90a_only, "v_mfma_f32_32x32x8bf16_1k",
     multiply<shape32x32x8, Bf16>, {16, 2, 2, 16}, kMatrix},
    {102, gfx94_up, "v_smfmac_f32_16x16x32_bf16", nullptr, {4, 2, 4, 1}, kMatrix | kReadsDst},
    {103, gfx90a_only, "v_mfma_f32_16x16x16bf16_1k",
     multiply<shape16x16x16, Bf16>, {4, 2, 2, 4}, kMatrix},
    {104, gfx90a_only, "v_mfma_f32_32x32x2bf16",
     multiply<shape32x32x2_2b, Bf16>, {32, 1, 1, 32}, kMatrix},
    {104, gfx94_up, "v_smfmac_f32_32x32x16_bf16", nullptr, {16, 2, 4, 1}, kMatrix | kReadsDst},
    {105, gfx90a_only, "v_mfma_f32_16x16x2bf16",
     multiply<shape16x16x2_4b, Bf16>, {16, 1, 1, 16}, kMatrix},
    {106, gfx94_up, "v_smfmac_i32_16x16x64_i8", nullptr, {4, 2, 4, 1}, kMatrix | kReadsDst},
    {107, gfx90a_only, "v_mfma_f32_4x4x2bf16",
     multiply<shape4x4x2_16b, Bf16>, {4, 1, 1, 4}, kMatrix},
    {108, gfx90a_only, "v_mfma_f32_32x32x4bf16",
     multiply<shape32x32x4, Bf16>, {16, 1, 1, 16}, kMatrix},
    {108, gfx94_up, "v_smfmac_i32_32x32x32_i8", nullptr, {16, 2, 4, 1}, kMatrix | kReadsDst},
    {109, gfx90a_only, "v_mfma_f32_16x16x8bf16",
     multiply<shape16x16x8, Bf16>, {4, 1, 1, 4}, kMatrix},
    {110, gfx90a_only, "v_mfma_f64_16x16x4f64",
     multiply<shape16x16x4_f64, F64>, {8, 2, 2, 8}, kMatrix},
    {110, gfx94_up, "v_mfma_f64_16x16x4_f64",
     multiply<shape16x16x4_f64, F64>, {8, 2, 2, 8}, kMatrix},
    {111, gfx90a_only, "v_mfma_f64_4x4x4f64",
     multiply<shape4x4x4_4b_f64, F64>, {2, 2, 2, 2}, kMatrix},
    {111, gfx94_up, "v_mfma_f64_4x4x4_4b_f64",
     multiply<shape4x4x4_4b_f64, F64>, {2, 2, 2, 2}, kMatrix},
    {112, gfx94_up, "v_mfma_f32_16x16x32_bf8_bf8",
     multiply<shape16x16x32, Bf8>, {4, 2, 2, 4}, kMatrix},
    {113, gfx94_up, "v_mfma_f32_16x16x32_bf8_fp8",
     multiply<shape16x16x32, Bf8, Fp8>, {4, 2, 2, 4}, kMatrix},
    {114, gfx94_up, "v_mfma_f32_16x16x32_fp8_bf8",
     multiply<shape16x16x32, Fp8, Bf8>, {4, 2, 2, 4}, kMatrix},
    {115, gfx94_up, "v_mfma_f32_16x16x32_fp8_fp8",
     multiply<shape16x16x32, Fp8>, {4, 2, 2, 4}, kMatrix},
    {116, gfx94_up, "v_mfma_f32_32x32x16_bf8_bf8",
     multiply<shape32x32x16, Bf8>, {16, 2, 2, 16}, kMatrix},
    {117, gfx94_up, "v_mfma_f32_32x32x16_bf8_fp8",
     multiply<shape32x32x16, Bf8, Fp8>, {16, 2, 2, 16}, kMatrix},
    {118, gfx94_up, "v_mfma_f32_32x32x16_fp8_bf8",
     multiply<shape32x32x16, Fp8, Bf8>, {16, 2, 2, 16}, kMatrix},
    {119, gfx94_up, "v_mfma_f32_32x32x16_fp8_fp8",
     multiply<shape32x32x16, Fp8>, {16, 2, 2, 16}, kMatrix},
    {120, gfx94_up, "v_smfmac_f32_16x16x64_bf8_bf8", nullptr, {4, 2, 4, 1}, kMatrix | kReadsDst},
    {121, gfx94_up, "v_smfmac_f32_16x16x64_bf8_fp8", nullptr, {4, 2, 4, 1}, kMatrix | kReadsDst},
    {122, gfx94_up, "v_smfmac_f32_16x16x64_fp8_bf8", nullptr, {4, 2, 4, 1}, kMatrix | kReadsDst},
    {123, gfx94_up, "v_smfmac_f32_16x16x64_fp8_fp8", nullptr, {4, 2, 4, 1}, kMatrix | kReadsDst},
    {124, gfx94_up, "v_smfmac_f32_32x32x32_bf8_bf8", nullptr, {16, 2, 4, 1}, kMatrix | kReadsDst},
    {125, gfx94_up, "v_smfmac_f32_32x32x32_bf8_fp8", nullptr, {16, 2, 4, 1}, kMatrix | kReadsDst},
    {126, gfx94_up, "v_smfmac_f32_32x32x32_fp8_bf8", nullptr, {16, 2, 4, 1}, kMatrix | kReadsDst},
    {127, gfx94_up, "v_smfmac_f32_32x32x32_fp8_fp8", nullptr, {16, 2, 4, 1}, kMatrix | kReadsDst},
};
static_assert(tables::ascends(table));

}  // namespace

std::span<const Row> tables::mfma() { return table; }

}  // namespace hipgraph::emu
