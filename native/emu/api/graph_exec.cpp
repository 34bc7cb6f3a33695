#include "runtime/graph_exec.h"

#include "api/api.h"
#include "graph_abi.h"
#include "runtime/capture_rules.h"
#include "runtime/graph_memory.h"

using namespace hipgraph::emu;

namespace {

/// Flags come one at a time.
bool is_flag(unsigned long long flags) {
  return flags == 0 || flags == hipGraphInstantiateFlagAutoFreeOnLaunch ||
         flags == hipGraphInstantiateFlagUseNodePriority;
}

hipGraphExec_t instantiate(hipGraph_t graph, unsigned long long flags) {
  const GraphPtr found = find_graph(graph);
  auto made = std::make_shared<GraphExec>(*found, flags);
  note_instantiated(*found);
  return add_graph_exec(made);
}

void instantiate_with_flags(hipGraphExec_t* graph_exec, hipGraph_t graph,
                            unsigned long long flags) {
  clear(required(graph_exec));
  require(is_flag(flags), hipErrorInvalidValue);
  const ApiLock lock;
  *graph_exec = instantiate(graph, flags);
}

/// Uploading is nothing to do on this device, but the stream must be one.
hipGraphExec_t instantiate_with_params(hipGraph_t graph, const hipGraphInstantiateParams& params) {
  const bool upload = params.flags == hipGraphInstantiateFlagUpload;
  const bool known =
      is_flag(params.flags) || upload || params.flags == hipGraphInstantiateFlagDeviceLaunch;
  require(known, hipErrorInvalidValue);
  const ApiLock lock;
  if (upload) find_stream(params.uploadStream);
  return instantiate(graph, params.flags);
}

void launch_exec(const char* call, hipGraphExec_t graph_exec, hipStream_t stream) {
  const ApiLock lock;
  const GraphExecPtr found = find_graph_exec(graph_exec);
  const StreamPtr on = find_stream(stream);
  permit(call, *on);
  found->launch(on);
}

}  // namespace

// Like HIP's, it never writes the error node and the log.
HIPGRAPH_API hipError_t hipGraphInstantiate(hipGraphExec_t* graph_exec, hipGraph_t graph,
                                            hipGraphNode_t*, char*, std::size_t) {
  return entry([&] { instantiate_with_flags(graph_exec, graph, 0); });
}

HIPGRAPH_API hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* graph_exec, hipGraph_t graph,
                                                     unsigned long long flags) {
  return entry([&] { instantiate_with_flags(graph_exec, graph, flags); });
}

HIPGRAPH_API hipError_t hipGraphInstantiateWithParams(hipGraphExec_t* graph_exec, hipGraph_t graph,
                                                      hipGraphInstantiateParams* params) {
  return entry([&] {
    clear(graph_exec);
    required(params)->result_out = hipGraphInstantiateError;
    params->errNode_out = nullptr;
    required(graph_exec);
    *graph_exec = instantiate_with_params(graph, *params);
    params->result_out = hipGraphInstantiateSuccess;
  });
}

HIPGRAPH_API hipError_t hipGraphExecGetFlags(hipGraphExec_t graph_exec, unsigned long long* flags) {
  return entry([&] {
    const ApiLock lock;
    *required(flags) = find_graph_exec(graph_exec)->flags();
  });
}

HIPGRAPH_API hipError_t hipGraphLaunch(hipGraphExec_t graph_exec, hipStream_t stream) {
  return entry([&, call = __func__] { launch_exec(call, graph_exec, stream); });
}

HIPGRAPH_API hipError_t hipGraphLaunch_spt(hipGraphExec_t graph_exec, hipStream_t stream) {
  return entry([&, call = __func__] {
    const bool default_stream = stream == nullptr || stream == stream_legacy;
    launch_exec(call, graph_exec, default_stream ? stream_per_thread : stream);
  });
}

HIPGRAPH_API hipError_t hipGraphUpload(hipGraphExec_t graph_exec, hipStream_t) {
  return entry([&] {
    const ApiLock lock;
    find_graph_exec(graph_exec);
  });
}

HIPGRAPH_API hipError_t hipGraphExecDestroy(hipGraphExec_t graph_exec) {
  return entry([&] {
    const ApiLock lock;
    destroy_graph_exec(graph_exec);
  });
}
