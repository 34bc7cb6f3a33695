#include "runtime/launch.h"

#include "api/api.h"
#include "runtime/capture.h"
#include "runtime/capture_rules.h"
#include "runtime/node_commands.h"

using namespace hipgraph::emu;

HIPGRAPH_API hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x,
                                              unsigned grid_y, unsigned grid_z, unsigned block_x,
                                              unsigned block_y, unsigned block_z,
                                              unsigned dynamic_lds_bytes, hipStream_t stream,
                                              void** parameters, void** extra) {
  return entry([&, call = __func__] {
    const LaunchCall launch{{grid_x, grid_y, grid_z},
                            {block_x, block_y, block_z},
                            dynamic_lds_bytes,
                            parameters,
                            extra};
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    const Admission admission = permit(call, *found);
    const FunctionPtr kernel = find_function(function);
    if (admission == Admission::Record) {
      record(*found, check_launch_node(kernel, launch));
    } else {
      const KernelWork work = check_launch(kernel, launch);
      enqueue(*found, make_command(work, found->device, origin_of_stream(stream)));
    }
  });
}

HIPGRAPH_API hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function,
                                          void* user_data) {
  return entry([&, call = __func__] {
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    const Admission admission = permit(call, *found);
    require(function != nullptr, hipErrorInvalidValue);
    const HostWork work{{function, user_data}};
    if (admission == Admission::Record) {
      record(*found, work);
    } else {
      enqueue(*found, make_command(work, found->device, {}));
    }
  });
}
