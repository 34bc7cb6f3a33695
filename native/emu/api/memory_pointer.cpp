#include "api/api.h"
#include "memory_types.h"
#include "runtime/address_space.h"
#include "runtime/memory_checks.h"

using namespace hipgraph::emu;

namespace {

template <class T>
void write(void* data, T value) {
  *static_cast<T*>(data) = value;
}

/// Writes one fact about `pointer`; for memory that this library does not know it writes the
/// nothing of its type and is an invalid value. The range's size has 32 bits, as in HIP.
hipError_t tell(void* data, hipPointer_attribute attribute, void* pointer) {
  const auto found = AddressSpace::instance().lookup(reinterpret_cast<std::uint64_t>(pointer));
  const Allocation it = found.value_or(Allocation{.device = hipInvalidDeviceId});
  const hipMemoryType type = found ? memory_type_of(it.kind) : hipMemoryTypeUnregistered;
  const bool visible = found && type != hipMemoryTypeDevice;
  const hipError_t known = found ? hipSuccess : hipErrorInvalidValue;
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE: write(data, type); return known;
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER: write(data, found ? pointer : nullptr); return known;
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      write(data, visible ? pointer : nullptr);
      return visible ? hipSuccess : hipErrorInvalidValue;
    // Copies that a host cannot tell from synchronous ones are the only ones here.
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS: write(data, 0); return known;
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID: write(data, std::uint32_t(it.number)); return known;
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED: write(data, type == hipMemoryTypeManaged); return known;
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: write(data, it.device); return known;
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: write(data, it.base); return known;
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE: write(data, std::uint32_t(it.bytes)); return known;
    case HIP_POINTER_ATTRIBUTE_MAPPED: write(data, found.has_value()); return known;
    case HIP_POINTER_ATTRIBUTE_CONTEXT:
    case HIP_POINTER_ATTRIBUTE_P2P_TOKENS:
    case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
    case HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return hipErrorNotSupported;
  }
  return hipErrorInvalidValue;
}

}  // namespace

HIPGRAPH_API hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes,
                                                const void* pointer) {
  return entry([&] {
    if (attributes == nullptr) return;
    *attributes = {hipMemoryTypeUnregistered, hipInvalidDeviceId, nullptr, nullptr, 0, 0};
    const auto allocation =
        AddressSpace::instance().lookup(reinterpret_cast<std::uint64_t>(pointer));
    if (pointer == nullptr || !allocation) return;
    attributes->type = memory_type_of(allocation->kind);
    attributes->device = allocation->device;
    attributes->devicePointer = const_cast<void*>(pointer);
    const bool on_host = attributes->type != hipMemoryTypeDevice;
    attributes->hostPointer = on_host ? const_cast<void*>(pointer) : nullptr;
    attributes->isManaged = attributes->type == hipMemoryTypeManaged ? 1 : 0;
    attributes->allocationFlags = allocation->flags;
  });
}

HIPGRAPH_API hipError_t hipPointerGetAttribute(void* data, hipPointer_attribute attribute,
                                               void* pointer) {
  return entry([&] {
    require(data != nullptr && pointer != nullptr, hipErrorInvalidValue);
    return tell(data, attribute, pointer);
  });
}

// Like HIP's, it succeeds whatever becomes of the single attributes.
HIPGRAPH_API hipError_t hipDrvPointerGetAttributes(unsigned count, hipPointer_attribute* attributes,
                                                   void** data, void* pointer) {
  return entry([&] {
    require(count != 0 && attributes != nullptr, hipErrorInvalidValue);
    require(data != nullptr && pointer != nullptr, hipErrorInvalidValue);
    for (unsigned i = 0; i < count; ++i) {
      if (data[i] != nullptr) tell(data[i], attributes[i], pointer);
    }
  });
}

HIPGRAPH_API hipError_t hipHostGetFlags(unsigned* flags, void* pointer) {
  return entry([&] {
    require(flags != nullptr && pointer != nullptr, hipErrorInvalidValue);
    const auto allocation =
        AddressSpace::instance().lookup(reinterpret_cast<std::uint64_t>(pointer));
    const bool on_host = allocation && memory_type_of(allocation->kind) == hipMemoryTypeHost;
    require(on_host, hipErrorInvalidValue);
    *flags = allocation->flags;
  });
}

HIPGRAPH_API hipError_t hipMemPtrGetInfo(void* pointer, std::size_t* bytes) {
  return entry([&] {
    require(pointer != nullptr && bytes != nullptr, hipErrorInvalidValue);
    const auto allocation =
        AddressSpace::instance().lookup(reinterpret_cast<std::uint64_t>(pointer));
    require(allocation.has_value(), hipErrorInvalidValue);
    *bytes = allocation->bytes;
  });
}

HIPGRAPH_API hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, std::size_t* bytes,
                                              hipDeviceptr_t pointer) {
  return entry([&] {
    require(base != nullptr || bytes != nullptr, hipErrorInvalidValue);
    const auto allocation =
        AddressSpace::instance().lookup(reinterpret_cast<std::uint64_t>(pointer));
    require(allocation.has_value(), hipErrorNotFound);
    if (base != nullptr) *base = reinterpret_cast<void*>(allocation->base);
    if (bytes != nullptr) *bytes = allocation->bytes;
  });
}
