#include "arguments.h"
#include "copies.h"
#include "order.h"

using namespace hipgraph::shmem;

// The copies of the host share one stream: they are in order without a fence.
int hgs_fence(void) {
  return entry([] { world(); });
}

int hgs_quiet(void) {
  return entry([] { quiet(*world()); });
}

int hgs_barrier_all(void) {
  return entry([] {
    const WorldPtr here = world();
    host_barrier(*here, *here->team(), "hgs_barrier_all");
  });
}

int hgs_sync_all(void) {
  return entry([] {
    const WorldPtr here = world();
    host_sync(*here, *here->team(), "hgs_sync_all");
  });
}

int hgs_barrier(void* team) {
  return entry([&] {
    const WorldPtr here = world();
    host_barrier(*here, *check_team(*here, team), "hgs_barrier");
  });
}

int hgs_team_sync(void* team) {
  return entry([&] {
    const WorldPtr here = world();
    host_sync(*here, *check_team(*here, team), "hgs_team_sync");
  });
}

int hgs_putmem(void* target, const void* source, size_t bytes, int pe) {
  return entry([&] {
    const WorldPtr here = world();
    put(*here, target, source, bytes, pe);
    quiet(*here);
  });
}

int hgs_getmem(void* target, const void* source, size_t bytes, int pe) {
  return entry([&] {
    const WorldPtr here = world();
    get(*here, target, source, bytes, pe);
    quiet(*here);
  });
}

int hgs_putmem_nbi(void* target, const void* source, size_t bytes, int pe) {
  return entry([&] { put(*world(), target, source, bytes, pe); });
}

int hgs_getmem_nbi(void* target, const void* source, size_t bytes, int pe) {
  return entry([&] { get(*world(), target, source, bytes, pe); });
}
