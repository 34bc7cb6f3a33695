#pragma once
#include "graph_abi.h"
#include "runtime/graph.h"
#include "runtime/graph_exec.h"

namespace hipgraph::emu {

/// How an update of a whole exec ended, and at which node of the new graph; null when it was not
/// one node's fault.
struct UpdateOutcome {
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  hipGraphNode_t node = nullptr;
};

/// Gives every node of an exec the work of the node at the same place of `graph`. As in HIP it is
/// not atomic: nodes before the one that does not fit are updated.
UpdateOutcome update(GraphExec& graph_exec, const Graph& graph);
/// Gives an exec's child graph node the work of `child`; Unknown when their nodes are not alike or
/// `child` is the graph that the node is in.
void set_child(ExecNode& node, const Graph& child);

}  // namespace hipgraph::emu
