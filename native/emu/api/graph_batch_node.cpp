#include "api/graph_place.h"
#include "runtime/memory_operations.h"
#include "runtime/node_params.h"

using namespace hipgraph::emu;

// Nodes that write values and wait for them. hipGraphNodeParams has no place for their parameters,
// so the calls for nodes of any kind refuse this one.

namespace {

hipBatchMemOpNodeParams batch_params_of(Node& node) {
  const auto& work = work_as<MemoryWork>(node.work);
  std::vector<hipStreamBatchMemOpParams>& shown = node.shown.operations;
  shown.clear();
  for (const MemoryOperation& operation : work.operations) shown.push_back(params_of(operation));
  return {work.context, static_cast<unsigned>(shown.size()), shown.data(), 0};
}

}  // namespace

HIPGRAPH_API hipError_t hipGraphAddBatchMemOpNode(hipGraphNode_t* node, hipGraph_t graph,
                                                  const hipGraphNode_t* dependencies,
                                                  std::size_t count,
                                                  const hipBatchMemOpNodeParams* params) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count}, [&](const Graph&) { return work_of(params); });
  });
}

HIPGRAPH_API hipError_t hipGraphBatchMemOpNodeGetParams(hipGraphNode_t node,
                                                        hipBatchMemOpNodeParams* params) {
  return entry([&] {
    const ApiLock lock;
    *required(params) = batch_params_of(required_node(node));
  });
}

HIPGRAPH_API hipError_t hipGraphBatchMemOpNodeSetParams(hipGraphNode_t node,
                                                        hipBatchMemOpNodeParams* params) {
  return entry([&] {
    const ApiLock lock;
    edit(required_node(node), work_of(params));
  });
}

HIPGRAPH_API hipError_t hipGraphExecBatchMemOpNodeSetParams(hipGraphExec_t graph_exec,
                                                            hipGraphNode_t node,
                                                            const hipBatchMemOpNodeParams* params) {
  return entry([&] {
    const ApiLock lock;
    edit(find_graph_exec(graph_exec)->node(node), work_of(params));
  });
}
