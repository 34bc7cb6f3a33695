#include "runtime/graph_memory.h"

#include "api/api.h"
#include "api/graph_place.h"
#include "runtime/device_model.h"
#include "runtime/node_params.h"

using namespace hipgraph::emu;

namespace {

void check_graph_device(int device) {
  const bool known = device >= 0 && device < DeviceModel::instance().devices;
  require(known, hipErrorInvalidDevice);
}

}  // namespace

HIPGRAPH_API hipError_t hipGraphAddMemAllocNode(hipGraphNode_t* node, hipGraph_t graph,
                                                const hipGraphNode_t* dependencies,
                                                std::size_t count, hipMemAllocNodeParams* params) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count}, [&](const Graph&) { return work_of(params); });
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
    *required(params) = work_as<MemAllocWork>(required_node(node).work).allocation->params();
  });
}

HIPGRAPH_API hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void* pointer) {
  return entry([&] {
    const ApiLock lock;
    *static_cast<void**>(required(pointer)) =
        work_as<MemFreeWork>(required_node(node).work).allocation->params().dptr;
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
    const bool high =
        attribute == hipGraphMemAttrUsedMemHigh || attribute == hipGraphMemAttrReservedMemHigh;
    require(high && value != nullptr, hipErrorInvalidValue);
    require(*static_cast<const std::uint64_t*>(value) == 0, hipErrorInvalidValue);
    reset_graph_memory_high(device, attribute);
  });
}

HIPGRAPH_API hipError_t hipDeviceGraphMemTrim(int device) {
  return entry([&] {
    check_graph_device(device);
    trim_graph_memory(device);
  });
}
