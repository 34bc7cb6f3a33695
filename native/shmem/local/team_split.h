#pragma once
#include <utility>

#include "world.h"

namespace hipgraph::shmem {

/// Collective over `parent`: PEs start, start + stride ... of it; null for the others.
TeamPtr split_strided(World& world, Team& parent, int start, int stride, int n_pes);
/// Collective over `parent`: rows of `x_range` PEs, and the columns across them.
std::pair<TeamPtr, TeamPtr> split_2d(World& world, Team& parent, int x_range);
/// Collective over the team.
void destroy_team(World& world, const TeamPtr& team);

}  // namespace hipgraph::shmem
