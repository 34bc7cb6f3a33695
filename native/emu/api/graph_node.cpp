#include <algorithm>
#include <utility>
#include <vector>

#include "api/api.h"
#include "runtime/graph.h"
#include "runtime/launch.h"
#include "runtime/memory_checks.h"

using namespace hipgraph::emu;

namespace {

/// Where a node goes: the arguments that every AddNode call has.
struct Place {
  hipGraphNode_t* node;
  hipGraph_t graph;
  const hipGraphNode_t* dependencies;
  std::size_t count;
};

std::vector<Node*> find_dependencies(const Place& place, const Graph& graph) {
  require(place.count == 0 || place.dependencies != nullptr, hipErrorInvalidValue);
  std::vector<Node*> found;
  for (std::size_t i = 0; i < place.count; ++i) {
    Node* node = &required_node(place.dependencies[i]);
    const bool repeated = std::ranges::find(found, node) != found.end();
    require(node->graph == &graph && !repeated, hipErrorInvalidValue);
    found.push_back(node);
  }
  return found;
}

/// Adds what `make` returns. Everything is checked before the graph changes; HIP would leave the
/// node of a refused call in it.
template <class Make>
void add_node(const Place& place, Make&& make) {
  required(place.node);
  const ApiLock lock;
  const GraphPtr graph = find_graph(place.graph);
  const std::vector<Node*> dependencies = find_dependencies(place, *graph);
  Node& node = graph->add(make(*graph), dependencies);
  node.manual = true;
  *place.node = node.handle;
}

}  // namespace

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
