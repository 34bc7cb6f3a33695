#include "isa/lds_exchange.h"

#include "isa/memory_access.h"

namespace hipgraph::emu::lds_exchange {
namespace {

constexpr std::uint32_t quad_mode = 0x8000, rotate_mode = 0xc000, fft_mode = 0xe000;

bool active(std::uint64_t mask, std::uint32_t lane) { return (mask >> lane & 1) != 0; }

/// The lane whose value `lane` gets under a swizzle pattern.
std::uint32_t swizzle_source(std::uint32_t lane, std::uint32_t pattern) {
  if (pattern >= rotate_mode) {
    const std::uint32_t keep = pattern & 31, amount = pattern >> 5 & 31;
    const std::uint32_t moved = (pattern >> 10 & 1) != 0 ? lane - amount : lane + amount;
    return (lane & (keep | 32)) | (moved & ~keep & 31);
  }
  if (pattern >= quad_mode) return (lane & ~3u) | (pattern >> (2 * (lane & 3)) & 3);
  const std::uint32_t kept = lane & (pattern & 31), set = pattern >> 5 & 31;
  return (lane & 32) | ((kept | set) ^ (pattern >> 10 & 31));
}

/// The lane that an address register names: byte addresses of dwords, modulo the wave.
std::uint32_t named_lane(const Wave& wave, const Instruction& in, std::uint32_t lane) {
  const std::uint32_t address = wave.vgpr[in.addr - operand_vgpr][lane];
  return (address + static_cast<std::uint32_t>(in.imm)) / 4 % wave_size;
}

void write_active(Wave& wave, std::uint16_t code, const VectorRegister& values) {
  VectorRegister& row = *rows_of(wave, code);
  const std::uint64_t exec = wave.exec();
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    row[lane] = active(exec, lane) ? values[lane] : row[lane];
  }
}

}  // namespace

void swizzle(Wave& wave, const Instruction& in) {
  const auto pattern = static_cast<std::uint32_t>(in.imm);
  if (pattern >= fft_mode) throw_unsupported_modifier(in, "FFT pattern");
  // The value to exchange is in the address operand.
  const VectorRegister& from = *rows_of(wave, in.addr);
  const std::uint64_t exec = wave.exec();
  VectorRegister values{};
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    const std::uint32_t source = swizzle_source(lane, pattern);
    if (active(exec, source)) values[lane] = from[source];
  }
  write_active(wave, in.dst, values);
}

void permute(Wave& wave, const Instruction& in) {
  const VectorRegister& from = *rows_of(wave, in.data);
  const std::uint64_t exec = wave.exec();
  VectorRegister values{};
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    if (active(exec, lane)) values[named_lane(wave, in, lane)] = from[lane];
  }
  write_active(wave, in.dst, values);
}

void bpermute(Wave& wave, const Instruction& in) {
  const VectorRegister& from = *rows_of(wave, in.data);
  const std::uint64_t exec = wave.exec();
  VectorRegister values{};
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    const std::uint32_t source = named_lane(wave, in, lane);
    if (active(exec, source)) values[lane] = from[source];
  }
  write_active(wave, in.dst, values);
}

}  // namespace hipgraph::emu::lds_exchange
