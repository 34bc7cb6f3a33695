#pragma once
#include "entry.h"
#include "graph_abi.h"
#include "runtime/event.h"
#include "runtime/graph.h"
#include "runtime/graph_exec.h"
#include "runtime/node_work.h"

namespace hipgraph::emu {

/// What callers describe nodes with, checked and made into a node's work; null parameters are
/// invalid values.
KernelWork work_of(const hipKernelNodeParams* params);
MemsetWork work_of(const hipMemsetParams* params);
MemcpyWork work_of(const hipMemcpy3DParms* params);
HostWork work_of(const hipHostNodeParams* params);
MemoryWork work_of(const hipBatchMemOpNodeParams* params);
/// The same, and writes where the memory will be.
MemAllocWork work_of(hipMemAllocNodeParams* params);
/// The event of an event node; null and unknown ones are invalid values.
EventPtr event_of_node(hipEvent_t event);
/// A clone of `child` as it is now: the work of a node, even of one in `child` itself.
ChildWork embed(hipGraph_t child);
/// The work of a new node that a caller describes by its kind; an allocation's address is written.
NodeWork work_of(hipGraphNodeParams* params);

/// A node's or exec node's work, which must be of this kind.
template <class Work>
Work& work_as(NodeWork& work) {
  auto* found = std::get_if<Work>(&work);
  abi::require(found != nullptr, hipErrorInvalidValue);
  return *found;
}

/// Gives a graph's node other work of the same kind.
void edit(Node& node, NodeWork changed);
/// The same for an exec's node, where a copy keeps its kind and a 2-D fill its rows.
void edit(ExecNode& node, NodeWork changed);
}  // namespace hipgraph::emu
