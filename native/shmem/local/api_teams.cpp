#include "arguments.h"
#include "team_split.h"

using namespace hipgraph::shmem;

namespace {

void* handle_of(const TeamPtr& team) { return team ? team->on_device : nullptr; }

}  // namespace

int hgs_team_world(void** team) {
  return entry([&] { result_of(team, "team") = handle_of(world()->team()); });
}

// All PEs are on this node and reach each other's memory.
int hgs_team_shared(void** team) { return hgs_team_world(team); }

int hgs_team_my_pe(void* team, int* pe) {
  return entry([&] { result_of(pe, "pe") = check_team(*world(), team)->shape.my_pe; });
}

int hgs_team_n_pes(void* team, int* n_pes) {
  return entry([&] { result_of(n_pes, "n_pes") = check_team(*world(), team)->shape.n_pes; });
}

int hgs_team_translate_pe(void* source, int pe, void* target, int* target_pe) {
  return entry([&] {
    const WorldPtr here = world();
    const TeamPtr from = check_team(*here, source);
    if (pe < 0 || pe >= from->shape.n_pes) {
      fail(HGS_INVALID, "pe is ", pe, ": pass a PE of the source team, 0 to ",
           from->shape.n_pes - 1);
    }
    result_of(target_pe, "target_pe") = check_team(*here, target)->index_of(from->world_pe(pe));
  });
}

int hgs_team_split_strided(void* parent, int start, int stride, int n_pes, void** team) {
  return entry([&] {
    const WorldPtr here = world();
    void*& result = result_of(team, "team");
    result = handle_of(split_strided(*here, *check_team(*here, parent), start, stride, n_pes));
  });
}

int hgs_team_split_2d(void* parent, int x_range, void** x_team, void** y_team) {
  return entry([&] {
    const WorldPtr here = world();
    void*& x_result = result_of(x_team, "x_team");
    void*& y_result = result_of(y_team, "y_team");
    const auto [x, y] = split_2d(*here, *check_team(*here, parent), x_range);
    x_result = handle_of(x);
    y_result = handle_of(y);
  });
}

int hgs_team_destroy(void* team) {
  return entry([&] {
    const WorldPtr here = world();
    destroy_team(*here, check_team(*here, team));
  });
}
