#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace hipgraph::emu {

/// The host's page, the grain of what can be committed and given back.
constexpr std::size_t system_page = 4096;

/// Bytes of the system pages that `bytes` take.
constexpr std::size_t whole_pages(std::size_t bytes) {
  return (bytes + system_page - 1) / system_page * system_page;
}

/// The bytes behind an address; device addresses are host addresses.
inline void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

/// Addresses for device memory: one reserved stretch, cut into pages of 64 KiB. Memory behind a
/// page is committed when the page is first handed out. Beside the arena lies its shadow,
/// `shadow_scale` bytes for each of its bytes, for notes about what was written. Not thread safe.
class Arena {
 public:
  static constexpr std::size_t page = 64 * 1024;
  static constexpr std::size_t shadow_scale = 8;

  /// Reserves addresses for at least `bytes`; throws std::bad_alloc when the system refuses.
  explicit Arena(std::size_t bytes);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Start of a run of pages for `bytes`, with an unused guard page behind it.
  std::optional<std::uint64_t> take(std::size_t bytes);
  /// Gives back a run that take(bytes) returned, its memory included.
  void give_back(std::uint64_t start, std::size_t bytes);
  /// Returns the memory of whole system pages in [start, start + bytes) to the system.
  void discard(std::uint64_t start, std::size_t bytes);
  /// Moves the memory of [start, start + bytes), a run's start, into a file that others can map;
  /// its descriptor, or -1 when the system refuses. Nobody may write there meanwhile.
  int move_to_file(std::uint64_t start, std::size_t bytes);
  /// Puts the memory of a file of `bytes` at `start`; false when the system refuses.
  bool map_file(std::uint64_t start, std::size_t bytes, int file);
  /// Puts fresh memory of this process alone at [start, start + bytes), where a file's was; throws
  /// std::bad_alloc when the system refuses.
  void unmap_file(std::uint64_t start, std::size_t bytes);
  /// Forgets the shadow of [start, start + bytes): it reads as zeros again.
  void discard_shadow(std::uint64_t start, std::size_t bytes);

  bool holds(std::uint64_t address) const { return address - base_ < pages_ * page; }
  std::size_t page_of(std::uint64_t address) const { return (address - base_) / page; }
  std::size_t pages() const { return pages_; }
  /// Where the shadow of an address (a multiple of four) lies.
  std::uint64_t shadow(std::uint64_t address) const {
    return shadow_ + (address - base_) * shadow_scale;
  }

 private:
  bool commit(std::size_t end_page);
  void insert_free(std::size_t start, std::size_t count);

  std::uint64_t base_ = 0;
  std::uint64_t shadow_ = 0;
  std::size_t pages_ = 0;
  std::size_t used_pages_ = 0;  ///< pages ever handed out are below this one
  std::size_t committed_pages_ = 0;
  std::map<std::size_t, std::size_t> free_;          ///< start page to count
  std::multimap<std::size_t, std::size_t> by_size_;  ///< count to start page
};

/// Reserves zeroed, lazily committed memory for a table; throws std::bad_alloc.
void* reserve_table(std::size_t bytes);

}  // namespace hipgraph::emu
