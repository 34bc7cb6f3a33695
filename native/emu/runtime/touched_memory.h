#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>

#include "machine/memory.h"
#include "runtime/byte_mask.h"

namespace hipgraph::emu {

/// What was touched of a page, by how.
using Touches = std::array<ByteMask, touch_kinds>;

/// What one command touched of a page, and whose memory that was then.
struct TouchedPage {
  std::uint64_t allocation = 0;  ///< its number; 0: it has none
  bool host_writes = false;      ///< the host can write there without a call
  bool private_to_launch = false;
  Touches touches;
};

/// Everything that one command touched, by page number.
class TouchedMemory {
 public:
  /// Adds [address, address + bytes).
  void add(std::uint64_t address, std::uint64_t bytes, Touch how);
  /// The page that holds an address which was added.
  const TouchedPage& at(std::uint64_t address) const;
  std::unordered_map<std::uint64_t, TouchedPage>& pages() { return pages_; }
  void clear();

 private:
  TouchedPage& page_of(std::uint64_t address);

  std::unordered_map<std::uint64_t, TouchedPage> pages_;
  std::uint64_t last_number_ = 0;
  TouchedPage* last_ = nullptr;  // most accesses touch the page that the one before did
};

/// Whether it matters which of the two comes first.
bool conflict(Touch one, Touch other);
/// Takes out of `earlier` what no longer matters because `later`, which comes after it, was there:
/// whoever conflicts with the one conflicts with the other.
void supersede(Touches& earlier, const Touches& later);
/// Whether nothing was touched.
bool empty(const Touches& touches);

}  // namespace hipgraph::emu
