#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "isa/instruction.h"
#include "isa/operand.h"
#include "machine/trap.h"
#include "machine/wave.h"

/// What the vector memory families share: lane addresses, the three memories, loads and stores.
/// A family turns operands into lane addresses; everything behind that is here.
namespace hipgraph::emu {

/// EXEC with every lane active.
constexpr std::uint64_t all_lanes = ~std::uint64_t{0};

/// Which part of a register row a narrow transfer touches; the other part keeps its value.
enum class Part : std::uint8_t { Whole, Low, High };

/// How the bytes of one lane in memory and its register rows correspond.
struct Transfer {
  std::uint32_t bytes;
  bool sign_extend = false;
  Part part = Part::Whole;
  /// Register rows that a lane's bytes fill.
  constexpr std::uint32_t rows() const { return (bytes + 3) / 4; }
};

/// The transfers of the instruction set, by the type names of the manual.
namespace transfer {
constexpr Transfer u8{1}, i8{1, true}, u16{2}, i16{2, true};
constexpr Transfer b32{4}, b64{8}, b96{12}, b128{16};
constexpr Transfer u8_low{1, false, Part::Low}, u8_high{1, false, Part::High};
constexpr Transfer i8_low{1, true, Part::Low}, i8_high{1, true, Part::High};
constexpr Transfer b16_low{2, false, Part::Low}, b16_high{2, false, Part::High};
}  // namespace transfer

/// Byte addresses of the lanes of one instruction, copied out of the registers first: a load may
/// overwrite its own address. Entries of inactive lanes are not used.
struct LaneAddresses {
  alignas(64) std::array<std::uint64_t, wave_size> of;
  std::uint64_t mask;
};

/// The rows behind an operand code: VGPRs and AccVGPRs lie in one block, in the codes' order.
inline VectorRegister* rows_of(Wave& wave, std::uint16_t code) {
  return wave.vgpr + (code - operand_vgpr);
}

/// Throws `trap` again with the lane named.
[[noreturn]] void rethrow_in_lane(const Trap& trap, std::uint32_t lane);
/// Trap: LDS bytes beyond the workgroup's allocation.
[[noreturn]] void throw_lds_fault(std::uint64_t address, std::uint32_t bytes, std::uint64_t size);
/// Trap: scratch bytes beyond a lane's allocation.
[[noreturn]] void throw_scratch_fault(std::uint64_t address, std::uint32_t bytes,
                                      std::uint32_t lane_bytes);
/// Trap: an access whose address must be a multiple of `alignment` and is not.
[[noreturn]] void throw_misaligned(std::uint64_t address, std::uint32_t alignment);
/// Trap: `modifier` has no meaning here for this instruction.
[[noreturn]] void throw_unsupported_modifier(const Instruction& instruction, const char* modifier);

/// Calls `body(lane)` for the active lanes, ascending; a Trap that it throws gets the lane's
/// number.
template <typename Body>
void for_each_lane(std::uint64_t mask, Body body) {
  std::uint32_t lane = 0;
  try {
    for (std::uint64_t rest = mask; rest != 0; rest &= rest - 1) {
      lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      body(lane);
    }
  } catch (const Trap& trap) {
    rethrow_in_lane(trap, lane);
  }
}

/// Writes bytes; whether one of them changed (only then does a store count as an effect). Bytes
/// that stay the same are written too: another process may be writing others there.
template <std::size_t count>
bool replace_bytes(std::uint8_t* to, const std::array<std::uint8_t, count>& from) {
  const bool changed = std::memcmp(to, from.data(), count) != 0;
  std::memcpy(to, from.data(), count);
  return changed;
}

/// Whether the bytes of every lane, active or not, lie in [begin, end).
inline bool all_within(const LaneAddresses& lanes, std::uint32_t bytes, std::uint64_t begin,
                       std::uint64_t end) {
  if (end - begin < bytes) return false;
  const std::uint64_t last = end - begin - bytes;
  bool beyond = false;
  for (const std::uint64_t address : lanes.of) beyond |= address - begin > last;
  return !beyond;
}

/// Puts one lane's bytes into its register rows.
template <Transfer kind>
inline void unpack(VectorRegister* rows, std::uint32_t lane, const std::uint8_t* from) {
  if constexpr (kind.bytes >= 4) {
    std::array<std::uint32_t, kind.rows()> words;
    std::memcpy(words.data(), from, kind.bytes);
    for (std::uint32_t k = 0; k < kind.rows(); ++k) rows[k][lane] = words[k];
  } else {
    std::uint32_t value = 0;
    std::memcpy(&value, from, kind.bytes);
    constexpr std::uint32_t spare = 32 - 8 * kind.bytes;
    if constexpr (kind.sign_extend) {
      value = static_cast<std::uint32_t>(static_cast<std::int32_t>(value << spare) >> spare);
    }
    std::uint32_t& row = rows[0][lane];
    if constexpr (kind.part == Part::Whole) row = value;
    if constexpr (kind.part == Part::Low) row = (row & 0xffff0000u) | (value & 0xffffu);
    if constexpr (kind.part == Part::High) row = (row & 0xffffu) | value << 16;
  }
}

/// Takes one lane's bytes out of its register rows.
template <Transfer kind>
inline void pack(const VectorRegister* rows, std::uint32_t lane, std::uint8_t* to) {
  std::array<std::uint32_t, kind.rows()> words;
  for (std::uint32_t k = 0; k < kind.rows(); ++k) words[k] = rows[k][lane];
  if constexpr (kind.part == Part::High) words[0] >>= 16;
  std::memcpy(to, words.data(), kind.bytes);
}

/// Whether a load takes part in what other workgroups do: it goes around the caches that are not
/// coherent among them.
bool is_coherent_load(const Wave& wave, const Instruction& instruction);

/// Device memory as one vector instruction of a wave sees it.
class GlobalSpace {
 public:
  /// A lane's bytes are contiguous.
  static constexpr bool linear = true;

