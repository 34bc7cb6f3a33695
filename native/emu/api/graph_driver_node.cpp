#include "api/graph_place.h"
#include "runtime/driver_copy.h"
#include "runtime/node_params.h"

using namespace hipgraph::emu;

// The context argument of these calls says nothing that the graph's device does not.

namespace {

MemcpyWork driver_work_of(const HIP_MEMCPY3D* copy) {
  const hipMemcpy3DParms parms = region_of(*required(copy));
  return work_of(&parms);
}

}  // namespace

HIPGRAPH_API hipError_t hipDrvGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph,
                                                 const hipGraphNode_t* dependencies,
                                                 std::size_t count, const HIP_MEMCPY3D* copy,
                                                 hipCtx_t) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count},
             [&](const Graph&) { return driver_work_of(copy); });
  });
}

HIPGRAPH_API hipError_t hipDrvGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph,
                                                 const hipGraphNode_t* dependencies,
                                                 std::size_t count, const hipMemsetParams* params,
                                                 hipCtx_t) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count}, [&](const Graph&) { return work_of(params); });
  });
}

HIPGRAPH_API hipError_t hipDrvGraphMemcpyNodeGetParams(hipGraphNode_t node, HIP_MEMCPY3D* copy) {
  return entry([&] {
    const ApiLock lock;
    *required(copy) = driver_copy_of(work_as<MemcpyWork>(required_node(node).work).parms);
  });
}

HIPGRAPH_API hipError_t hipDrvGraphMemcpyNodeSetParams(hipGraphNode_t node,
                                                       const HIP_MEMCPY3D* copy) {
  return entry([&] {
    const ApiLock lock;
    edit(required_node(node), driver_work_of(copy));
  });
}

HIPGRAPH_API hipError_t hipDrvGraphExecMemcpyNodeSetParams(hipGraphExec_t graph_exec,
                                                           hipGraphNode_t node,
                                                           const HIP_MEMCPY3D* copy, hipCtx_t) {
  return entry([&] {
    const ApiLock lock;
    edit(find_graph_exec(graph_exec)->node(node), driver_work_of(copy));
  });
}

HIPGRAPH_API hipError_t hipDrvGraphExecMemsetNodeSetParams(hipGraphExec_t graph_exec,
                                                           hipGraphNode_t node,
                                                           const hipMemsetParams* params,
                                                           hipCtx_t) {
  return entry([&] {
    const ApiLock lock;
    edit(find_graph_exec(graph_exec)->node(node), work_of(params));
  });
}
