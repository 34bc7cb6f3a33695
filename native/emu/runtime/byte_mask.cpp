#include "runtime/byte_mask.h"

#include <algorithm>

namespace hipgraph::emu {
namespace {

constexpr std::uint64_t all_bits = ~std::uint64_t{0};

}  // namespace

std::uint64_t ByteMask::word(std::size_t i) const {
  if (words_ != nullptr) return (*words_)[i];
  return all_ ? all_bits : 0;
}

ByteMask::Words& ByteMask::words() {
  if (words_ == nullptr) {
    words_ = std::make_unique<Words>();
    words_->fill(all_ ? all_bits : 0);
    all_ = false;
  }
  return *words_;
}

void ByteMask::add(std::size_t begin, std::size_t end) {
  if (all_) return;
  if (begin == 0 && end == page) {
    words_.reset();
    all_ = true;
    return;
  }
  Words& bits = words();
  for (std::size_t at = begin; at < end;) {
    const std::size_t first = at % word_bits;
    const std::size_t count = std::min(word_bits - first, end - at);
    bits[at / word_bits] |= all_bits >> (word_bits - count) << first;
    at += count;
  }
}

void ByteMask::remove(const ByteMask& other) {
  if (empty() || other.empty()) return;
  std::uint64_t left = 0;
  if (!other.all_) {
    Words& bits = words();
    for (std::size_t i = 0; i < bits.size(); ++i) left |= bits[i] &= ~other.word(i);
  }
  if (left == 0) {
    all_ = false;
    words_.reset();
  }
}

void ByteMask::append_common(const ByteMask& other, std::uint64_t base,
                             std::vector<ByteRun>& runs) const {
  if (empty() || other.empty()) return;
  for (std::size_t at = 0; at < page; ++at) {
    const std::uint64_t both = word(at / word_bits) & other.word(at / word_bits);
    if ((both >> at % word_bits & 1) == 0) continue;
    const std::uint64_t address = base + at;
    if (runs.empty() || runs.back().end != address) runs.push_back({address, address});
    runs.back().end = address + 1;
  }
}

}  // namespace hipgraph::emu
