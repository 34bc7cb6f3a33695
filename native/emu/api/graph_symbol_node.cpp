#include <utility>

#include "api/graph_place.h"
#include "runtime/memory_checks.h"
#include "runtime/node_params.h"
#include "runtime/registered_code.h"

using namespace hipgraph::emu;

namespace {

/// A copy between a program's variable and other memory, as a node.
struct SymbolNode {
  const void* symbol;
  const void* memory;
  std::size_t bytes;
  std::size_t offset;
  hipMemcpyKind kind;
  bool to_symbol;

  MemcpyWork work(int device) const {
    require(memory != nullptr && bytes != 0, hipErrorInvalidValue);
    const Variable& variable = find_symbol(symbol, device);
    const bool inside = offset <= variable.bytes && bytes <= variable.bytes - offset;
    require(inside, hipErrorInvalidValue);
    void* const place = reinterpret_cast<void*>(variable.address + offset);
    void* const other = const_cast<void*>(memory);
    MemcpyWork made;
    made.one_dimensional = true;
    made.to_symbol = to_symbol;
    made.parms.dstPtr.ptr = to_symbol ? place : other;
    made.parms.srcPtr.ptr = to_symbol ? other : place;
    made.parms.extent = {bytes, 1, 1};
    made.parms.kind = kind;
    return made;
  }

  /// What a setter asks beyond a new node: other memory than symbols, and a kind that says what
  /// the copy does.
  MemcpyWork changed(int device) const {
    require(symbol != nullptr, hipErrorInvalidSymbol);
    require(memory != symbol, hipErrorInvalidValue);
    const MemcpyWork made = work(device);
    require(!is_symbol(memory), hipErrorInvalidValue);
    const bool on_device = is_device_memory(memory);
    const hipMemcpyKind between = to_symbol ? hipMemcpyHostToDevice : hipMemcpyDeviceToHost;
    const bool within = kind == hipMemcpyDeviceToDevice || kind == hipMemcpyDeviceToDeviceNoCU;
    const bool fits = kind == hipMemcpyDefault || (on_device ? within : kind == between);
    require(fits, to_symbol ? hipErrorInvalidValue : hipErrorInvalidMemcpyDirection);
    return made;
  }
};

void add_symbol_node(const GraphPlace& place, const SymbolNode& copy) {
  clear(place.node);
  add_node(place, [&](const Graph& graph) { return copy.work(graph.device()); });
}

void set_on_graph(hipGraphNode_t node, const SymbolNode& copy) {
  const ApiLock lock;
  Node& changed = required_node(node);
  edit(changed, copy.changed(changed.graph->device()));
}

void set_on_exec(hipGraphExec_t graph_exec, hipGraphNode_t node, const SymbolNode& copy) {
  const ApiLock lock;
  const GraphExecPtr found = find_graph_exec(graph_exec);
  ExecNode& changed = found->node(node);
  edit(changed, copy.changed(found->device()));
}

}  // namespace

HIPGRAPH_API hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t* node, hipGraph_t graph,
                                                        const hipGraphNode_t* dependencies,
                                                        std::size_t count, void* to,
                                                        const void* symbol, std::size_t bytes,
                                                        std::size_t offset, hipMemcpyKind kind) {
  return entry([&] {
    add_symbol_node({node, graph, dependencies, count}, {symbol, to, bytes, offset, kind, false});
  });
}

HIPGRAPH_API hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t* node, hipGraph_t graph,
                                                      const hipGraphNode_t* dependencies,
                                                      std::size_t count, const void* symbol,
                                                      const void* from, std::size_t bytes,
                                                      std::size_t offset, hipMemcpyKind kind) {
  return entry([&] {
    add_symbol_node({node, graph, dependencies, count}, {symbol, from, bytes, offset, kind, true});
  });
}

HIPGRAPH_API hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void* to,
                                                              const void* symbol, std::size_t bytes,
                                                              std::size_t offset,
                                                              hipMemcpyKind kind) {
  return entry([&] { set_on_graph(node, {symbol, to, bytes, offset, kind, false}); });
}

HIPGRAPH_API hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void* symbol,
                                                            const void* from, std::size_t bytes,
                                                            std::size_t offset,
                                                            hipMemcpyKind kind) {
  return entry([&] { set_on_graph(node, {symbol, from, bytes, offset, kind, true}); });
}

HIPGRAPH_API hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(
    hipGraphExec_t graph_exec, hipGraphNode_t node, void* to, const void* symbol, std::size_t bytes,
    std::size_t offset, hipMemcpyKind kind) {
  return entry([&] { set_on_exec(graph_exec, node, {symbol, to, bytes, offset, kind, false}); });
}

HIPGRAPH_API hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(
    hipGraphExec_t graph_exec, hipGraphNode_t node, const void* symbol, const void* from,
    std::size_t bytes, std::size_t offset, hipMemcpyKind kind) {
  return entry([&] { set_on_exec(graph_exec, node, {symbol, from, bytes, offset, kind, true}); });
}
