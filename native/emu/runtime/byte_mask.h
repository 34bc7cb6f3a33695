#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hipgraph::emu {

/// Bytes [begin, end).
struct ByteRun {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// A set of the bytes of one system page.
class ByteMask {
 public:
  static constexpr std::size_t page = 4096;

  bool empty() const { return !all_ && words_ == nullptr; }
  /// Adds the bytes at [begin, end) of the page.
  void add(std::size_t begin, std::size_t end);
  /// Takes out what `other` has.
  void remove(const ByteMask& other);
  /// Appends the runs of bytes that both have; the page starts at `base`.
  void append_common(const ByteMask& other, std::uint64_t base, std::vector<ByteRun>& runs) const;

 private:
  static constexpr std::size_t word_bits = 64;
  using Words = std::array<std::uint64_t, page / word_bits>;

  std::uint64_t word(std::size_t i) const;
  Words& words();

  bool all_ = false;
  std::unique_ptr<Words> words_;  // null: all bytes or none; never all zeros
};

}  // namespace hipgraph::emu
