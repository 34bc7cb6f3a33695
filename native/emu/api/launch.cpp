#include "runtime/launch.h"

#include "api/api.h"
#include "runtime/submission.h"

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
    const bool recorded = admission == Admission::Record;
    submit(*found, admission,
           recorded ? check_launch_node(kernel, launch) : check_launch(kernel, launch), stream);
  });
}

HIPGRAPH_API hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function,
                                          void* user_data) {
  return entry([&, call = __func__] {
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    const Admission admission = permit(call, *found);
    require(function != nullptr, hipErrorInvalidValue);
    submit(*found, admission, HostWork{{function, user_data}}, stream);
  });
}
