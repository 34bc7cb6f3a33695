#include "runtime/graph.h"

#include <algorithm>
#include <span>
#include <vector>

#include "api/api.h"
#include "runtime/graph_memory.h"

using namespace hipgraph::emu;

namespace {

/// HIP's count protocol: without an array the total is told; a count up to the total asks for that
/// many and stays; a larger one gets null for the rest and becomes the total.
void give_nodes(std::span<Node* const> nodes, hipGraphNode_t* out, std::size_t* count) {
  const std::size_t total = nodes.size();
  const std::size_t wanted = *required(count);
  if (out == nullptr || wanted > total) *count = total;
  if (out == nullptr) return;
  for (std::size_t i = 0; i < wanted; ++i) out[i] = i < total ? nodes[i]->handle : nullptr;
}

/// Looks up both ends of every edge first, so that a refused call changes nothing.
struct Edge {
  Node* from;
  Node* to;
};

std::vector<Edge> find_edges(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                             std::size_t count) {
  const GraphPtr found = find_graph(graph);
  std::vector<Edge> edges;
  if (count == 0) return edges;
  require(from != nullptr && to != nullptr, hipErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    const Edge edge{&required_node(from[i]), &required_node(to[i])};
    const bool own = edge.from->graph == found.get() && edge.to->graph == found.get();
    require(own && edge.from != edge.to, hipErrorInvalidValue);
    edges.push_back(edge);
  }
  return edges;
}

}  // namespace

HIPGRAPH_API hipError_t hipGraphCreate(hipGraph_t* graph, unsigned flags) {
  return entry([&] {
    clear(required(graph));
    require(flags == 0, hipErrorInvalidValue);
    const ApiLock lock;
    *graph = add_graph(std::make_shared<Graph>(this_thread().device));
  });
}

HIPGRAPH_API hipError_t hipGraphDestroy(hipGraph_t graph) {
  return entry([&] {
    const ApiLock lock;
    destroy_graph(graph);
  });
}

HIPGRAPH_API hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from,
                                                const hipGraphNode_t* to, std::size_t count) {
  return entry([&] {
    const ApiLock lock;
    for (const Edge& edge : find_edges(graph, from, to, count)) {
      require(Graph::connect(*edge.from, *edge.to), hipErrorInvalidValue);
    }
  });
}

HIPGRAPH_API hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t* from,
                                                   const hipGraphNode_t* to, std::size_t count) {
  return entry([&] {
    const ApiLock lock;
    for (const Edge& edge : find_edges(graph, from, to, count)) {
      require(Graph::disconnect(*edge.from, *edge.to), hipErrorInvalidValue);
    }
  });
}

HIPGRAPH_API hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes,
                                         std::size_t* count) {
  return entry([&] {
    const ApiLock lock;
    const GraphPtr found = find_graph(graph);
    const std::vector<Node*> order = found->ordered();
    require(order.size() == found->nodes().size(), hipErrorInvalidValue);
    give_nodes(order, nodes, count);
  });
}

HIPGRAPH_API hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* nodes,
                                             std::size_t* count) {
  return entry([&] {
    const ApiLock lock;
    std::vector<Node*> roots;
    for (const auto& node : find_graph(graph)->nodes()) {
      if (node->dependencies.empty()) roots.push_back(node.get());
    }
    give_nodes(roots, nodes, count);
  });
}

HIPGRAPH_API hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to,
                                         std::size_t* count) {
  return entry([&] {
    const ApiLock lock;
    require((from == nullptr) == (to == nullptr), hipErrorInvalidValue);
    std::vector<Node*> sources;
    std::vector<Node*> targets;
    for (const auto& node : find_graph(graph)->nodes()) {
      sources.insert(sources.end(), node->dependents.size(), node.get());
      targets.insert(targets.end(), node->dependents.begin(), node->dependents.end());
    }
    std::size_t size_again = *required(count);
    give_nodes(sources, from, count);
    give_nodes(targets, to, &size_again);
  });
}

HIPGRAPH_API hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* nodes,
                                                    std::size_t* count) {
  return entry([&] {
    const ApiLock lock;
    give_nodes(required_node(node).dependencies, nodes, count);
  });
}

HIPGRAPH_API hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t* nodes,
                                                      std::size_t* count) {
  return entry([&] {
    const ApiLock lock;
    give_nodes(required_node(node).dependents, nodes, count);
  });
}

HIPGRAPH_API hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
  return entry([&] {
    const ApiLock lock;
    *required(type) = type_of(required_node(node).work);
  });
}

HIPGRAPH_API hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  return entry([&] {
    const ApiLock lock;
    Node& found = required_node(node);
    require(!is_memory_node(found), hipErrorNotSupported);
    found.graph->remove(found);
  });
}
