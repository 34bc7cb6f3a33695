#include "api/graph_place.h"
#include "runtime/launch.h"
#include "runtime/memory_checks.h"

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
    require(params != nullptr && params->func != nullptr, hipErrorInvalidValue);
    add_node({node, graph, dependencies, count}, [&](const Graph&) {
      return check_launch_node(find_function(params->func), launch_of(*params));
    });
  });
}

HIPGRAPH_API hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph,
                                              const hipGraphNode_t* dependencies, std::size_t count,
                                              const hipMemsetParams* params) {
  return entry([&] {
    clear(node);
    require(params != nullptr, hipErrorInvalidValue);
    add_node({node, graph, dependencies, count},
             [&](const Graph&) { return check_fill_node(*params); });
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
    require(params != nullptr, hipErrorInvalidValue);
    add_node({node, graph, dependencies, count},
             [&](const Graph&) { return check_copy_region(*params); });
  });
}

HIPGRAPH_API hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph,
                                            const hipGraphNode_t* dependencies, std::size_t count,
                                            const hipHostNodeParams* params) {
  return entry([&] {
    clear(node);
    require(params != nullptr && params->fn != nullptr, hipErrorInvalidValue);
    add_node({node, graph, dependencies, count}, [&](const Graph&) { return HostWork{*params}; });
  });
}

HIPGRAPH_API hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* node, hipGraph_t graph,
                                                  const hipGraphNode_t* dependencies,
                                                  std::size_t count, hipGraph_t child) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count}, [&](const Graph& parent) {
      const GraphPtr original = find_graph(child);
      require(original.get() != &parent, hipErrorInvalidValue);
      return ChildWork{original->clone()};
    });
  });
}
