// What every file of the shim shares: the state of the one rocSHMEM of the process, how a call
// fails, and the checks in front of calls that would end the process on bad input.
#pragma once
#include "rocshmem_api.h"
#include "rocshmem_c.h"

namespace hgs {

enum class Life { FRESH, RUNNING, ENDED };

struct State {
  Life life = Life::FRESH;
  int n_pes = 0;
};

State& state();

/// Keeps the text for hgs_error and returns the status.
[[gnu::format(printf, 2, 3)]] int fail(hgs_status status, const char* format, ...);

/// HGS_OK, or HGS_HIP with the call's name and the error's.
int hip_status(const char* call, hipError_t error);

/// HGS_OK while rocSHMEM runs.
int require_running(const char* call);
/// The same, and `pe` is one of the world.
int require_pe(const char* call, int pe);
/// The same, and `pointer`, which the text calls `what`, is not null.
int require_pointer(const char* call, const void* pointer, const char* what);

/// Caches what hgs_symbol_bytes answers; needs a running rocSHMEM.
int cache_device_symbols();

inline rocshmem::rocshmem_team_t team_of(void* team) {
  return static_cast<rocshmem::rocshmem_team_t>(team);
}

template <typename Action>
int when_running(const char* call, Action action) {
  if (int status = require_running(call)) return status;
  action();
  return HGS_OK;
}

template <typename Action>
int with_pe(const char* call, int pe, Action action) {
  if (int status = require_pe(call, pe)) return status;
  action();
  return HGS_OK;
}

template <typename Action>
int with_team(const char* call, void* team, Action action) {
  if (int status = require_pointer(call, team, "team")) return status;
  action(team_of(team));
  return HGS_OK;
}

/// Runs what launches kernels on a stream. rocSHMEM returns before it knows that a launch failed,
/// so the thread's last HIP error tells; what is older was told by its own call.
template <typename Action>
int on_stream(const char* call, void* stream, Action action) {
  if (int status = require_pointer(call, stream, "stream")) return status;
  hipGetLastError();
  action(static_cast<hipStream_t>(stream));
  return hip_status(call, hipGetLastError());
}

template <typename Action>
int on_team_stream(const char* call, void* team, void* stream, Action action) {
  if (int status = require_pointer(call, team, "team")) return status;
  return on_stream(call, stream, action);
}

template <typename Action>
int on_pe_stream(const char* call, int pe, void* stream, Action action) {
  if (int status = require_pe(call, pe)) return status;
  return on_stream(call, stream, action);
}

}  // namespace hgs
