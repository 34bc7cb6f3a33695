#include "api/graph_place.h"
#include "runtime/memory_checks.h"
#include "runtime/node_params.h"

using namespace hipgraph::emu;

HIPGRAPH_API hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph,
                                             const hipGraphNode_t* dependencies,
                                             std::size_t count) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count}, [](const Graph&) { return EmptyWork{}; });
  });
}

HIPGRAPH_API hipError_t hipGraphAddKernelNode(hipGraphNode_t* node, hipGraph_t graph,
                                              const hipGraphNode_t* dependencies, std::size_t count,
                                              const hipKernelNodeParams* params) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count}, [&](const Graph&) { return work_of(params); });
  });
}

HIPGRAPH_API hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph,
                                              const hipGraphNode_t* dependencies, std::size_t count,
                                              const hipMemsetParams* params) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count}, [&](const Graph&) { return work_of(params); });
  });
}

HIPGRAPH_API hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* node, hipGraph_t graph,
                                                const hipGraphNode_t* dependencies,
                                                std::size_t count, void* to, const void* from,
                                                std::size_t bytes, hipMemcpyKind kind) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count},
             [&](const Graph&) { return check_copy_node(to, from, bytes, kind); });
  });
}

HIPGRAPH_API hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph,
                                              const hipGraphNode_t* dependencies, std::size_t count,
                                              const hipMemcpy3DParms* params) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count}, [&](const Graph&) { return work_of(params); });
  });
}

HIPGRAPH_API hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph,
                                            const hipGraphNode_t* dependencies, std::size_t count,
                                            const hipHostNodeParams* params) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count}, [&](const Graph&) { return work_of(params); });
  });
}

HIPGRAPH_API hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* node, hipGraph_t graph,
                                                  const hipGraphNode_t* dependencies,
                                                  std::size_t count, hipGraph_t child) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count}, [&](const Graph&) { return embed(child); });
  });
}

HIPGRAPH_API hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* node, hipGraph_t graph,
                                                   const hipGraphNode_t* dependencies,
                                                   std::size_t count, hipEvent_t event) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count},
             [&](const Graph&) { return EventRecordWork{event_of_node(event)}; });
  });
}

HIPGRAPH_API hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* node, hipGraph_t graph,
                                                 const hipGraphNode_t* dependencies,
                                                 std::size_t count, hipEvent_t event) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count},
             [&](const Graph&) { return EventWaitWork{event_of_node(event)}; });
  });
}

HIPGRAPH_API hipError_t hipGraphAddNode(hipGraphNode_t* node, hipGraph_t graph,
                                        const hipGraphNode_t* dependencies, std::size_t count,
                                        hipGraphNodeParams* params) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count}, [&](const Graph&) { return work_of(params); });
  });
}
