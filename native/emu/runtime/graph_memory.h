#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "hip_abi.h"
#include "memory_types.h"
#include "runtime/address_space.h"
#include "runtime/command.h"
#include "runtime/node_work.h"

namespace hipgraph::emu {

class Graph;
struct Node;
struct ExecNode;

/// What an allocation node owns: addresses for as long as any graph, exec or launch needs them, and
/// memory behind them from each launch of the node to the free that follows. Launches and frees are
/// ordered by the host, so that one that cannot work is refused at the call; memory comes and goes
/// on the executor's thread.
class GraphAllocation {
 public:
  /// The addresses for a node; null when the device could never have so much.
  static std::shared_ptr<GraphAllocation> make(const hipMemAllocNodeParams& params);
  /// The allocation that starts at `address`, or null.
  static std::shared_ptr<GraphAllocation> find(const void* address);
  ~GraphAllocation();
  GraphAllocation(const GraphAllocation&) = delete;
  GraphAllocation& operator=(const GraphAllocation&) = delete;

  /// Puts memory behind the addresses, again where it was not freed; false when there is none.
  bool commit();
  /// Takes it away.
  void retire();
  /// The parameters as a node shows them.
  const hipMemAllocNodeParams& params() const { return params_; }
  int device() const { return params_.poolProps.location.id; }

  std::weak_ptr<void> free_node;  ///< alive while a free node for it exists
  bool active = false;            ///< launched, and no free was asked for since

 private:
  GraphAllocation(const hipMemAllocNodeParams& params, const Allocation& reserved);

  hipMemAllocNodeParams params_;
  std::vector<hipMemAccessDesc> access_;
  std::uint64_t base_;
  std::size_t bytes_;
  bool committed_ = false;  ///< under the lock of the devices' graph memory
};

/// Checks an allocation node's parameters and reserves its addresses.
MemAllocWork check_alloc_node(const hipMemAllocNodeParams& params);
/// Parameters for `bytes` bytes of a device.
hipMemAllocNodeParams alloc_node_params(std::size_t bytes, int device);
/// Checks that `address` is a graph's allocation that no node frees yet, and claims it.
MemFreeWork check_free_node(void* address);

/// The commands of the two kinds of node.
CommandPtr make_graph_alloc(const MemAllocWork& work);
CommandPtr make_graph_free(const MemFreeWork& work);

/// Whether a node is of one of the two kinds.
bool is_memory_node(const Node& node);
/// Whether a graph holds such nodes, those of child graphs excepted.
bool owns_memory(const Graph& graph);
/// Notes that a graph with memory nodes is instantiated, which HIP allows once: 801 after that.
void note_instantiated(Graph& graph);
/// Follows what a launch allocates and frees. Refuses memory that is allocated still, unless it is
/// to be freed first, and frees of memory that is not.
void begin_memory_launch(const std::vector<ExecNode>& nodes, bool free_first);
/// The launched allocation that starts at `address`, which the caller frees; null when there is
/// none.
std::shared_ptr<GraphAllocation> claim_graph_memory(std::uint64_t address);

/// Frees every launched allocation of a device, whose work must be done.
void free_graph_memory(int device);

/// What graphs use and keep of a device's memory.
std::uint64_t graph_memory_attribute(int device, hipGraphMemAttributeType attribute);
/// Forgets one of the two high-water marks.
void reset_graph_memory_high(int device, hipGraphMemAttributeType attribute);
/// Gives back what no graph of a device uses.
void trim_graph_memory(int device);
/// The same for every device: what HIP does whenever the host waits.
void trim_graph_memory();

}  // namespace hipgraph::emu
