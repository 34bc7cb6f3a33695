#include "isa/hardware_register.h"

#include <string>

#include "isa/operand.h"
#include "machine/target.h"
#include "machine/trap.h"

namespace hipgraph::emu {
namespace {

enum RegisterId : std::uint32_t {
  kMode = 1,
  kStatus = 2,
  kTrapStatus = 3,
  kHardwareId = 4,
  kWaitCounters = 7,
  kMemoryBases = 15,
  kXccId = 20
};

std::uint32_t flag(bool value, unsigned at) { return value ? 1U << at : 0; }

std::uint32_t status(const Wave& wave) {
  constexpr unsigned scc = 0, execz = 9, vccz = 10, valid = 16;
  return flag(wave.scc, scc) | flag(wave.exec() == 0, execz) | flag(wave.vcc() == 0, vccz) |
         flag(true, valid);
}

/// XCCs take workgroups in turn, as the hardware's dispatcher does.
std::uint32_t xcc(const Wave& wave) {
  return wave.group->linear_id % facts(wave.launch->target).xcc_count;
}

/// Wave 3:0, SIMD 5:4, compute unit 11:8, shader engine 15:13: a consistent place, not a real one.
std::uint32_t hardware_id(const Wave& wave) {
  const std::uint32_t place = wave.group->linear_id / facts(wave.launch->target).xcc_count;
  const std::uint32_t simd = wave.index % simds_per_compute_unit;
  const std::uint32_t slot = wave.index / simds_per_compute_unit % waves_per_simd;
  return slot | simd << 4 | (place / 4 % 10) << 8 | (place % 4) << 13;
}

/// Upper 16 address bits of the scratch (15:0) and LDS (31:16) windows.
std::uint32_t memory_bases() {
  return static_cast<std::uint32_t>(private_aperture >> 48 | shared_aperture >> 48 << 16);
}

[[noreturn]] void refuse(std::uint32_t id, const char* how) {
  throw Trap(TrapKind::UnsupportedInstruction,
             "hardware register " + std::to_string(id) + " cannot be " + how + " on this device");
}

std::uint32_t whole_register(const Wave& wave, std::uint32_t id) {
  if (id == kXccId && wave.launch->target == Target::gfx90a) refuse(id, "read");
  switch (id) {
    case kMode: return wave.mode;
    case kStatus: return status(wave);
    case kTrapStatus:
    case kWaitCounters: return 0;  // no exception is pending, no memory access is under way
    case kHardwareId: return hardware_id(wave);
    case kMemoryBases: return memory_bases();
    case kXccId: return xcc(wave);
    default: refuse(id, "read");
  }
}

std::uint32_t mask_of(const RegisterField& field) {
  const std::uint32_t ones = field.bits == 32 ? ~0U : (1U << field.bits) - 1;
  return ones << field.offset;
}

}  // namespace

RegisterField register_field(std::uint32_t simm16) {
  return {simm16 & 63, simm16 >> 6 & 31, (simm16 >> 11 & 31) + 1};
}

std::uint32_t read_hardware_register(const Wave& wave, const RegisterField& field) {
  return (whole_register(wave, field.id) & mask_of(field)) >> field.offset;
}

void write_hardware_register(Wave& wave, const RegisterField& field, std::uint32_t value) {
  if (field.id != kMode) refuse(field.id, "written");
  const std::uint32_t mask = mask_of(field);
  wave.mode = (wave.mode & ~mask) | (value << field.offset & mask);
}

}  // namespace hipgraph::emu