  /// `synchronising`: other workgroups take part (atomics, accesses that go around the caches).
  /// Writes are then noted with their writer.
  GlobalSpace(Wave& wave, Access access, bool synchronising = false)
      : wave_(wave), access_(access), synchronising_(synchronising) {}

  /// Whether all lanes are active and their bytes lie in one live allocation, so that `trusted`
  /// may be used for each. A false costs nothing but time: lanes are then proven one by one.
  bool covers(const LaneAddresses& lanes, std::uint32_t bytes);
  /// The bytes of a lane that `covers` has proven.
  std::uint8_t* trusted(std::uint64_t address) const {
    return reinterpret_cast<std::uint8_t*>(address);
  }
  /// The bytes of one lane; throws Trap when they are not in one live allocation.
  std::uint8_t* at(std::uint64_t address, std::uint32_t bytes) {
    // An instruction is one moment: what `wave.at` proved for one lane holds for the others.
    if (!proven_ || !wave_.range.holds(address, bytes)) {
      wave_.at(address, bytes, access_);
      proven_ = true;
    }
    if (wave_.launch->listener != nullptr) tell(address, bytes);
    return trusted(address);
  }
  /// One lane's bytes into `to`.
  template <std::size_t bytes>
  void read(std::uint32_t /*lane*/, std::uint64_t address, std::array<std::uint8_t, bytes>& to) {
    std::memcpy(to.data(), at(address, bytes), bytes);
  }
  /// One lane's bytes from `from`.
  template <std::size_t bytes>
  void write(std::uint32_t /*lane*/, std::uint64_t address,
             const std::array<std::uint8_t, bytes>& from) {
    wrote(address, bytes, replace_bytes(at(address, bytes), from));
  }
  /// The word of an atomic, which must be naturally aligned.
  std::uint8_t* word(std::uint32_t /*lane*/, std::uint64_t address, std::uint32_t bytes) {
    if (address % bytes != 0) throw_misaligned(address, bytes);
    return at(address, bytes);
  }
  /// Counts a write that was made through `at` or `word`.
  /// An atomic that changed nothing (a failed compare) is no write to name a writer by.
  void wrote(std::uint64_t address, std::uint32_t bytes, bool changed) {
    wave_.launch->effects += changed ? 1 : 0;
    if (synchronising_ && (changed || access_ != Access::Atomic)) note(address, bytes);
  }
  /// Counts the write of all lanes through `trusted`, as one effect.
  void wrote_all(const LaneAddresses& lanes, std::uint32_t bytes, bool changed) {
    wave_.launch->effects += changed ? 1 : 0;
    if (!synchronising_) return;
    for (const std::uint64_t address : lanes.of) note(address, bytes);
  }
  /// Ends a reading instruction: what its first active lane read, for hang reports.
  void finish_reads(std::uint64_t address, std::uint32_t bytes, std::uint32_t value) {
    wave_.poll = {wave_.instruction_pc, address, bytes, value, access_};
  }
  /// Ends a writing instruction: the last note.
  void finish_writes();

