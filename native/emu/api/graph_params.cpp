#include <utility>
#include <variant>

#include "api/api.h"
#include "runtime/graph.h"
#include "runtime/graph_exec.h"
#include "runtime/launch.h"
#include "runtime/memory_checks.h"

using namespace hipgraph::emu;

namespace {

/// A node's or exec node's work, which must be of this kind.
template <class Work>
Work& work_as(NodeWork& work) {
  auto* found = std::get_if<Work>(&work);
  require(found != nullptr, hipErrorInvalidValue);
  return *found;
}

KernelWork checked_kernel(const hipKernelNodeParams* params) {
  require(params != nullptr && params->func != nullptr, hipErrorInvalidValue);
  return check_launch_node(find_function(params->func), launch_of(*params));
}

/// What the setters refuse beyond the checks of a new node: copying onto itself.
MemcpyWork checked_copy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  require(to != from, hipErrorInvalidValue);
  return check_copy_node(to, from, bytes, kind);
}

hipKernelNodeParams params_of(Node& node) {
  auto& work = work_as<KernelWork>(node.work);
  show_arguments(node, work);
  const bool block = work.form == ArgumentForm::Block;
  const bool none = node.shown.parameters.empty();
  return {work.block,
          block ? node.shown.block.data() : nullptr,
          work.function->handle,
          work.grid,
          block || none ? nullptr : node.shown.parameters.data(),
          work.dynamic_lds_bytes};
}

}  // namespace

HIPGRAPH_API hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node,
                                                    hipKernelNodeParams* params) {
  return entry([&] {
    const ApiLock lock;
    *required(params) = params_of(required_node(node));
  });
}

HIPGRAPH_API hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node,
                                                    const hipKernelNodeParams* params) {
  return entry([&] {
    const ApiLock lock;
    auto& work = work_as<KernelWork>(required_node(node).work);
    work = checked_kernel(params);
  });
}

HIPGRAPH_API hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t graph_exec,
                                                        hipGraphNode_t node,
                                                        const hipKernelNodeParams* params) {
  return entry([&] {
    const ApiLock lock;
    auto& work = work_as<KernelWork>(find_graph_exec(graph_exec)->node(node).work);
    work = checked_kernel(params);
  });
}

HIPGRAPH_API hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* params) {
  return entry([&] {
    const ApiLock lock;
    *required(params) = work_as<MemsetWork>(required_node(node).work).parms;
  });
}

HIPGRAPH_API hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node,
                                                    const hipMemsetParams* params) {
  return entry([&] {
    const ApiLock lock;
    auto& work = work_as<MemsetWork>(required_node(node).work);
    work = check_fill_node(*required(params));
  });
}

HIPGRAPH_API hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t graph_exec,
                                                        hipGraphNode_t node,
                                                        const hipMemsetParams* params) {
  return entry([&] {
    const ApiLock lock;
    auto& work = work_as<MemsetWork>(find_graph_exec(graph_exec)->node(node).work);
    const MemsetWork changed = check_fill_node(*required(params));
    const hipMemsetParams& was = work.parms;
    const hipMemsetParams& now = changed.parms;
    const bool rows_stay =
        was.height == now.height && was.width * was.elementSize == now.width * now.elementSize;
    const bool linear = was.height == 1 && now.height == 1;
    require(linear || rows_stay, hipErrorInvalidValue);
    work = changed;
  });
}

HIPGRAPH_API hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* params) {
  return entry([&] {
    const ApiLock lock;
    *required(params) = work_as<MemcpyWork>(required_node(node).work).parms;
  });
}

HIPGRAPH_API hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* to,
                                                      const void* from, std::size_t bytes,
                                                      hipMemcpyKind kind) {
  return entry([&] {
    const ApiLock lock;
    auto& work = work_as<MemcpyWork>(required_node(node).work);
    work = checked_copy(to, from, bytes, kind);
  });
}

HIPGRAPH_API hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t graph_exec,
                                                          hipGraphNode_t node, void* to,
                                                          const void* from, std::size_t bytes,
                                                          hipMemcpyKind kind) {
  return entry([&] {
    const ApiLock lock;
    auto& work = work_as<MemcpyWork>(find_graph_exec(graph_exec)->node(node).work);
    require(kind == work.parms.kind, hipErrorInvalidValue);
    work = checked_copy(to, from, bytes, kind);
  });
}
