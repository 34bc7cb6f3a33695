#include "api/api.h"
#include "api/graph_place.h"
#include "runtime/graph_exec.h"

using namespace hipgraph::emu;

namespace {

/// What the setters check before they look the symbol up. Nothing can register one here (see
/// api/symbol.cpp), so whatever passes is an unknown symbol.
void check_symbol_params(const void* symbol, const void* memory, std::size_t count) {
  require(symbol != nullptr, hipErrorInvalidSymbol);
  require(memory != nullptr && count != 0 && memory != symbol, hipErrorInvalidValue);
  throw hipgraph::abi::Failure{hipErrorInvalidSymbol};
}

EmptyWork symbol_copy(const void* symbol, const void* memory, std::size_t count) {
  require(memory != nullptr && count != 0, hipErrorInvalidValue);
  check_symbol_params(symbol, memory, count);
  return {};
}

void set_on_graph(hipGraphNode_t node, const void* symbol, const void* memory, std::size_t count) {
  const ApiLock lock;
  required_node(node);
  check_symbol_params(symbol, memory, count);
}

void set_on_exec(hipGraphExec_t graph_exec, hipGraphNode_t node, const void* symbol,
                 const void* memory, std::size_t count) {
  const ApiLock lock;
  find_graph_exec(graph_exec)->node(node);
  check_symbol_params(symbol, memory, count);
}

}  // namespace

HIPGRAPH_API hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t* node, hipGraph_t graph,
                                                        const hipGraphNode_t* dependencies,
                                                        std::size_t count, void* to,
                                                        const void* symbol, std::size_t bytes,
                                                        std::size_t, hipMemcpyKind) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count},
             [&](const Graph&) { return symbol_copy(symbol, to, bytes); });
  });
}

HIPGRAPH_API hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t* node, hipGraph_t graph,
                                                      const hipGraphNode_t* dependencies,
                                                      std::size_t count, const void* symbol,
                                                      const void* from, std::size_t bytes,
                                                      std::size_t, hipMemcpyKind) {
  return entry([&] {
    clear(node);
    add_node({node, graph, dependencies, count},
             [&](const Graph&) { return symbol_copy(symbol, from, bytes); });
  });
}

HIPGRAPH_API hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void* to,
                                                              const void* symbol, std::size_t bytes,
                                                              std::size_t, hipMemcpyKind) {
  return entry([&] { set_on_graph(node, symbol, to, bytes); });
}

HIPGRAPH_API hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void* symbol,
                                                            const void* from, std::size_t bytes,
                                                            std::size_t, hipMemcpyKind) {
  return entry([&] { set_on_graph(node, symbol, from, bytes); });
}

HIPGRAPH_API hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t graph_exec,
                                                                  hipGraphNode_t node, void* to,
                                                                  const void* symbol,
                                                                  std::size_t bytes, std::size_t,
                                                                  hipMemcpyKind) {
  return entry([&] { set_on_exec(graph_exec, node, symbol, to, bytes); });
}

HIPGRAPH_API hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t graph_exec,
                                                                hipGraphNode_t node,
                                                                const void* symbol,
                                                                const void* from, std::size_t bytes,
                                                                std::size_t, hipMemcpyKind) {
  return entry([&] { set_on_exec(graph_exec, node, symbol, from, bytes); });
}
