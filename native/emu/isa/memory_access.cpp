#include "isa/memory_access.h"

#include <string>

namespace hipgraph::emu {
namespace {

std::string hex(std::uint64_t value) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), digits[value & 15]);
    value >>= 4;
  } while (value != 0);
  return "0x" + text;
}

std::string bytes_at(std::uint64_t address, std::uint32_t bytes) {
  return std::to_string(bytes) + " bytes at " + hex(address);
}

}  // namespace

void rethrow_in_lane(const Trap& trap, std::uint32_t lane) {
  throw Trap(trap.kind(), "lane " + std::to_string(lane) + ": " + trap.text());
}

void throw_lds_fault(std::uint64_t address, std::uint32_t bytes, std::uint64_t size) {
  throw Trap(TrapKind::LdsFault, bytes_at(address, bytes) + " are outside the workgroup's " +
                                     std::to_string(size) + " bytes of LDS");
}

void throw_scratch_fault(std::uint64_t address, std::uint32_t bytes, std::uint32_t lane_bytes) {
  throw Trap(TrapKind::MemoryFault, bytes_at(address, bytes) + " are outside the lane's " +
                                        std::to_string(lane_bytes) + " bytes of scratch");
}

void throw_misaligned(std::uint64_t address, std::uint32_t alignment) {
  throw Trap(TrapKind::MemoryFault,
             "misaligned: " + hex(address) + " is not a multiple of " + std::to_string(alignment));
}

void throw_unsupported_modifier(const Instruction& instruction, const char* modifier) {
  throw Trap(TrapKind::UnsupportedModifier,
             std::string(instruction.row->mnemonic) + ": " + modifier);
}

bool is_coherent_load(const Wave& wave, const Instruction& instruction) {
  const bool glc = wave.launch->target == Target::gfx90a && instruction.sc0;
  return instruction.sc1 || glc;
}

bool GlobalSpace::covers(const LaneAddresses& lanes, std::uint32_t bytes) {
  if (lanes.mask != all_lanes) return false;
  try {
    at(lanes.of[0], bytes);
  } catch (const Trap&) {
    return false;  // found again lane by lane, with the lane's number
  }
  const bool all = all_within(lanes, bytes, wave_.range.begin, wave_.range.end);
  if (all && wave_.launch->listener != nullptr) tell_all(lanes, bytes);
  return all;
}

void GlobalSpace::tell(std::uint64_t address, std::uint64_t bytes) const {
  Touch how = synchronising_ ? Touch::AtomicRead : Touch::Read;
  if (access_ != Access::Load) how = synchronising_ ? Touch::AtomicWrite : Touch::Write;
  wave_.launch->listener->touch(address, bytes, how);
}

/// Lanes that touch neighbouring bytes are told as one.
void GlobalSpace::tell_all(const LaneAddresses& lanes, std::uint32_t bytes) const {
  std::uint64_t begin = lanes.of[0];
  std::uint64_t end = begin;
  for (const std::uint64_t address : lanes.of) {
    if (address != end) {
      tell(begin, end - begin);
      begin = address;
    }
    end = address + bytes;
  }
  tell(begin, end - begin);
}

void GlobalSpace::finish_writes() {
  if (noted_.begin != noted_.end) {
    wave_.note_write(noted_.begin, static_cast<std::uint32_t>(noted_.end - noted_.begin));
  }
  noted_ = {};
}

void GlobalSpace::note(std::uint64_t address, std::uint32_t bytes) {
  if (address != noted_.end) {
    finish_writes();
    noted_.begin = address;
  }
  noted_.end = address + bytes;
}

std::uint8_t* ScratchSpace::word(std::uint32_t lane, std::uint64_t address, std::uint32_t bytes) {
  if (bytes != 4) {
    throw Trap(TrapKind::UnsupportedInstruction, "64-bit atomic on scratch memory");
  }
  if (address % bytes != 0) throw_misaligned(address, bytes);
  check(address, bytes);
  return byte(lane, address);
}

}  // namespace hipgraph::emu
