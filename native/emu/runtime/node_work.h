#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "graph_abi.h"
#include "hip_abi.h"
#include "runtime/module.h"

namespace hipgraph::emu {

class Graph;
class GraphAllocation;
struct Event;

/// Which of the two forms kernel arguments came in; reading them back uses the same form.
enum class ArgumentForm : std::uint8_t { Parameters, Block };

/// What a caller wished for a kernel node beyond its parameters. It is kept and given back; the
/// emulated device has no caches to persist in and no queues to prefer.
struct KernelAttribute {
  hipLaunchAttributeID id;
  hipLaunchAttributeValue value;
};

/// A kernel launch with its own copy of the arguments, laid out as the kernel reads them.
struct KernelWork {
  FunctionPtr function;
  dim3 grid;
  dim3 block;
  std::uint32_t dynamic_lds_bytes = 0;
  std::vector<std::uint8_t> arguments;
  ArgumentForm form = ArgumentForm::Parameters;
  std::optional<KernelAttribute> attribute = std::nullopt;
  std::array<std::uint32_t, 3> rest{};  ///< of the last block of an axis, 0: all; never in a node
};

/// A copy. One-dimensional ones use srcPtr.ptr, dstPtr.ptr, extent.width and kind only.
struct MemcpyWork {
  hipMemcpy3DParms parms{};
  bool one_dimensional = false;
  bool to_symbol = false;  ///< by a call that named a variable of the program
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

/// A record of an event, which each launch makes anew.
struct EventRecordWork {
  std::shared_ptr<Event> event;
};

/// A wait for what the event stands for at the launch.
struct EventWaitWork {
  std::shared_ptr<Event> event;
};

/// Memory for the nodes behind this one.
struct MemAllocWork {
  std::shared_ptr<GraphAllocation> allocation;
};

/// The end of what an allocation node gave, of this graph or another one.
struct MemFreeWork {
  std::shared_ptr<GraphAllocation> allocation;
  std::shared_ptr<void> claim;  ///< while it lives, no other node may free the same
};

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
  hipCtx_t context = nullptr;                   ///< as the caller gave it; it decides nothing
  std::shared_ptr<const void> keeps = nullptr;  ///< whatever must live until they are done
};

/// What a node does.
using NodeWork =
    std::variant<EmptyWork, KernelWork, MemcpyWork, MemsetWork, HostWork, ChildWork,
                 EventRecordWork, EventWaitWork, MemAllocWork, MemFreeWork, MemoryWork>;

/// The HIP name of a node's kind.
hipGraphNodeType type_of(const NodeWork& work);

}  // namespace hipgraph::emu
