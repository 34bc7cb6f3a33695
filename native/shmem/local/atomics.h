#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "hipgraph_shmem/atomic_operation.h"
#include "world.h"

namespace hipgraph::shmem {

/// Runs one operation on a word of 4 or 8 bytes in another PE's heap, waits for it, and gives the
/// word's old value.
std::uint64_t atomic_word(World& world, hgs_atomic_operation operation, const void* word,
                          std::size_t bytes, std::uint64_t value, std::uint64_t condition, int pe);

/// The same with a number's own type.
template <class Number>
Number atomic(hgs_atomic_operation operation, const Number* word, Number value, Number condition,
              int pe) {
  using Word = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
  const std::uint64_t old =
      atomic_word(*world(), operation, word, sizeof(Number), std::bit_cast<Word>(value),
                  std::bit_cast<Word>(condition), pe);
  return std::bit_cast<Number>(static_cast<Word>(old));
}

}  // namespace hipgraph::shmem
