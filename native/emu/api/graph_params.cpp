#include "api/api.h"
#include "runtime/launch.h"
#include "runtime/memory_checks.h"
#include "runtime/node_params.h"

using namespace hipgraph::emu;

namespace {

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
    edit(required_node(node), work_of(params));
  });
}

HIPGRAPH_API hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t graph_exec,
                                                        hipGraphNode_t node,
                                                        const hipKernelNodeParams* params) {
  return entry([&] {
    const ApiLock lock;
    edit(find_graph_exec(graph_exec)->node(node), work_of(params));
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
    edit(required_node(node), work_of(params));
  });
}

HIPGRAPH_API hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t graph_exec,
                                                        hipGraphNode_t node,
                                                        const hipMemsetParams* params) {
  return entry([&] {
    const ApiLock lock;
    edit(find_graph_exec(graph_exec)->node(node), work_of(params));
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
    edit(required_node(node), checked_copy(to, from, bytes, kind));
  });
}

HIPGRAPH_API hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t graph_exec,
                                                          hipGraphNode_t node, void* to,
                                                          const void* from, std::size_t bytes,
                                                          hipMemcpyKind kind) {
  return entry([&] {
    const ApiLock lock;
    edit(find_graph_exec(graph_exec)->node(node), checked_copy(to, from, bytes, kind));
  });
}

HIPGRAPH_API hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node,
                                                    const hipMemcpy3DParms* params) {
  return entry([&] {
    const ApiLock lock;
    edit(required_node(node), work_of(params));
  });
}

HIPGRAPH_API hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t graph_exec,
                                                        hipGraphNode_t node,
                                                        hipMemcpy3DParms* params) {
  return entry([&] {
    const ApiLock lock;
    edit(find_graph_exec(graph_exec)->node(node), work_of(params));
  });
}

HIPGRAPH_API hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* params) {
  return entry([&] {
    const ApiLock lock;
    *required(params) = work_as<HostWork>(required_node(node).work).parms;
  });
}

HIPGRAPH_API hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node,
                                                  const hipHostNodeParams* params) {
  return entry([&] {
    const ApiLock lock;
    edit(required_node(node), work_of(params));
  });
}

HIPGRAPH_API hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t graph_exec,
                                                      hipGraphNode_t node,
                                                      const hipHostNodeParams* params) {
  return entry([&] {
    const ApiLock lock;
    edit(find_graph_exec(graph_exec)->node(node), work_of(params));
  });
}
