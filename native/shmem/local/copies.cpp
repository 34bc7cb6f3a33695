#include "copies.h"

#include "arguments.h"
#include "failure.h"

namespace hipgraph::shmem {

void put(World& world, void* target, const void* source, std::size_t bytes, int pe) {
  check_failure(world);
  check_pe(world, pe);
  check_local(source, bytes, "source");
  const std::size_t offset = check_symmetric(world, target, bytes, "target");
  world.stream().copy(world.memory().base(pe) + offset, source, bytes);
}

void get(World& world, void* target, const void* source, std::size_t bytes, int pe) {
  check_failure(world);
  check_pe(world, pe);
  check_local(target, bytes, "target");
  const std::size_t offset = check_symmetric(world, source, bytes, "source");
  world.stream().copy(target, world.memory().base(pe) + offset, bytes);
}

}  // namespace hipgraph::shmem
