#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "hip_abi.h"
#include "runtime/graph.h"
#include "runtime/stream.h"

namespace hipgraph::emu {

/// A node as an exec keeps it: its own copy of the work, edges as positions before this one.
struct ExecNode {
  hipGraphNode_t origin = nullptr;  ///< the graph's node, by which callers address this one
  NodeWork work;
  std::vector<std::size_t> dependencies;
  std::vector<ExecNode> child;  ///< for a child graph: its nodes in order
  unsigned enabled = 1;         ///< 0: launched as an empty node; kept as the caller gave it
};

/// A graph's nodes in order, frozen; a cycle is an invalid value.
std::vector<ExecNode> freeze(const Graph& graph);

/// A graph frozen for launching. It shares nothing with the graph it came from; a launch takes a
/// snapshot of it, so it may be edited or destroyed while launches are in flight.
class GraphExec {
 public:
  /// Freezes a graph; a cycle is an invalid value.
  explicit GraphExec(const Graph& graph, unsigned long long flags);
  /// Gives its references to user objects up once no launch is in flight.
  ~GraphExec();
  GraphExec(const GraphExec&) = delete;
  GraphExec& operator=(const GraphExec&) = delete;

  /// Submits every node as one operation of `stream`. A launch while an earlier one is in flight on
  /// another stream waits for it.
  void launch(const StreamPtr& stream);
  /// This exec's copy of a live graph node; an invalid value when it has none.
  ExecNode& node(hipGraphNode_t origin);
  /// All nodes in order, to be updated from another graph's.
  std::vector<ExecNode>& nodes() { return nodes_; }
  int device() const { return device_; }
  unsigned long long flags() const { return flags_; }

  hipGraphExec_t handle = nullptr;

 private:
  std::uint64_t number_;
  int device_;
  unsigned long long flags_;
  std::vector<ExecNode> nodes_;
  std::unordered_map<hipGraphNode_t, std::size_t> positions_;
  CommandPtr last_end_;
  UserReferences references_;
};
using GraphExecPtr = std::shared_ptr<GraphExec>;

/// The live exec behind a handle; null and unknown ones are invalid values.
GraphExecPtr find_graph_exec(hipGraphExec_t handle);
/// Gives an exec its handle.
hipGraphExec_t add_graph_exec(const GraphExecPtr& graph_exec);
/// Forgets an exec; launches in flight go on.
void destroy_graph_exec(hipGraphExec_t handle);

}  // namespace hipgraph::emu
