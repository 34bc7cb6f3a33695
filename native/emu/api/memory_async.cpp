#include "api/api.h"
#include "runtime/address_space.h"
#include "runtime/capture.h"
#include "runtime/capture_rules.h"
#include "runtime/executor.h"
#include "runtime/graph_memory.h"
#include "runtime/memory_pools.h"

using namespace hipgraph::emu;

namespace {

/// The pool to take from, or null for the current one of the stream's device. What a capturing
/// stream asks for becomes a graph's own and comes from no pool.
void allocate_on_stream(const char* call, void** out, std::size_t bytes, const MemoryPoolPtr& from,
                        hipStream_t stream) {
  required(out);
  const StreamPtr found = find_stream(stream, hipErrorInvalidHandle);
  if (bytes == 0) return;
  if (permit(call, *found) == Admission::Record) {
    const int device = from ? from->device() : found->device;
    const auto allocation = GraphAllocation::make(alloc_node_params(bytes, device));
    // HIP does not look whether the reservation worked.
    if (allocation == nullptr) return;
    record(*found, MemAllocWork{allocation});
    *out = allocation->params().dptr;
    return;
  }
  const auto allocation = allocate_from(from ? from : current_pool(found->device), bytes, *found);
  require(allocation.has_value(), hipErrorOutOfMemory);
  *out = reinterpret_cast<void*>(allocation->base);
}

void retire_graph_memory(void* allocation) { static_cast<GraphAllocation*>(allocation)->retire(); }

void release_allocation(void* base) {
  AddressSpace::instance().release(*static_cast<const std::uint64_t*>(base));
}

void free_on_stream(void* pointer, Stream& stream) {
  const auto base = reinterpret_cast<std::uint64_t>(pointer);
  if (free_to_pool(base, stream)) return;
  if (auto allocation = claim_graph_memory(base)) {
    enqueue(stream, make_action(retire_graph_memory, std::move(allocation)));
    return;
  }
  const auto allocation = AddressSpace::instance().lookup(base);
  const bool own =
      allocation && allocation->base == base &&
      (allocation->kind == AllocationKind::Device || allocation->kind == AllocationKind::Pinned ||
       allocation->kind == AllocationKind::Managed);
  require(own, hipErrorInvalidValue);
  enqueue(stream, make_action(release_allocation, std::make_shared<std::uint64_t>(base)));
}

}  // namespace

HIPGRAPH_API hipError_t hipMallocAsync(void** pointer, std::size_t bytes, hipStream_t stream) {
  return entry([&, call = __func__] {
    clear(pointer);
    const ApiLock lock;
    allocate_on_stream(call, pointer, bytes, nullptr, stream);
  });
}

HIPGRAPH_API hipError_t hipMallocFromPoolAsync(void** pointer, std::size_t bytes, hipMemPool_t pool,
                                               hipStream_t stream) {
  return entry([&, call = __func__] {
    clear(pointer);
    const ApiLock lock;
    allocate_on_stream(call, pointer, bytes, find_pool(pool), stream);
  });
}

HIPGRAPH_API hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
  return entry([&, call = __func__] {
    const ApiLock lock;
    const StreamPtr found = find_stream(stream, hipErrorInvalidHandle);
    const Admission admission = permit(call, *found);
    if (pointer == nullptr) return;
    if (admission == Admission::Record) {
      record(*found, check_free_node(pointer));
    } else {
      free_on_stream(pointer, *found);
    }
  });
}
