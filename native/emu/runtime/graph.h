#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "hip_abi.h"
#include "runtime/node_work.h"
#include "runtime/user_object.h"

namespace hipgraph::emu {

class Graph;

/// What a GetParams call shows by pointers into the node, valid until it changes: a kernel's
/// arguments, a batch's operations.
struct ShownParams {
  std::vector<void*> parameters;
  std::array<void*, 5> block{};
  std::size_t block_bytes = 0;
  std::vector<hipStreamBatchMemOpParams> operations;
};

/// One operation of a graph.
struct Node {
  hipGraphNode_t handle = nullptr;
  Graph* graph = nullptr;
  std::uint64_t number = 0;  ///< process-unique, but shared with the node's clones
  bool manual = false;       ///< added by a graph call, not recorded: exempt from the unjoined test
  NodeWork work;
  std::vector<Node*> dependencies;  ///< in the order the edges came
  std::vector<Node*> dependents;
  ShownParams shown;
};

/// Nodes and edges, in the order they came.
class Graph {
 public:
  explicit Graph(int device);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Adds a node behind `dependencies`, which are distinct nodes of this graph.
  Node& add(NodeWork work, std::span<Node* const> dependencies);
  /// Drops a node with its edges; nothing is bridged.
  void remove(Node& node);
  /// Adds an edge; false when it exists.
  static bool connect(Node& from, Node& to);
  /// Drops an edge; false when there is none.
  static bool disconnect(Node& from, Node& to);
  /// Nodes in Kahn's order, ties by insertion; fewer than `nodes()` when there is a cycle.
  std::vector<Node*> ordered() const;
  /// A graph with equal nodes and edges, in the same order, under new handles.
  std::shared_ptr<Graph> clone() const;
  /// This graph's clone of a node, if this graph is a clone of the node's and still has it.
  Node* twin_of(const Node& original) const;

  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  int device() const { return device_; }

  std::uint64_t number() const { return number_; }

  hipGraph_t handle = nullptr;
  UserReferences references;         ///< what callers asked it to keep alive
  bool capturing = false;            ///< being recorded: a caller may look and add, not destroy
  bool memory_instantiated = false;  ///< has memory nodes and was instantiated, which works once

 private:
  int device_;
  std::uint64_t number_;           ///< process-unique
  std::uint64_t cloned_from_ = 0;  ///< number of the graph that this one is a clone of
  std::vector<std::unique_ptr<Node>> nodes_;
};
using GraphPtr = std::shared_ptr<Graph>;

/// The live graph behind a handle; null and unknown ones are invalid values.
GraphPtr find_graph(hipGraph_t handle);
/// Gives a graph its handle.
hipGraph_t add_graph(const GraphPtr& graph);
/// The handle of a graph that a node owns: it names the graph as long as the node does, and cannot
/// be destroyed by it.
hipGraph_t handle_of_embedded(const GraphPtr& graph);
/// Forgets a graph; null, unknown and capturing ones are invalid values.
void destroy_graph(hipGraph_t handle);
/// The live node behind a handle, or null.
Node* find_node(hipGraphNode_t handle);
/// The live node behind a handle; null and unknown ones are invalid values.
Node& required_node(hipGraphNode_t handle);

}  // namespace hipgraph::emu
