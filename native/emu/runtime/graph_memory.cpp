#include "runtime/graph_memory.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "entry.h"
#include "runtime/arena.h"
#include "runtime/device_model.h"
#include "runtime/graph.h"
#include "runtime/graph_exec.h"
#include "runtime/status.h"

namespace hipgraph::emu {
namespace {

using AllocationPtr = std::shared_ptr<GraphAllocation>;

/// Memory of one device that graphs use or keep.
struct Held {
  std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
};

struct GraphMemory {
  std::mutex mutex;
  std::vector<Held> held{static_cast<std::size_t>(DeviceModel::instance().devices)};
  std::map<std::uint64_t, std::weak_ptr<GraphAllocation>> by_address;
  /// Launched and not freed: they outlive their graphs. Under the API lock.
  std::map<std::uint64_t, AllocationPtr> active;

  Held& of(int device) { return held[static_cast<std::size_t>(device)]; }
  /// Gives back what a device's graphs keep and do not use.
  void trim(int device) {
    Held& it = of(device);
    AddressSpace::instance().refund(device, it.reserved - it.used);
    it.reserved = it.used;
  }
  bool take(int device, std::size_t bytes) {
    Held& it = of(device);
    const std::uint64_t kept = it.reserved - it.used;
    const std::size_t more = bytes > kept ? bytes - kept : 0;
    if (more != 0 && !AddressSpace::instance().charge(device, more)) return false;
    it.used += bytes;
    it.reserved += more;
    it.used_high = std::max(it.used_high, it.used);
    it.reserved_high = std::max(it.reserved_high, it.reserved);
    return true;
  }
};

GraphMemory& memory() {
  static GraphMemory& all = *new GraphMemory;
  return all;
}

using Lock = std::lock_guard<std::mutex>;

std::uint64_t address_in(const hipMemAllocNodeParams& params) {
  return reinterpret_cast<std::uint64_t>(params.dptr);
}

class AllocCommand final : public Command {
 public:
  explicit AllocCommand(AllocationPtr allocation) : allocation_(std::move(allocation)) {}

  Progress start() override {
    if (!allocation_->commit()) status_ = status::out_of_memory;
    allocation_.reset();
    return Progress::Complete;
  }

 private:
  AllocationPtr allocation_;
};

class FreeCommand final : public Command {
 public:
  explicit FreeCommand(AllocationPtr allocation) : allocation_(std::move(allocation)) {}

  Progress start() override {
    allocation_->retire();
    allocation_.reset();
    return Progress::Complete;
  }

 private:
  AllocationPtr allocation_;
};

/// What a launch would leave allocated, node by node.
struct LaunchTrial {
  bool free_first;
  std::set<AllocationPtr> allocated, freed;