 private:
  void note(std::uint64_t address, std::uint32_t bytes);
  void tell(std::uint64_t address, std::uint64_t bytes) const;
  void tell_all(const LaneAddresses& lanes, std::uint32_t bytes) const;

  Wave& wave_;
  Access access_;
  bool synchronising_;
  bool proven_ = false;
  Range noted_;  // neighbouring writes are noted as one
};

/// The workgroup's LDS; addresses are offsets into it.
class LdsSpace {
 public:
  /// A lane's bytes are contiguous.
  static constexpr bool linear = true;

  LdsSpace(Wave& wave, Access access)
      : wave_(wave),
        access_(access),
        base_(wave.group->lds.data()),
        size_(wave.group->lds.size()) {}

  /// Whether all lanes are active and inside the allocation.
  bool covers(const LaneAddresses& lanes, std::uint32_t bytes) const {
    return lanes.mask == all_lanes && all_within(lanes, bytes, 0, size_);
  }
  /// The bytes of a lane that `covers` has proven.
  std::uint8_t* trusted(std::uint64_t address) const { return base_ + address; }
  /// The bytes of one lane; throws Trap beyond the allocation.
  std::uint8_t* at(std::uint64_t address, std::uint32_t bytes) const {
    if (address + bytes > size_) throw_lds_fault(address, bytes, size_);
    return trusted(address);
  }
  /// One lane's bytes into `to`.
  template <std::size_t bytes>
  void read(std::uint32_t /*lane*/, std::uint64_t address, std::array<std::uint8_t, bytes>& to) {
    std::memcpy(to.data(), at(address, bytes), bytes);
  }
  /// One lane's bytes from `from`.
  template <std::size_t bytes>
  void write(std::uint32_t /*lane*/, std::uint64_t address,
             const std::array<std::uint8_t, bytes>& from) {
    wrote(address, bytes, replace_bytes(at(address, bytes), from));
  }
  /// The word of an atomic, which must be naturally aligned.
  std::uint8_t* word(std::uint32_t /*lane*/, std::uint64_t address, std::uint32_t bytes) const {
    if (address % bytes != 0) throw_misaligned(address, bytes);
    return at(address, bytes);
  }
  /// Counts a write that was made through `at` or `word`.
  void wrote(std::uint64_t /*address*/, std::uint32_t /*bytes*/, bool changed) {
    wave_.launch->effects += changed ? 1 : 0;
  }
  /// Counts the write of all lanes through `trusted`, as one effect.
  void wrote_all(const LaneAddresses& /*lanes*/, std::uint32_t /*bytes*/, bool changed) {
    wave_.launch->effects += changed ? 1 : 0;
  }
  /// Ends a reading instruction: what its first active lane read, at its flat address.
  void finish_reads(std::uint64_t address, std::uint32_t bytes, std::uint32_t value) {
    wave_.poll = {wave_.instruction_pc, shared_aperture + address, bytes, value, access_};
  }
  /// Ends a writing instruction.
  void finish_writes() {}

 private:
  Wave& wave_;
  Access access_;
  std::uint8_t* base_;
  std::uint64_t size_;
};

/// The wave's scratch: byte o of lane l at ((o >> 2) * 64 + l) * 4 + (o & 3), so that lanes which
/// use one offset touch 256 consecutive bytes.
class ScratchSpace {
 public:
  /// A lane's bytes are not contiguous here.
  static constexpr bool linear = false;

  explicit ScratchSpace(Wave& wave) : wave_(wave) {}

  /// One lane's bytes into `to`.
  template <std::size_t bytes>
  void read(std::uint32_t lane, std::uint64_t address, std::array<std::uint8_t, bytes>& to) {
    check(address, bytes);
    for_pieces<bytes>(lane, address, [&](std::uint8_t* piece, std::size_t at, std::size_t size) {
      std::memcpy(to.data() + at, piece, size);
    });
  }
  /// One lane's bytes from `from`.
  template <std::size_t bytes>
  void write(std::uint32_t lane, std::uint64_t address,
             const std::array<std::uint8_t, bytes>& from) {
    check(address, bytes);
    bool changed = false;
    for_pieces<bytes>(lane, address, [&](std::uint8_t* piece, std::size_t at, std::size_t size) {
      changed |= std::memcmp(piece, from.data() + at, size) != 0;
      std::memcpy(piece, from.data() + at, size);
    });
    wrote(address, bytes, changed);
  }
  /// The word of an atomic: 4 bytes, since wider ones are not contiguous.
  std::uint8_t* word(std::uint32_t lane, std::uint64_t address, std::uint32_t bytes);
  /// Counts a write that was made through `word`.
  void wrote(std::uint64_t /*address*/, std::uint32_t /*bytes*/, bool changed) {
    wave_.launch->effects += changed ? 1 : 0;
  }
  /// Ends a reading instruction: nobody else writes here, so no wave can poll it.
  void finish_reads(std::uint64_t /*address*/, std::uint32_t /*bytes*/, std::uint32_t /*value*/) {}
  /// Ends a writing instruction.
  void finish_writes() {}

