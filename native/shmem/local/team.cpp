#include "team.h"

namespace hipgraph::shmem {

int Team::index_of(int world_pe) const {
  const int distance = world_pe - shape.start;
  if (distance < 0 || distance % shape.stride != 0) return -1;
  const int index = distance / shape.stride;
  return index < shape.n_pes ? index : -1;
}

PeMask Team::members() const {
  PeMask mask = 0;
  for (int index = 0; index < shape.n_pes; ++index) mask |= bit(world_pe(index));
  return mask;
}

}  // namespace hipgraph::shmem
