#include "api/api.h"
#include "runtime/graph_update.h"
#include "runtime/node_params.h"

using namespace hipgraph::emu;

namespace {

/// What the generic setters refuse and the setters of one kind of node do not: a host function
/// without user data, and memory nodes, which have no setters of their own.
void check_generic_edit(const hipGraphNodeParams& params) {
  const bool memory =
      params.type == hipGraphNodeTypeMemAlloc || params.type == hipGraphNodeTypeMemFree;
  require(!memory, hipErrorNotSupported);
  const bool host = params.type == hipGraphNodeTypeHost;
  require(!host || params.host.userData != nullptr, hipErrorInvalidValue);
}

bool can_be_disabled(const NodeWork& work) {
  return std::holds_alternative<KernelWork>(work) || std::holds_alternative<MemcpyWork>(work) ||
         std::holds_alternative<MemsetWork>(work);
}

ExecNode& switchable_node(hipGraphExec_t graph_exec, hipGraphNode_t node) {
  ExecNode& found = find_graph_exec(graph_exec)->node(node);
  require(can_be_disabled(found.work), hipErrorInvalidValue);
  return found;
}

}  // namespace

HIPGRAPH_API hipError_t hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams* params) {
  return entry([&] {
    const ApiLock lock;
    Node& changed = required_node(node);
    check_generic_edit(*required(params));
    edit(changed, work_of(params));
  });
}

HIPGRAPH_API hipError_t hipGraphExecNodeSetParams(hipGraphExec_t graph_exec, hipGraphNode_t node,
                                                  hipGraphNodeParams* params) {
  return entry([&] {
    const ApiLock lock;
    ExecNode& changed = find_graph_exec(graph_exec)->node(node);
    check_generic_edit(*required(params));
    if (params->type == hipGraphNodeTypeGraph) {
      set_child(changed, *find_graph(params->graph));
    } else {
      edit(changed, work_of(params));
    }
  });
}

HIPGRAPH_API hipError_t hipGraphExecUpdate(hipGraphExec_t graph_exec, hipGraph_t graph,
                                           hipGraphNode_t* node, hipGraphExecUpdateResult* result) {
  return entry([&] {
    require(node != nullptr && result != nullptr, hipErrorInvalidValue);
    const ApiLock lock;
    const GraphExecPtr updated = find_graph_exec(graph_exec);
    const UpdateOutcome outcome = update(*updated, *find_graph(graph));
    *result = outcome.result;
    if (outcome.result == hipGraphExecUpdateSuccess) return hipSuccess;
    *node = outcome.node;
    return hipErrorGraphExecUpdateFailure;
  });
}

HIPGRAPH_API hipError_t hipGraphNodeSetEnabled(hipGraphExec_t graph_exec, hipGraphNode_t node,
                                               unsigned enabled) {
  return entry([&] {
    const ApiLock lock;
    switchable_node(graph_exec, node).enabled = enabled;
  });
}

HIPGRAPH_API hipError_t hipGraphNodeGetEnabled(hipGraphExec_t graph_exec, hipGraphNode_t node,
                                               unsigned* enabled) {
  return entry([&] {
    const ApiLock lock;
    *required(enabled) = switchable_node(graph_exec, node).enabled;
  });
}
