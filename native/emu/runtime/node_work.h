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

/// A fill: height rows of width elements.
struct MemsetWork {
  hipMemsetParams parms{};
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

/// A write of one value, or a wait for one.
enum class MemoryOperationKind : std::uint8_t {
  WaitGreaterEqual,
  WaitEqual,
  WaitAnd,
  WaitNor,
  Write,
};
struct MemoryOperation {
  MemoryOperationKind kind;
  void* address;
  std::uint64_t value;
  std::uint64_t mask;  ///< of what is read
  unsigned bytes;      ///< 4 or 8
};

/// Writes and waits, one after another.
struct MemoryWork {
  std::vector<MemoryOperation> operations;
};

/// What a node does.
using NodeWork =
    std::variant<EmptyWork, KernelWork, MemcpyWork, MemsetWork, HostWork, ChildWork, MemoryWork>;

/// The HIP name of a node's kind.
hipGraphNodeType type_of(const NodeWork& work);

}  // namespace hipgraph::emu
