#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "hip_abi.h"
#include "runtime/module.h"

namespace hipgraph::emu {

class Graph;
class GraphAllocation;

/// Which of the two forms kernel arguments came in; reading them back uses the same form.
enum class ArgumentForm : std::uint8_t { Parameters, Block };

/// A kernel launch with its own copy of the arguments, laid out as the kernel reads them.
struct KernelWork {
  FunctionPtr function;
  dim3 grid;
  dim3 block;
  std::uint32_t dynamic_lds_bytes = 0;
  std::vector<std::uint8_t> arguments;
  ArgumentForm form = ArgumentForm::Parameters;
};

/// A copy. One-dimensional ones use srcPtr.ptr, dstPtr.ptr, extent.width and kind only.
struct MemcpyWork {
  hipMemcpy3DParms parms{};
  bool one_dimensional = false;
};

/// A fill: height rows of width elements, and that `depth` times at every `slice` bytes.
struct MemsetWork {
  hipMemsetParams parms{};
  std::size_t depth = 1;
  std::size_t slice = 0;
};

/// A call of a host function.
struct HostWork {
  hipHostNodeParams parms{};
};

/// A whole graph as one node: a clone made when the node was added.
struct ChildWork {
  std::shared_ptr<Graph> graph;
};

/// Nothing but a place for edges.
struct EmptyWork {};

/// Memory for the nodes behind this one.
struct MemAllocWork {
  std::shared_ptr<GraphAllocation> allocation;
};

/// The end of what an allocation node gave, of this graph or another one.
struct MemFreeWork {
  std::shared_ptr<GraphAllocation> allocation;
  std::shared_ptr<void> claim;  ///< while it lives, no other node may free the same
};

/// What a node does.
using NodeWork = std::variant<EmptyWork, KernelWork, MemcpyWork, MemsetWork, HostWork, ChildWork,
                              MemAllocWork, MemFreeWork>;

/// The HIP name of a node's kind.
hipGraphNodeType type_of(const NodeWork& work);

}  // namespace hipgraph::emu
