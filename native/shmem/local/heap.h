#pragma once
#include <cstddef>
#include <map>
#include <optional>

namespace hipgraph::shmem {

/// Who owns which bytes of a symmetric heap: offsets only, no memory. The same calls give the same
/// offsets on every PE.
class Heap {
 public:
  static constexpr std::size_t kAlignment = 256;      ///< of every allocation
  static constexpr std::size_t kMaxAlignment = 4096;  ///< of the memory itself

  /// Offsets from `begin`, a multiple of kMaxAlignment, to `end`.
  Heap(std::size_t begin, std::size_t end);

  /// The first place with so many bytes; nothing if there is none.
  std::optional<std::size_t> allocate(std::size_t bytes, std::size_t alignment);
  /// Whether an allocation began there; it is free now.
  bool release(std::size_t offset);

  bool allocated(std::size_t offset) const { return used_.contains(offset); }
  std::size_t free_bytes() const;
  std::size_t largest_free() const;

 private:
  using Ranges = std::map<std::size_t, std::size_t>;  ///< offset to bytes

  Ranges free_;  ///< no two of them touch
  Ranges used_;
};

}  // namespace hipgraph::shmem
