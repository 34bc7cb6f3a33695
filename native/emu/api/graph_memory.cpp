#include "runtime/graph_memory.h"

#include "api/api.h"
#include "api/graph_place.h"
#include "runtime/device_model.h"

using namespace hipgraph::emu;

namespace {

void check_graph_device(int device) {
  const bool known = device >= 0 && device < DeviceModel::instance().devices;
  require(known, hipErrorInvalidDevice);
}

/// A node's work, which must be of this kind.
template <class Work>
const Work& memory_work_of(hipGraphNode_t node) {
  const auto* found = std::get_if<Work>(&required_node(node).work);
  require(found != nullptr, hipErrorInvalidValue);
  return *found;
}

}  // namespace

HIPGRAPH_API hipError_t hipGraphAddMemAllocNode(hipGraphNode_t* node, hipGraph_t graph,
                                                const hipGraphNode_t* dependencies,
                                                std::size_t count, hipMemAllocNodeParams* params) {
  return entry([&] {
    clear(node);
    require(params != nullptr, hipErrorInvalidValue);
    params->dptr = nullptr;
    add_node({node, graph, dependencies, count}, [&](const Graph&) {
      const MemAllocWork work = check_alloc_node(*params);
      params->dptr = work.allocation->params().dptr;
      return work;
    });
  });
}

HIPGRAPH_API hipError_t hipGraphAddMemFreeNode(hipGraphNode_t* node, hipGraph_t graph,
                                               const hipGraphNode_t* dependencies,
                                               std::size_t count, void* pointer) {
  return entry([&] {
    clear(node);
    require(pointer != nullptr, hipErrorInvalidValue);
    add_node({node, graph, dependencies, count},
             [&](const Graph&) { return check_free_node(pointer); });
  });
}

HIPGRAPH_API hipError_t hipDrvGraphAddMemFreeNode(hipGraphNode_t* node, hipGraph_t graph,
                                                  const hipGraphNode_t* dependencies,
                                                  std::size_t count, hipDeviceptr_t pointer) {
  return entry([&] {
    clear(node);
    require(pointer != nullptr, hipErrorInvalidValue);
    add_node({node, graph, dependencies, count},
             [&](const Graph&) { return check_free_node(pointer); });
  });
}

HIPGRAPH_API hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t node,
                                                      hipMemAllocNodeParams* params) {
  return entry([&] {
    const ApiLock lock;
    *required(params) = memory_work_of<MemAllocWork>(node).allocation->params();
  });
}

HIPGRAPH_API hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void* pointer) {
  return entry([&] {
    const ApiLock lock;
    *static_cast<void**>(required(pointer)) =
        memory_work_of<MemFreeWork>(node).allocation->params().dptr;
  });
}

HIPGRAPH_API hipError_t hipDeviceGetGraphMemAttribute(int device,
                                                      hipGraphMemAttributeType attribute,
                                                      void* value) {
  return entry([&] {
    check_graph_device(device);
    *static_cast<std::uint64_t*>(required(value)) = graph_memory_attribute(device, attribute);
  });
}

HIPGRAPH_API hipError_t hipDeviceSetGraphMemAttribute(int device,
                                                      hipGraphMemAttributeType attribute,
                                                      void* value) {
  return entry([&] {
    check_graph_device(device);
    require(*static_cast<const std::uint64_t*>(required(value)) == 0, hipErrorInvalidValue);
    reset_graph_memory_high(device, attribute);
  });
}

HIPGRAPH_API hipError_t hipDeviceGraphMemTrim(int device) {
  return entry([&] {
    check_graph_device(device);
    trim_graph_memory(device);
  });
}
