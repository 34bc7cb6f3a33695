#include "team_split.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "arguments.h"
#include "failure.h"

namespace hipgraph::shmem {
namespace {

/// What a PE says before a team is made.
struct Proposal {
  std::uint32_t serial;     ///< the next one that it has not used
  std::uint64_t free_pads;  ///< a bit each
};

/// Which PEs of the parent a new team has, by their index in it.
struct Slice {
  int start, stride, n_pes;

  bool has(int index) const {
    const int distance = index - start;
    return distance >= 0 && distance % stride == 0 && distance / stride < n_pes;
  }
};

std::string propose(World& world) {
  check_failure(world);
  const std::lock_guard lock(world.mutex);
  Proposal proposal{world.next_serial, ~std::uint64_t{0}};
  for (const auto& [handle, team] : world.teams) {
    proposal.free_pads &= ~(std::uint64_t{1} << team->pad);
  }
  return {reinterpret_cast<const char*>(&proposal), sizeof proposal};
}

void check_slice(const Team& parent, const Slice& slice) {
  const int size = parent.shape.n_pes;
  if (slice.start < 0 || slice.start >= size) {
    fail(HGS_INVALID, "start is ", slice.start, ": pass 0 to ", size - 1);
  }
  if (slice.stride < 1) fail(HGS_INVALID, "stride is ", slice.stride, ": pass 1 or more");
  const int most = (size - 1 - slice.start) / slice.stride + 1;
  if (slice.n_pes < 1 || slice.n_pes > most) {
    fail(HGS_INVALID, "n_pes is ", slice.n_pes, ": pass 1 to ", most, " of the parent's ", size,
         " PEs from ", slice.start, " by ", slice.stride);
  }
}

TeamPtr shape_of(const Team& parent, const Slice& slice) {
  const int own = parent.shape.my_pe;
  if (!slice.has(own)) return nullptr;
  auto team = std::make_shared<Team>();
  team->shape.my_pe = (own - slice.start) / slice.stride;
  team->shape.n_pes = slice.n_pes;
  team->shape.start = parent.world_pe(slice.start);
  team->shape.stride = parent.shape.stride * slice.stride;
  return team;
}

/// Clears the team's pad, which another team may have used, and tells the device its shape.
void settle(World& world, Team& team, std::uint64_t free_pads) {
  if (free_pads == 0) {
    fail(HGS_FAILED, "no pad is left that is free on all PEs of the team: a PE can be in ", kPads,
         " teams at once; destroy some");
  }
  team.pad = std::countr_zero(free_pads);
  team.shape.pad_offset = pad_offset(team.pad);
  team.on_device = &world.page()->teams[team.pad];
  world.stream().fill(world.memory().own() + team.shape.pad_offset, 0, sizeof(hgs_pad));
  world.stream().copy(team.on_device, &team.shape, sizeof team.shape);
  world.stream().wait();
}

/// All PEs of the parent take part; `slice` is the team that this one may get into.
TeamPtr make_team(World& world, Team& parent, Collective& call, const Slice& slice) {
  const std::vector<std::string> said = call.exchange([&] {
    check_slice(parent, slice);
    return propose(world);
  });
  TeamPtr team = shape_of(parent, slice);
  std::uint32_t serial = 0;
  std::uint64_t free_pads = ~std::uint64_t{0};
  for (std::size_t i = 0; i < said.size(); ++i) {
    Proposal proposal;
    std::memcpy(&proposal, said[i].data(), sizeof proposal);
    serial = std::max(serial, proposal.serial);
    if (slice.has(static_cast<int>(i))) free_pads &= proposal.free_pads;
  }
  {
    const std::lock_guard lock(world.mutex);
    world.next_serial = std::max(world.next_serial, serial + 1);
  }
  call.exchange([&] {
    if (team) settle(world, *team, free_pads);
    return std::string();
  });
  if (!team) return nullptr;
  team->serial = serial;
  const std::lock_guard lock(world.mutex);
  world.teams[team->on_device] = team;
  return team;
}

}  // namespace

TeamPtr split_strided(World& world, Team& parent, int start, int stride, int n_pes) {
  const Slice slice{start, stride, n_pes};
  Collective call(world.bootstrap(), parent,
                  text("hgs_team_split_strided(", parent.name(), ", start=", start,
                       ", stride=", stride, ", n_pes=", n_pes, ")"));
  return make_team(world, parent, call, slice);
}

std::pair<TeamPtr, TeamPtr> split_2d(World& world, Team& parent, int x_range) {
  if (x_range < 1) fail(HGS_INVALID, "x_range is ", x_range, ": pass 1 or more");
  Collective call(world.bootstrap(), parent,
                  text("hgs_team_split_2d(", parent.name(), ", x_range=", x_range, ")"));
  const int size = parent.shape.n_pes;
  const int width = std::min(x_range, size);
  const int x = parent.shape.my_pe % width, row = parent.shape.my_pe - x;
  TeamPtr x_team = make_team(world, parent, call, {row, 1, std::min(width, size - row)});
  try {
    TeamPtr y_team = make_team(world, parent, call, {x, width, (size - 1 - x) / width + 1});
    return {std::move(x_team), std::move(y_team)};
  } catch (...) {
    const std::lock_guard lock(world.mutex);
    world.teams.erase(x_team->on_device);
    throw;
  }
}

void destroy_team(World& world, const TeamPtr& team) {
  if (team == world.team()) {
    fail(HGS_INVALID, "team is the world, which hgs_finalize ends: pass one made by a split");
  }
  Collective(world.bootstrap(), *team, text("hgs_team_destroy(", team->name(), ")")).meet();
  const std::lock_guard lock(world.mutex);
  world.teams.erase(team->on_device);
}

}  // namespace hipgraph::shmem
