#include "api/api.h"
#include "runtime/graph_memory.h"
#include "runtime/graph_update.h"
#include "runtime/node_params.h"

using namespace hipgraph::emu;

HIPGRAPH_API hipError_t hipGraphClone(hipGraph_t* clone, hipGraph_t original) {
  return entry([&] {
    clear(required(clone));
    const ApiLock lock;
    const GraphPtr found = find_graph(original);
    require(!owns_memory(*found), hipErrorNotSupported);
    *clone = add_graph(found->clone());
  });
}

HIPGRAPH_API hipError_t hipGraphNodeFindInClone(hipGraphNode_t* node, hipGraphNode_t original,
                                                hipGraph_t clone) {
  return entry([&] {
    clear(required(node));
    const ApiLock lock;
    const Node* twin = find_graph(clone)->twin_of(required_node(original));
    require(twin != nullptr, hipErrorInvalidValue);
    *node = twin->handle;
  });
}

HIPGRAPH_API hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* graph) {
  return entry([&] {
    clear(required(graph));
    const ApiLock lock;
    *graph = handle_of_embedded(work_as<ChildWork>(required_node(node).work).graph);
  });
}

HIPGRAPH_API hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t graph_exec,
                                                            hipGraphNode_t node, hipGraph_t child) {
  return entry([&] {
    const ApiLock lock;
    ExecNode& changed = find_graph_exec(graph_exec)->node(node);
    set_child(changed, *find_graph(child));
  });
}