 private:
  void check(std::uint64_t address, std::uint64_t bytes) const {
    if (address + bytes > wave_.launch->scratch_lane_bytes) {
      throw_scratch_fault(address, static_cast<std::uint32_t>(bytes),
                          wave_.launch->scratch_lane_bytes);
    }
  }
  std::uint8_t* byte(std::uint32_t lane, std::uint64_t address) const {
    return wave_.scratch + ((address >> 2) * wave_size + lane) * 4 + (address & 3);
  }
  /// Calls `body(piece, at, size)` for the contiguous pieces of an access.
  template <std::size_t bytes, typename Body>
  void for_pieces(std::uint32_t lane, std::uint64_t address, Body body) const {
    if (bytes % 4 == 0 && address % 4 == 0) {
      for (std::size_t at = 0; at < bytes; at += 4) body(byte(lane, address + at), at, 4);
    } else {
      for (std::size_t at = 0; at < bytes; ++at) body(byte(lane, address + at), at, 1);
    }
  }

  Wave& wave_;
};

/// The bytes of all lanes, lane by lane.
template <Transfer kind>
using LaneBytes = std::array<std::array<std::uint8_t, kind.bytes>, wave_size>;

/// Loads a whole wave's bytes after one proof for all of them; false when that proof fails.
template <Transfer kind, typename Space>
bool load_at_once(Space& space, const LaneAddresses& lanes, VectorRegister* rows) {
  if (!space.covers(lanes, kind.bytes)) return false;
  alignas(64) LaneBytes<kind> bytes;
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    std::memcpy(bytes[lane].data(), space.trusted(lanes.of[lane]), kind.bytes);
  }
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    unpack<kind>(rows, lane, bytes[lane].data());
  }
  return true;
}

/// Stores a whole wave's bytes after one proof for all of them; false when that proof fails.
template <Transfer kind, typename Space>
bool store_at_once(Space& space, const LaneAddresses& lanes, const VectorRegister* rows) {
  if (!space.covers(lanes, kind.bytes)) return false;
  alignas(64) LaneBytes<kind> bytes;
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    pack<kind>(rows, lane, bytes[lane].data());
  }
  bool changed = false;
  for (std::uint32_t lane = 0; lane < wave_size; ++lane) {
    changed |= replace_bytes(space.trusted(lanes.of[lane]), bytes[lane]);
  }
  space.wrote_all(lanes, kind.bytes, changed);
  return true;
}

/// Loads the active lanes' bytes into `rows`.
template <Transfer kind, typename Space>
void load_lanes(Space space, const LaneAddresses& lanes, VectorRegister* rows) {
  if (lanes.mask == 0) return;
  bool done = false;
  if constexpr (Space::linear) done = load_at_once<kind>(space, lanes, rows);
  if (!done) {
    for_each_lane(lanes.mask, [&](std::uint32_t lane) {
      std::array<std::uint8_t, kind.bytes> bytes;
      space.read(lane, lanes.of[lane], bytes);
      unpack<kind>(rows, lane, bytes.data());
    });
  }
  const auto first = static_cast<std::uint32_t>(std::countr_zero(lanes.mask));
  space.finish_reads(lanes.of[first], kind.bytes, rows[0][first]);
}

/// Stores the active lanes' bytes from `rows`.
template <Transfer kind, typename Space>
void store_lanes(Space space, const LaneAddresses& lanes, const VectorRegister* rows) {
  if (lanes.mask == 0) return;
  bool done = false;
  if constexpr (Space::linear) done = store_at_once<kind>(space, lanes, rows);
  if (!done) {
    for_each_lane(lanes.mask, [&](std::uint32_t lane) {
      std::array<std::uint8_t, kind.bytes> bytes;
      pack<kind>(rows, lane, bytes.data());
      space.write(lane, lanes.of[lane], bytes);
    });
  }
  space.finish_writes();
}

}  // namespace hipgraph::emu
