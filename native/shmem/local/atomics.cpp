#include "atomics.h"

#include "arguments.h"
#include "failure.h"

namespace hipgraph::shmem {

std::uint64_t atomic_word(World& world, hgs_atomic_operation operation, const void* word,
                          std::size_t bytes, std::uint64_t value, std::uint64_t condition, int pe) {
  check_failure(world);
  check_pe(world, pe);
  char* address = world.memory().base(pe) + check_word(world, word, bytes, "address");
  const auto number = static_cast<std::uint32_t>(operation);
  const std::lock_guard turn(world.atomic_turn);
  const CurrentDevice current(world.stream().device());
  const RelaxedCapture relaxed;
  const hipStream_t stream = world.stream().handle();
  hgs_u64* result = &world.pinned().result;
  *result = 0;
  if (bytes == sizeof(std::uint32_t)) {
    world.kernels().launch(Kernel::Atomic32, 1, 64, stream, address, number,
                           static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(condition),
                           result);
  } else {
    world.kernels().launch(Kernel::Atomic64, 1, 64, stream, address, number, value, condition,
                           result);
  }
  world.stream().wait();
  return *result;
}

}  // namespace hipgraph::shmem
