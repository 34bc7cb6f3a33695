#include "runtime/node_params.h"

#include <utility>

#include "runtime/graph_memory.h"
#include "runtime/launch.h"
#include "runtime/memory_checks.h"
#include "runtime/memory_operations.h"

namespace hipgraph::emu {
namespace {

using abi::require;
using abi::required;

/// What the new work of a node takes over from the old. A pitched description of a one-dimensional
/// copy is checked and has no effect, as in HIP.
bool merge_into(const NodeWork& old, NodeWork& changed) {
  require(old.index() == changed.index(), hipErrorInvalidValue);
  if (const auto* kernel = std::get_if<KernelWork>(&old)) {
    std::get<KernelWork>(changed).attribute = kernel->attribute;
  }
  const auto* copy = std::get_if<MemcpyWork>(&old);
  return copy == nullptr || !copy->one_dimensional || std::get<MemcpyWork>(changed).one_dimensional;
}

/// A fill of rows keeps them; one of several slices, which no parameters describe, has no others.
void check_rows_stay(const MemsetWork& old, const MemsetWork& changed) {
  const hipMemsetParams& was = old.parms;
  const hipMemsetParams& now = changed.parms;
  const bool rows_stay =
      was.height == now.height && was.width * was.elementSize == now.width * now.elementSize;
  const bool linear = was.height == 1 && now.height == 1;
  require(old.depth == changed.depth && (linear || rows_stay), hipErrorInvalidValue);
}

void check_exec_edit(const NodeWork& old, const NodeWork& changed) {
  require(old.index() == changed.index(), hipErrorInvalidValue);
  if (const auto* fill = std::get_if<MemsetWork>(&old)) {
    check_rows_stay(*fill, std::get<MemsetWork>(changed));
  }
  if (const auto* copy = std::get_if<MemcpyWork>(&old)) {
    const hipMemcpyKind kind = std::get<MemcpyWork>(changed).parms.kind;
    require(copy->parms.kind == kind, hipErrorInvalidValue);
  }
}

}  // namespace

KernelWork work_of(const hipKernelNodeParams* params) {
  require(params != nullptr && params->func != nullptr, hipErrorInvalidValue);
  return check_launch_node(find_function(params->func), launch_of(*params));
}

MemsetWork work_of(const hipMemsetParams* params) { return check_fill_node(*required(params)); }

MemcpyWork work_of(const hipMemcpy3DParms* params) { return check_copy_region(*required(params)); }

HostWork work_of(const hipHostNodeParams* params) {
  require(params != nullptr && params->fn != nullptr, hipErrorInvalidValue);
  return {*params};
}

MemoryWork work_of(const hipBatchMemOpNodeParams* params) {
  required(params);
  MemoryWork work{operations_of(params->paramArray, params->count, params->flags), params->ctx,
                  nullptr};
  for (const MemoryOperation& operation : work.operations) check_memory_operation(operation);
  return work;
}

MemAllocWork work_of(hipMemAllocNodeParams* params) {
  required(params)->dptr = nullptr;
  MemAllocWork work = check_alloc_node(*params);
  params->dptr = work.allocation->params().dptr;
  return work;
}

EventPtr event_of_node(hipEvent_t event) {
  EventPtr found = live_event(event);
  require(found != nullptr, hipErrorInvalidValue);
  return found;
}

ChildWork embed(hipGraph_t child) { return {find_graph(child)->clone()}; }

NodeWork work_of(hipGraphNodeParams* params) {
  switch (required(params)->type) {
    case hipGraphNodeTypeKernel: return work_of(&params->kernel);
    case hipGraphNodeTypeMemcpy: return work_of(&params->memcpy.copyParams);
    case hipGraphNodeTypeMemset: return work_of(&params->memset);
    case hipGraphNodeTypeHost: return work_of(&params->host);
    case hipGraphNodeTypeGraph: return embed(params->graph);
    case hipGraphNodeTypeEmpty: return EmptyWork{};
    case hipGraphNodeTypeWaitEvent: return EventWaitWork{event_of_node(params->event)};
    case hipGraphNodeTypeEventRecord: return EventRecordWork{event_of_node(params->event)};
    case hipGraphNodeTypeMemAlloc: return work_of(&params->alloc);
    case hipGraphNodeTypeMemFree: return check_free_node(params->free.dptr);
    case hipGraphNodeTypeExtSemaphoreSignal:
    case hipGraphNodeTypeExtSemaphoreWait: throw abi::Failure{hipErrorNotSupported};
    default: throw abi::Failure{hipErrorInvalidValue};
  }
}

void edit(Node& node, NodeWork changed) {
  if (merge_into(node.work, changed)) node.work = std::move(changed);
}

void edit(ExecNode& node, NodeWork changed) {
  check_exec_edit(node.work, changed);
  if (merge_into(node.work, changed)) node.work = std::move(changed);
}

}  // namespace hipgraph::emu
