#pragma once
#include <atomic>
#include <cstdint>
#include <string>

#include "machine/memory.h"
#include "runtime/address_space.h"

namespace hipgraph::emu {

/// The record of one allocation, live or in quarantine. Kernels look at the atomic members without
/// a lock, so a record is recycled but never destroyed.
struct Block {
  std::atomic<bool> live{false};
  std::atomic<std::uint64_t> begin{0}, end{0};
  std::atomic<std::uint64_t> writable_begin{0}, writable_end{0};
  std::atomic<bool> noted{false};              ///< its shadow holds notes
  std::atomic<bool> shared{false};             ///< other processes may write it
  Allocation allocation;                       ///< this and all below: under the space's lock
  std::uint64_t host_begin = 0, host_end = 0;  ///< hull of what the host and copies wrote
  const char* label = nullptr;                 ///< of a guard
  bool reserved = false;   ///< memory comes and goes behind these addresses until released
  bool untouched = false;  ///< reserved, and no memory was behind it yet
  int file = -1;           ///< descriptor through which others map it

  /// Describes a new live allocation; writable unless it is code.
  void open(const Allocation& as);
  /// Whether `address` lies inside.
  bool holds(std::uint64_t address) const {
    return address - begin.load(std::memory_order_relaxed) <
           end.load(std::memory_order_relaxed) - begin.load(std::memory_order_relaxed);
  }
  /// The part around `address` that is all writable or all read-only.
  Range piece(std::uint64_t address) const;
};

/// "hipMalloc 12 (4096 bytes at 0x7f00)" and what else allocations are called.
std::string name_of(const Block& block);

/// A sentence on `bytes` bytes at `address`, which lie in, across the end of, behind or before
/// `block`.
std::string place_in(const Block& block, std::uint64_t address, std::uint64_t bytes);

/// The same where no page belongs to a block: by the nearer of the blocks below and above, if one
/// is near.
std::string place_between(const Block* before, const Block* after, std::uint64_t address,
                          std::uint64_t bytes);

/// "0x7f00".
std::string hex(std::uint64_t value);

}  // namespace hipgraph::emu
