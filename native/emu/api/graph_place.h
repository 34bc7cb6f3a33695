#pragma once
#include <utility>
#include <vector>

#include "api/api.h"
#include "runtime/graph.h"

namespace hipgraph::emu {

/// Where a new node goes: the arguments that every AddNode call has.
struct GraphPlace {
  hipGraphNode_t* node;
  hipGraph_t graph;
  const hipGraphNode_t* dependencies;
  std::size_t count;
};

/// The nodes that a place names; they must be distinct nodes of `graph`.
std::vector<Node*> find_dependencies(const GraphPlace& place, const Graph& graph);

/// Adds what `make` returns. Everything is checked before the graph changes; HIP would leave the
/// node of a refused call in it.
template <class Make>
void add_node(const GraphPlace& place, Make&& make) {
  required(place.node);
  const ApiLock lock;
  const GraphPtr graph = find_graph(place.graph);
  const std::vector<Node*> dependencies = find_dependencies(place, *graph);
  Node& node = graph->add(std::forward<Make>(make)(*graph), dependencies);
  node.manual = true;
  *place.node = node.handle;
}

}  // namespace hipgraph::emu
