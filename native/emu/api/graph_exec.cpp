#include "runtime/graph_exec.h"

#include "api/api.h"
#include "runtime/capture_rules.h"
#include "runtime/graph_memory.h"

using namespace hipgraph::emu;

namespace {

void instantiate(hipGraphExec_t* graph_exec, hipGraph_t graph, unsigned long long flags) {
  clear(required(graph_exec));
  const bool known = flags == 0 || flags == hipGraphInstantiateFlagAutoFreeOnLaunch ||
                     flags == hipGraphInstantiateFlagUseNodePriority;
  require(known, hipErrorInvalidValue);
  const ApiLock lock;
  const GraphPtr found = find_graph(graph);
  auto made = std::make_shared<GraphExec>(*found, flags);
  note_instantiated(*found);
  *graph_exec = add_graph_exec(made);
}

}  // namespace

// Like HIP's, it never writes the error node and the log.
HIPGRAPH_API hipError_t hipGraphInstantiate(hipGraphExec_t* graph_exec, hipGraph_t graph,
                                            hipGraphNode_t*, char*, std::size_t) {
  return entry([&] { instantiate(graph_exec, graph, 0); });
}

HIPGRAPH_API hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* graph_exec, hipGraph_t graph,
                                                     unsigned long long flags) {
  return entry([&] { instantiate(graph_exec, graph, flags); });
}

HIPGRAPH_API hipError_t hipGraphExecGetFlags(hipGraphExec_t graph_exec, unsigned long long* flags) {
  return entry([&] {
    const ApiLock lock;
    *required(flags) = find_graph_exec(graph_exec)->flags();
  });
}

HIPGRAPH_API hipError_t hipGraphLaunch(hipGraphExec_t graph_exec, hipStream_t stream) {
  return entry([&, call = __func__] {
    const ApiLock lock;
    const GraphExecPtr found = find_graph_exec(graph_exec);
    const StreamPtr on = find_stream(stream);
    permit(call, *on);
    found->launch(*on);
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
