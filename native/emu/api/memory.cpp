#include <optional>

#include "api/api.h"
#include "runtime/address_space.h"
#include "runtime/capture_rules.h"
#include "runtime/device_model.h"
#include "runtime/executor.h"
#include "runtime/failures.h"
#include "runtime/memory_checks.h"
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

void permit_now(const char* call) {
  const ApiLock lock;
  permit(call);
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

/// Frees once the whole device is idle. A failure met on the way stays for the next synchronise.
void free_now(const char* call, void* pointer) {
  permit_now(call);
  if (pointer == nullptr) return;
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

void release_address(void* address) {
  AddressSpace::instance().release(*static_cast<const std::uint64_t*>(address));
}

hipMemoryType type_of(AllocationKind kind) {
  switch (kind) {
    case AllocationKind::Pinned:
    case AllocationKind::Registered: return hipMemoryTypeHost;
    case AllocationKind::Managed: return hipMemoryTypeManaged;
    case AllocationKind::Device:
    case AllocationKind::Imported:
    case AllocationKind::Code:
    case AllocationKind::Kernarg: return hipMemoryTypeDevice;
  }
  return hipMemoryTypeUnregistered;
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

HIPGRAPH_API hipError_t hipHostFree(void* pointer) {
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

HIPGRAPH_API hipError_t hipMallocAsync(void** pointer, std::size_t bytes, hipStream_t stream) {
  return entry([&, call = __func__] {
    clear(pointer);
    const ApiLock lock;
    const StreamPtr found = find_stream(stream, hipErrorInvalidHandle);
    const Admission admission = permit(call, *found);
    require(admission == Admission::Execute || bytes == 0, hipErrorNotSupported);
    allocate(pointer, bytes, AllocationKind::Device, 0);
  });
}

HIPGRAPH_API hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
  return entry([&, call = __func__] {
    const ApiLock lock;
    const StreamPtr found = find_stream(stream, hipErrorInvalidHandle);
    const Admission admission = permit(call, *found);
    if (pointer == nullptr) return;
    require(admission == Admission::Execute, hipErrorNotSupported);
    const auto address = std::make_shared<std::uint64_t>(freeable(pointer).base);
    enqueue(*found, make_action(release_address, address));
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
    require(allocation && type_of(allocation->kind) == hipMemoryTypeHost, hipErrorInvalidValue);
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

HIPGRAPH_API hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes,
                                                const void* pointer) {
  return entry([&] {
    if (attributes == nullptr) return;
    *attributes = {hipMemoryTypeUnregistered, hipInvalidDeviceId, nullptr, nullptr, 0, 0};
    const auto allocation = AddressSpace::instance().lookup(address_of(pointer));
    if (pointer == nullptr || !allocation) return;
    attributes->type = type_of(allocation->kind);
    attributes->device = allocation->device;
    attributes->devicePointer = const_cast<void*>(pointer);
    const bool on_host = attributes->type != hipMemoryTypeDevice;
    attributes->hostPointer = on_host ? const_cast<void*>(pointer) : nullptr;
    attributes->isManaged = allocation->kind == AllocationKind::Managed ? 1 : 0;
    attributes->allocationFlags = allocation->flags;
  });
}

HIPGRAPH_API hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, std::size_t* bytes,
                                              hipDeviceptr_t pointer) {
  return entry([&] {
    require(base != nullptr || bytes != nullptr, hipErrorInvalidValue);
    const auto allocation = AddressSpace::instance().lookup(address_of(pointer));
    require(allocation.has_value(), hipErrorNotFound);
    if (base != nullptr) *base = reinterpret_cast<void*>(allocation->base);
    if (bytes != nullptr) *bytes = allocation->bytes;
  });
}