  void add(const ExecNode& node) {
    if (const auto* alloc = std::get_if<MemAllocWork>(&node.work)) {
      const AllocationPtr& it = alloc->allocation;
      abi::require(!it->active || free_first, hipErrorInvalidValue);
      allocated.insert(it);
    } else if (const auto* free = std::get_if<MemFreeWork>(&node.work)) {
      const AllocationPtr& it = free->allocation;
      const bool there = allocated.erase(it) != 0 || (it->active && !freed.contains(it));
      abi::require(there, hipErrorInvalidValue);
      freed.insert(it);
    }
    for (const ExecNode& inner : node.child) add(inner);
  }
};

}  // namespace

GraphAllocation::GraphAllocation(const hipMemAllocNodeParams& params, const Allocation& reserved)
    : params_(params), base_(reserved.base), bytes_(reserved.bytes) {
  if (params.accessDescs != nullptr) {
    access_.assign(params.accessDescs, params.accessDescs + params.accessDescCount);
  }
  params_.accessDescs = access_.empty() ? nullptr : access_.data();
  params_.accessDescCount = access_.size();
  params_.dptr = reinterpret_cast<void*>(base_);
}

GraphAllocation::~GraphAllocation() {
  retire();
  {
    const Lock lock(memory().mutex);
    memory().by_address.erase(base_);
  }
  AddressSpace::instance().release(base_);
}

AllocationPtr GraphAllocation::make(const hipMemAllocNodeParams& params) {
  AddressSpace& space = AddressSpace::instance();
  const int device = params.poolProps.location.id;
  if (params.bytesize > space.total_bytes(device)) return nullptr;
  const auto reserved = space.reserve(params.bytesize, AllocationKind::Graph, device);
  if (!reserved) return nullptr;
  const AllocationPtr made(new GraphAllocation(params, *reserved));
  const Lock lock(memory().mutex);
  memory().by_address[reserved->base] = made;
  return made;
}

AllocationPtr GraphAllocation::find(const void* address) {
  const Lock lock(memory().mutex);
  const auto found = memory().by_address.find(reinterpret_cast<std::uint64_t>(address));
  return found == memory().by_address.end() ? nullptr : found->second.lock();
}

bool GraphAllocation::commit() {
  retire();
  const Lock lock(memory().mutex);
  committed_ = memory().take(device(), whole_pages(bytes_));
  if (committed_) AddressSpace::instance().commit(base_, bytes_);
  return committed_;
}

void GraphAllocation::retire() {
  const Lock lock(memory().mutex);
  if (!committed_) return;
  AddressSpace::instance().retire(base_);
  memory().of(device()).used -= whole_pages(bytes_);
  committed_ = false;
}

hipMemAllocNodeParams alloc_node_params(std::size_t bytes, int device) {
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location = {hipMemLocationTypeDevice, device};
  params.bytesize = bytes;
  return params;
}

MemAllocWork check_alloc_node(const hipMemAllocNodeParams& params) {
  const hipMemPoolProps& props = params.poolProps;
  abi::require(params.bytesize != 0, hipErrorInvalidValue);
  abi::require(props.allocType == hipMemAllocationTypePinned, hipErrorInvalidValue);
  abi::require(props.location.type == hipMemLocationTypeDevice, hipErrorInvalidValue);
  const int device = props.location.id;
  const bool known = device >= 0 && device < DeviceModel::instance().devices;
  abi::require(known, hipErrorInvalidValue);
  AllocationPtr allocation = GraphAllocation::make(params);
  abi::require(allocation != nullptr, hipErrorOutOfMemory);
  return {std::move(allocation)};
}

MemFreeWork check_free_node(void* address) {
  AllocationPtr allocation = GraphAllocation::find(address);
  const bool unmatched = allocation != nullptr && allocation->free_node.expired();
  abi::require(unmatched, hipErrorInvalidValue);
  auto claim = std::make_shared<int>();
  allocation->free_node = claim;
  return {std::move(allocation), std::move(claim)};
}

CommandPtr make_graph_alloc(const MemAllocWork& work) {
  return std::make_shared<AllocCommand>(work.allocation);
}

CommandPtr make_graph_free(const MemFreeWork& work) {
  return std::make_shared<FreeCommand>(work.allocation);
}

bool is_memory_node(const Node& node) {
  return std::holds_alternative<MemAllocWork>(node.work) ||
         std::holds_alternative<MemFreeWork>(node.work);
}

bool owns_memory(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const auto& node) { return is_memory_node(*node); });
}

void note_instantiated(Graph& graph) {
  if (!owns_memory(graph)) return;
  abi::require(!graph.memory_instantiated, hipErrorNotSupported);
  graph.memory_instantiated = true;
}

void begin_memory_launch(const std::vector<ExecNode>& nodes, bool free_first) {
  LaunchTrial trial{free_first, {}, {}};
  for (const ExecNode& node : nodes) trial.add(node);
  for (const AllocationPtr& it : trial.freed) {
    it->active = false;
    memory().active.erase(address_in(it->params()));
  }
  for (const AllocationPtr& it : trial.allocated) {
    it->active = true;
    memory().active[address_in(it->params())] = it;
  }
}

AllocationPtr claim_graph_memory(std::uint64_t address) {
  const auto found = memory().active.find(address);
  if (found == memory().active.end()) return nullptr;
  AllocationPtr allocation = std::move(found->second);
  memory().active.erase(found);
  allocation->active = false;
  return allocation;
}

void free_graph_memory(int device) {
  std::erase_if(memory().active, [device](const auto& entry) {
    const AllocationPtr& it = entry.second;
    if (it->device() != device) return false;
    it->active = false;
    it->retire();
    return true;
  });
  trim_graph_memory(device);
}

std::uint64_t graph_memory_attribute(int device, hipGraphMemAttributeType attribute) {
  const Lock lock(memory().mutex);
  const Held& it = memory().of(device);
  switch (attribute) {
    case hipGraphMemAttrUsedMemCurrent: return it.used;
    case hipGraphMemAttrUsedMemHigh: return it.used_high;
    case hipGraphMemAttrReservedMemCurrent: return it.reserved;
    case hipGraphMemAttrReservedMemHigh: return it.reserved_high;
  }
  throw abi::Failure{hipErrorInvalidValue};
}

void reset_graph_memory_high(int device, hipGraphMemAttributeType attribute) {
  const Lock lock(memory().mutex);
  Held& it = memory().of(device);
  (attribute == hipGraphMemAttrUsedMemHigh ? it.used_high : it.reserved_high) = 0;
}

void trim_graph_memory(int device) {
  const Lock lock(memory().mutex);
  memory().trim(device);
}

void trim_graph_memory() {
  const Lock lock(memory().mutex);
  for (std::size_t i = 0; i < memory().held.size(); ++i) memory().trim(static_cast<int>(i));
}

}  // namespace hipgraph::emu
