#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "hip_abi.h"
#include "runtime/address_space.h"

namespace hipgraph::emu {

/// What a program said about managed bytes. Nothing moves here, so it is remembered and told again.
struct Advice {
  bool read_mostly = false;
  bool coarse_grained = false;
  int preferred = hipInvalidDeviceId;
  int last_prefetch = hipInvalidDeviceId;
  std::set<int> accessed_by;
  bool operator==(const Advice&) const = default;
};

/// Advice on every managed allocation, byte by byte. Thread safe.
class AdviceTable {
 public:
  static AdviceTable& instance();

  /// Changes what is said of [begin, begin + bytes), which lie in `allocation`.
  template <class Change>
  void change(const Allocation& allocation, std::uint64_t begin, std::size_t bytes,
              Change&& change_one) {
    const std::lock_guard lock(mutex_);
    Pieces& pieces = pieces_of(allocation);
    split(pieces, begin);
    split(pieces, begin + bytes);
    const auto last = pieces.lower_bound(begin + bytes);
    for (auto piece = pieces.find(begin); piece != last; ++piece) change_one(piece->second);
  }
  /// What is said of these bytes, as far as it is the same for all of them.
  Advice common(const Allocation& allocation, std::uint64_t begin, std::size_t bytes);

 private:
  using Pieces = std::map<std::uint64_t, Advice>;  ///< by first byte, each up to the next

  /// What was said of an allocation; nothing yet when its address was another one's before.
  struct Record {
    std::uint64_t number = 0;
    Pieces pieces;
  };

  Pieces& pieces_of(const Allocation& allocation);
  static void split(Pieces& pieces, std::uint64_t at);

  std::mutex mutex_;
  std::map<std::uint64_t, Record> records_;  ///< by the allocation's address
};

}  // namespace hipgraph::emu
