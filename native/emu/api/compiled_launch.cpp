#include "api/api.h"
#include "runtime/call_configuration.h"
#include "runtime/launch.h"
#include "runtime/registered_code.h"
#include "runtime/submission.h"

using namespace hipgraph::emu;

// Launches by host function: what <<< >>> is compiled to, and the older form that sets arguments
// one by one.

namespace {

LaunchCall with_parameters(const CallConfiguration& configuration, void** parameters) {
  const bool fits = configuration.dynamic_lds_bytes <= UINT32_MAX;
  require(fits, hipErrorInvalidValue);
  return {configuration.grid, configuration.block,
          static_cast<unsigned>(configuration.dynamic_lds_bytes), parameters, nullptr};
}

void launch_host_function(const char* call, const void* host, const LaunchCall& launch,
                          hipStream_t stream) {
  const ApiLock lock;
  const StreamPtr found = find_stream(stream);
  const Admission admission = permit(call, *found);
  const FunctionPtr kernel = find_host_function(host, found->device);
  submit(*found, admission, check_launch_node(kernel, launch), stream);
}

}  // namespace

HIPGRAPH_API hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block,
                                                   std::size_t dynamic_lds_bytes,
                                                   hipStream_t stream) {
  return entry([&] { push_configuration({grid, block, dynamic_lds_bytes, stream, {}}); });
}

HIPGRAPH_API hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block,
                                                  std::size_t* dynamic_lds_bytes,
                                                  hipStream_t* stream) {
  return entry([&] {
    const CallConfiguration top = pop_configuration();
    *grid = top.grid;
    *block = top.block;
    *dynamic_lds_bytes = top.dynamic_lds_bytes;
    *stream = top.stream;
  });
}

HIPGRAPH_API hipError_t hipLaunchKernel(const void* host, dim3 grid, dim3 block, void** parameters,
                                        std::size_t dynamic_lds_bytes, hipStream_t stream) {
  return entry([&, call = __func__] {
    const CallConfiguration configuration{grid, block, dynamic_lds_bytes, stream, {}};
    launch_host_function(call, host, with_parameters(configuration, parameters), stream);
  });
}

HIPGRAPH_API hipError_t hipConfigureCall(dim3 grid, dim3 block, std::size_t dynamic_lds_bytes,
                                         hipStream_t stream) {
  return entry([&] { push_configuration({grid, block, dynamic_lds_bytes, stream, {}}); });
}

HIPGRAPH_API hipError_t hipSetupArgument(const void* argument, std::size_t bytes,
                                         std::size_t offset) {
  return entry([&] { set_argument(argument, bytes, offset); });
}

HIPGRAPH_API hipError_t hipLaunchByPtr(const void* host) {
  return entry([&, call = __func__] {
    CallConfiguration top = pop_configuration();
    std::size_t bytes = top.arguments.size();
    void* extra[] = {reinterpret_cast<void*>(HIP_LAUNCH_PARAM_BUFFER_POINTER), top.arguments.data(),
                     reinterpret_cast<void*>(HIP_LAUNCH_PARAM_BUFFER_SIZE), &bytes,
                     reinterpret_cast<void*>(HIP_LAUNCH_PARAM_END)};
    LaunchCall launch = with_parameters(top, nullptr);
    if (bytes != 0) launch.extra = extra;
    launch_host_function(call, host, launch, top.stream);
  });
}
