#include "runtime/graph_update.h"

#include <utility>

#include "entry.h"
#include "runtime/event.h"
#include "runtime/graph_memory.h"
#include "runtime/memory_checks.h"

namespace hipgraph::emu {
namespace {

using abi::require;

void check_fill_again(const MemsetWork& fill) {
  const hipMemsetParams& parms = fill.parms;
  if (fill.depth == 1) {
    check_fill_node(parms);
    return;
  }
  const hipPitchedPtr to{parms.dst, parms.pitch, parms.width, fill.slice / parms.pitch};
  check_fill_volume(to, static_cast<int>(parms.value), {parms.width, parms.height, fill.depth});
}

/// What a node of the new graph must still be when an exec takes its work: its kernel loaded, its
/// memory there.
void check_again(const NodeWork& work) {
  if (const auto* kernel = std::get_if<KernelWork>(&work)) {
    require(kernel->function->live, hipErrorInvalidDeviceFunction);
  } else if (const auto* fill = std::get_if<MemsetWork>(&work)) {
    check_fill_again(*fill);
  } else if (const auto* copy = std::get_if<MemcpyWork>(&work)) {
    const hipMemcpy3DParms& parms = copy->parms;
    // HIP looks such a copy's symbol up by the address of its source and never finds it.
    require(!copy->to_symbol, hipErrorInvalidValue);
    if (copy->one_dimensional) {
      check_copy_node(parms.dstPtr.ptr, parms.srcPtr.ptr, parms.extent.width, parms.kind);
    } else {
      check_copy_region(parms);
    }
  }
}

void take_work(ExecNode& to, const Node& from);

/// Takes the work of a graph whose nodes must be like those of the child.
void take_child(ExecNode& to, const Graph& child) {
  const std::vector<Node*> order = child.ordered();
  require(order.size() == child.nodes().size(), hipErrorInvalidValue);
  require(order.size() == to.child.size(), hipErrorUnknown);
  for (std::size_t i = 0; i < order.size(); ++i) {
    require(type_of(order[i]->work) == type_of(to.child[i].work), hipErrorUnknown);
  }
  for (std::size_t i = 0; i < order.size(); ++i) take_work(to.child[i], *order[i]);
}

/// Takes a node's work; whether the node is enabled, its attribute and the memory that it gives or
/// frees stay the exec's.
void take_work(ExecNode& to, const Node& from) {
  if (const auto* child = std::get_if<ChildWork>(&from.work)) {
    take_child(to, *child->graph);
    return;
  }
  if (is_memory_node(from)) return;
  check_again(from.work);
  NodeWork changed = from.work;
  if (auto* kernel = std::get_if<KernelWork>(&changed)) {
    kernel->attribute = std::get<KernelWork>(to.work).attribute;
  }
  to.work = std::move(changed);
}

hipGraphExecUpdateResult result_of(hipError_t refusal) {
  if (refusal == hipErrorInvalidDeviceFunction) {
    return hipGraphExecUpdateErrorUnsupportedFunctionChange;
  }
  const bool parameters =
      refusal == hipErrorInvalidValue || refusal == hipErrorInvalidDevicePointer;
  return parameters ? hipGraphExecUpdateErrorParametersChanged
                    : hipGraphExecUpdateErrorNotSupported;
}

hipGraphExecUpdateResult update_node(ExecNode& to, const Node& from, bool same_device) {
  if (type_of(to.work) != type_of(from.work)) return hipGraphExecUpdateErrorNodeTypeChanged;
  const bool anywhere =
      std::holds_alternative<HostWork>(to.work) || std::holds_alternative<EmptyWork>(to.work);
  if (!same_device && !anywhere) return hipGraphExecUpdateErrorUnsupportedFunctionChange;
  const auto* copy = std::get_if<MemcpyWork>(&from.work);
  if (copy != nullptr && copy->parms.kind != std::get<MemcpyWork>(to.work).parms.kind) {
    return hipGraphExecUpdateErrorParametersChanged;
  }
  if (to.dependencies.size() != from.dependencies.size()) {
    return hipGraphExecUpdateErrorTopologyChanged;
  }
  try {
    take_work(to, from);
  } catch (const abi::Failure& refusal) {
    return result_of(refusal.code);
  }
  return hipGraphExecUpdateSuccess;
}

}  // namespace

UpdateOutcome update(GraphExec& graph_exec, const Graph& graph) {
  const std::vector<Node*> order = graph.ordered();
  require(order.size() == graph.nodes().size(), hipErrorInvalidValue);
  std::vector<ExecNode>& nodes = graph_exec.nodes();
  if (order.size() != nodes.size()) return {hipGraphExecUpdateErrorTopologyChanged, nullptr};
  const bool same_device = graph.device() == graph_exec.device();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const hipGraphExecUpdateResult result = update_node(nodes[i], *order[i], same_device);
    if (result != hipGraphExecUpdateSuccess) return {result, order[i]->handle};
  }
  return {};
}

void set_child(ExecNode& node, const Graph& child) {
  require(std::holds_alternative<ChildWork>(node.work), hipErrorInvalidValue);
  require(required_node(node.origin).graph != &child, hipErrorUnknown);
  take_child(node, child);
}

}  // namespace hipgraph::emu
