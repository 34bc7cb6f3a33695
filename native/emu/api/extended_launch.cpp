#include <cstdint>

#include "api/api.h"
#include "runtime/device.h"
#include "runtime/dispatch.h"
#include "runtime/event.h"
#include "runtime/launch.h"
#include "runtime/registered_code.h"
#include "runtime/submission.h"

using namespace hipgraph::emu;

// Launches with events around them, and cooperative ones.

namespace {

struct LaunchEvents {
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
};

void record_unless_null(hipEvent_t event, const StreamPtr& stream) {
  if (event != nullptr) record_eagerly(*find_event(event), stream);
}

/// Launches and puts the events around it; a recorded launch is a node without them.
void launch_between(const StreamPtr& stream, Admission admission, const KernelWork& work,
                    hipStream_t handle, const LaunchEvents& events) {
  const bool now = admission == Admission::Execute;
  if (now) record_unless_null(events.start, stream);
  submit(*stream, admission, work, handle);
  if (now) record_unless_null(events.stop, stream);
}

/// Workgroups along one axis of a launch that counts work-items, the last of which may be partial.
unsigned groups(unsigned items, unsigned block) {
  require(block != 0 && items != 0, hipErrorInvalidConfiguration);
  return (items - 1) / block + 1;
}

/// All groups of a cooperative launch must be resident at once.
KernelWork check_cooperative(const FunctionPtr& function, const LaunchCall& launch) {
  KernelWork work = check_launch_node(function, launch);
  const std::uint64_t items = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  const std::uint64_t wanted = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  const std::uint64_t each = workgroups_per_compute_unit(
      *function->kernel, static_cast<std::uint32_t>(items), launch.dynamic_lds_bytes);
  require(wanted <= each * device_model().compute_units, hipErrorCooperativeLaunchTooLarge);
  return work;
}

}  // namespace

HIPGRAPH_API hipError_t hipExtLaunchKernel(const void* host, dim3 grid, dim3 block,
                                           void** parameters, std::size_t dynamic_lds_bytes,
                                           hipStream_t stream, hipEvent_t start, hipEvent_t stop,
                                           int) {
  return entry([&, call = __func__] {
    require(dynamic_lds_bytes <= UINT32_MAX, hipErrorInvalidValue);
    const LaunchCall launch{grid, block, static_cast<unsigned>(dynamic_lds_bytes), parameters,
                            nullptr};
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    const Admission admission = permit(call, *found);
    const FunctionPtr kernel = find_host_function(host, found->device);
    launch_between(found, admission, check_launch_node(kernel, launch), stream, {start, stop});
  });
}

HIPGRAPH_API hipError_t hipExtModuleLaunchKernel(
    hipFunction_t function, unsigned items_x, unsigned items_y, unsigned items_z, unsigned block_x,
    unsigned block_y, unsigned block_z, std::size_t dynamic_lds_bytes, hipStream_t stream,
    void** parameters, void** extra, hipEvent_t start, hipEvent_t stop, unsigned) {
  return entry([&, call = __func__] {
    require(dynamic_lds_bytes <= UINT32_MAX, hipErrorInvalidValue);
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    const Admission admission = permit(call, *found);
    const FunctionPtr kernel = find_function(function);
    require(kernel != nullptr, hipErrorInvalidHandle);
    const LaunchCall launch{
        {groups(items_x, block_x), groups(items_y, block_y), groups(items_z, block_z)},
        {block_x, block_y, block_z},
        static_cast<unsigned>(dynamic_lds_bytes),
        parameters,
        extra};
    KernelWork work = check_launch_node(kernel, launch);
    work.rest = {items_x % block_x, items_y % block_y, items_z % block_z};
    // A node counts blocks; HIP drops what is over there, and this device refuses it.
    const bool partial = work.rest != std::array<std::uint32_t, 3>{};
    require(!partial || admission == Admission::Execute, hipErrorNotSupported);
    launch_between(found, admission, work, stream, {start, stop});
  });
}

HIPGRAPH_API hipError_t hipLaunchCooperativeKernel(const void* host, dim3 grid, dim3 block,
                                                   void** parameters, unsigned dynamic_lds_bytes,
                                                   hipStream_t stream) {
  return entry([&, call = __func__] {
    const LaunchCall launch{grid, block, dynamic_lds_bytes, parameters, nullptr};
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    const Admission admission = permit(call, *found);
    const FunctionPtr kernel = find_host_function(host, found->device);
    submit(*found, admission, check_cooperative(kernel, launch), stream);
  });
}

HIPGRAPH_API hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x,
                                                         unsigned grid_y, unsigned grid_z,
                                                         unsigned block_x, unsigned block_y,
                                                         unsigned block_z,
                                                         unsigned dynamic_lds_bytes,
                                                         hipStream_t stream, void** parameters) {
  return entry([&, call = __func__] {
    const LaunchCall launch{{grid_x, grid_y, grid_z},
                            {block_x, block_y, block_z},
                            dynamic_lds_bytes,
                            parameters,
                            nullptr};
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    const Admission admission = permit(call, *found);
    const FunctionPtr kernel = find_function(function);
    require(kernel != nullptr, hipErrorInvalidHandle);
    submit(*found, admission, check_cooperative(kernel, launch), stream);
  });
}
