#include <optional>

#include "api/api.h"
#include "runtime/address_space.h"
#include "runtime/capture_rules.h"
#include "runtime/device_model.h"
#include "runtime/graph_memory.h"
#include "runtime/memory_checks.h"
#include "runtime/memory_pools.h"
#include "runtime/stream.h"

using namespace hipgraph::emu;

namespace {

constexpr unsigned host_malloc_flags = hipHostMallocPortable | hipHostMallocMapped |
                                       hipHostMallocWriteCombined | hipHostMallocUncached |
                                       hipHostMallocNumaUser | hipHostMallocCoherent |
                                       hipHostMallocNonCoherent;
constexpr unsigned host_register_flags = hipHostRegisterPortable | hipHostRegisterMapped |
                                         hipHostRegisterIoMemory | hipHostRegisterReadOnly;

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

void allocate(void** out, std::size_t bytes, AllocationKind kind, unsigned flags) {
  required(out);
  if (bytes == 0) return;
  const auto allocation =
      AddressSpace::instance().allocate(bytes, kind, this_thread().device, flags);
  require(allocation.has_value(), hipErrorOutOfMemory);
  *out = reinterpret_cast<void*>(allocation->base);
}

/// The allocation that starts at `pointer` and that a free call may take.
Allocation freeable(const void* pointer) {
  const auto allocation = AddressSpace::instance().lookup(address_of(pointer));
  require(allocation && allocation->base == address_of(pointer), hipErrorInvalidValue);
  const bool own = allocation->kind == AllocationKind::Device ||
                   allocation->kind == AllocationKind::Pinned ||
                   allocation->kind == AllocationKind::Managed;
  require(own, hipErrorInvalidValue);
  return *allocation;
}

/// A graph's allocation that was launched and not freed; null when there is none there.
std::shared_ptr<GraphAllocation> claim_graph_memory_at(const void* pointer) {
  const ApiLock lock;
  return claim_graph_memory(address_of(pointer));
}

bool free_pool_memory(const void* pointer) {
  const ApiLock lock;
  return free_to_pool(address_of(pointer));
}

/// Frees once the whole device is idle; memory of a pool goes back to it later, without a wait. A
/// failure met on the way stays for the next synchronise.
void free_now(const char* call, void* pointer) {
  permit_now(call);
  if (pointer == nullptr || free_pool_memory(pointer)) return;
  if (const auto allocation = claim_graph_memory_at(pointer)) {
    wait_for_device(allocation->device());
    allocation->retire();
    return;
  }
  wait_for_device(freeable(pointer).device);
  require(AddressSpace::instance().release(address_of(pointer)), hipErrorInvalidValue);
}

void host_malloc(const char* call, void** out, std::size_t bytes, unsigned flags) {
  clear(out);
  permit_now(call);
  require((flags & ~host_malloc_flags) == 0, hipErrorInvalidValue);
  constexpr unsigned both = hipHostMallocCoherent | hipHostMallocNonCoherent;
  require((flags & both) != both, hipErrorInvalidValue);
  allocate(out, bytes, AllocationKind::Pinned, flags);
}

}  // namespace

HIPGRAPH_API hipError_t hipMalloc(void** pointer, std::size_t bytes) {
  return entry([&, call = __func__] {
    clear(pointer);
    permit_now(call);
    allocate(pointer, bytes, AllocationKind::Device, 0);
  });
}

// What the caches do with memory changes no value here: the flags are remembered and no more.
HIPGRAPH_API hipError_t hipExtMallocWithFlags(void** pointer, std::size_t bytes, unsigned flags) {
  return entry([&] {
    clear(pointer);
    require(flags <= hipDeviceMallocContiguous, hipErrorInvalidValue);
    require(flags != hipMallocSignalMemory || bytes == 8, hipErrorInvalidValue);
    allocate(pointer, bytes, AllocationKind::Device, flags);
  });
}

HIPGRAPH_API hipError_t hipFree(void* pointer) {
  return entry([&, call = __func__] { free_now(call, pointer); });
}

HIPGRAPH_API hipError_t hipHostMalloc(void** pointer, std::size_t bytes, unsigned flags) {
  return entry([&, call = __func__] { host_malloc(call, pointer, bytes, flags); });
}

HIPGRAPH_API hipError_t hipHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return entry([&, call = __func__] { host_malloc(call, pointer, bytes, flags); });
}

HIPGRAPH_API hipError_t hipExtHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return entry([&, call = __func__] { host_malloc(call, pointer, bytes, flags); });
}

HIPGRAPH_API hipError_t hipHostFree(void* pointer) {
  return entry([&, call = __func__] { free_now(call, pointer); });
}

HIPGRAPH_API hipError_t hipMallocHost(void** pointer, std::size_t bytes) {
  return entry([&, call = __func__] { host_malloc(call, pointer, bytes, 0); });
}

HIPGRAPH_API hipError_t hipMemAllocHost(void** pointer, std::size_t bytes) {
  return entry([&, call = __func__] { host_malloc(call, pointer, bytes, 0); });
}

HIPGRAPH_API hipError_t hipFreeHost(void* pointer) {
  return entry([&, call = __func__] { free_now(call, pointer); });
}

HIPGRAPH_API hipError_t hipMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return entry([&, call = __func__] {
    clear(pointer);
    permit_now(call);
    const bool known = flags == hipMemAttachGlobal || flags == hipMemAttachHost;
    require(bytes != 0 && known, hipErrorInvalidValue);
    allocate(pointer, bytes, AllocationKind::Managed, flags);
  });
}

HIPGRAPH_API hipError_t hipHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return entry([&, call = __func__] {
    permit_now(call);
    require(pointer != nullptr && bytes != 0, hipErrorInvalidValue);
    require((flags & ~host_register_flags) == 0, hipErrorInvalidValue);
    const bool adopted = AddressSpace::instance().adopt(pointer, bytes, AllocationKind::Registered,
                                                        this_thread().device, flags);
    require(adopted, hipErrorHostMemoryAlreadyRegistered);
  });
}

HIPGRAPH_API hipError_t hipHostUnregister(void* pointer) {
  return entry([&, call = __func__] {
    permit_now(call);
    require(pointer != nullptr, hipErrorInvalidValue);
    const auto allocation = AddressSpace::instance().lookup(address_of(pointer));
    const bool registered = allocation && allocation->kind == AllocationKind::Registered &&
                            allocation->base == address_of(pointer);
    require(registered, hipErrorHostMemoryNotRegistered);
    wait_for_device(allocation->device);
    AddressSpace::instance().release(address_of(pointer));
  });
}

HIPGRAPH_API hipError_t hipHostGetDevicePointer(void** device_pointer, void* pointer,
                                                unsigned flags) {
  return entry([&] {
    clear(required(device_pointer));
    require(flags == 0 && pointer != nullptr, hipErrorInvalidValue);
    const auto allocation = AddressSpace::instance().lookup(address_of(pointer));
    require(allocation && memory_type_of(allocation->kind) == hipMemoryTypeHost,
            hipErrorInvalidValue);
    *device_pointer = pointer;
  });
}

HIPGRAPH_API hipError_t hipMemGetInfo(std::size_t* available, std::size_t* total) {
  return entry([&] {
    const int device = this_thread().device;
    const std::size_t all = AddressSpace::instance().total_bytes(device);
    if (available != nullptr) *available = all - AddressSpace::instance().used_bytes(device);
    if (total != nullptr) *total = all;
  });
}
