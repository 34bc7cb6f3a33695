#include "rocshmem_state.h"

#if HGS_HAVE_team_world
int hgs_team_world(void** team) {
  // A variable that rocSHMEM sets when it is initialised.
  return hgs::when_running("hgs_team_world", [=] {
#if HGS_HAVE_team_world == 1
    *team = rocshmem::host::ROCSHMEM_TEAM_WORLD;
#else
    *team = rocshmem::ROCSHMEM_TEAM_WORLD;
#endif
  });
}
#endif

#if HGS_HAVE_team_shared
int hgs_team_shared(void** team) {
  return hgs::when_running("hgs_team_shared",
                           [=] { *team = rocshmem::host::ROCSHMEM_TEAM_SHARED; });
}
#endif

#if HGS_HAVE_team_my_pe
int hgs_team_my_pe(void* team, int* pe) {
  return hgs::with_team("hgs_team_my_pe", team, [=](rocshmem::rocshmem_team_t handle) {
    *pe = rocshmem::rocshmem_team_my_pe(handle);
  });
}
#endif

#if HGS_HAVE_team_n_pes
int hgs_team_n_pes(void* team, int* n_pes) {
  return hgs::with_team("hgs_team_n_pes", team, [=](rocshmem::rocshmem_team_t handle) {
    *n_pes = rocshmem::rocshmem_team_n_pes(handle);
  });
}
#endif

#if HGS_HAVE_team_translate_pe
int hgs_team_translate_pe(void* source, int pe, void* target, int* target_pe) {
  const char* call = "hgs_team_translate_pe";
  if (int status = hgs::require_pointer(call, source, "source")) return status;
  if (int status = hgs::require_pointer(call, target, "target")) return status;
  *target_pe = rocshmem::rocshmem_team_translate_pe(hgs::team_of(source), pe, hgs::team_of(target));
  return HGS_OK;
}
#endif

#if HGS_HAVE_team_split_strided
int hgs_team_split_strided(void* parent, int start, int stride, int n_pes, void** team) {
  const char* call = "hgs_team_split_strided";
  if (int status = hgs::require_pointer(call, parent, "parent")) return status;
  rocshmem::rocshmem_team_t made = nullptr;
  const int result = rocshmem::rocshmem_team_split_strided(hgs::team_of(parent), start, stride,
                                                           n_pes, nullptr, 0, &made);
  *team = made;
  if (result == 0) return HGS_OK;
  return hgs::fail(HGS_FAILED, "%s: refused by rocSHMEM: start=%d stride=%d n_pes=%d", call, start,
                   stride, n_pes);
}
#endif

#if HGS_HAVE_team_split_2d
int hgs_team_split_2d(void* parent, int x_range, void** x_team, void** y_team) {
  const char* call = "hgs_team_split_2d";
  if (int status = hgs::require_pointer(call, parent, "parent")) return status;
  rocshmem::rocshmem_team_t x_made = nullptr;
  rocshmem::rocshmem_team_t y_made = nullptr;
  const int result = rocshmem::rocshmem_team_split_2d(hgs::team_of(parent), x_range, nullptr, 0,
                                                      &x_made, nullptr, 0, &y_made);
  *x_team = x_made;
  *y_team = y_made;
  if (result == 0) return HGS_OK;
  return hgs::fail(HGS_FAILED, "%s: refused by rocSHMEM: x_range=%d", call, x_range);
}
#endif

#if HGS_HAVE_team_destroy
int hgs_team_destroy(void* team) {
  return hgs::with_team("hgs_team_destroy", team, [=](rocshmem::rocshmem_team_t handle) {
    rocshmem::rocshmem_team_destroy(handle);
  });
}
#endif

#if HGS_HAVE_fence
int hgs_fence(void) {
  return hgs::when_running("hgs_fence", [=] { rocshmem::rocshmem_fence(); });
}
#endif

#if HGS_HAVE_quiet
int hgs_quiet(void) {
  return hgs::when_running("hgs_quiet", [=] { rocshmem::rocshmem_quiet(); });
}
#endif

#if HGS_HAVE_barrier_all
int hgs_barrier_all(void) {
  return hgs::when_running("hgs_barrier_all", [=] { rocshmem::rocshmem_barrier_all(); });
}
#endif

#if HGS_HAVE_sync_all
int hgs_sync_all(void) {
  return hgs::when_running("hgs_sync_all", [=] { rocshmem::rocshmem_sync_all(); });
}
#endif

#if HGS_HAVE_barrier
int hgs_barrier(void* team) {
  return hgs::with_team("hgs_barrier", team, [=](rocshmem::rocshmem_team_t handle) {
    rocshmem::rocshmem_barrier(handle);
  });
}
#endif

#if HGS_HAVE_team_sync
int hgs_team_sync(void* team) {
  return hgs::with_team("hgs_team_sync", team, [=](rocshmem::rocshmem_team_t handle) {
    rocshmem::rocshmem_team_sync(handle);
  });
}
#endif
