#include "order.h"

#include "failure.h"

namespace hipgraph::shmem {

void quiet(World& world) {
  check_failure(world);
  world.stream().wait();
}

void host_barrier(World& world, Team& team, const char* name) {
  Collective call(world.bootstrap(), team, text(name, "(", team.name(), ")"));
  call.exchange([&] {
    quiet(world);
    return std::string();
  });
}

void host_sync(World& world, Team& team, const char* name) {
  Collective call(world.bootstrap(), team, text(name, "(", team.name(), ")"));
  call.exchange([&] {
    check_failure(world);
    return std::string();
  });
}

}  // namespace hipgraph::shmem
