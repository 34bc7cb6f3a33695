#include "runtime/memory_advice.h"

#include "api/api.h"
#include "memory_types.h"
#include "runtime/capture_rules.h"
#include "runtime/device_model.h"
#include "runtime/memory_checks.h"
#include "runtime/stream.h"

using namespace hipgraph::emu;

namespace {

std::uint64_t advised_address(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

/// A place as the first forms of the calls name it: a device, or the host as -1.
hipMemLocation location_of(int device) {
  if (device == hipCpuDeviceId) return {hipMemLocationTypeHost, hipCpuDeviceId};
  return {hipMemLocationTypeDevice, device};
}

/// The number by which attributes name a place.
int checked_place(const hipMemLocation& location, bool any_device = false) {
  if (location.type != hipMemLocationTypeDevice) return hipCpuDeviceId;
  const bool known = location.id >= 0 && location.id < DeviceModel::instance().devices;
  require(known || any_device, hipErrorInvalidDevice);
  return location.id;
}

/// The allocation around [pointer, pointer + bytes), if this library knows one there.
std::optional<Allocation> allocation_around(const void* pointer, std::size_t bytes) {
  const auto found = AddressSpace::instance().lookup(advised_address(pointer));
  const bool inside = !found || bytes <= found->bytes - (advised_address(pointer) - found->base);
  require(inside, hipErrorInvalidValue);
  return found;
}

bool is_managed(const std::optional<Allocation>& allocation) {
  return allocation && memory_type_of(allocation->kind) == hipMemoryTypeManaged;
}

void prefetch(const char* call, const void* pointer, std::size_t bytes,
              const hipMemLocation& location, hipStream_t stream) {
  const ApiLock lock;
  permit(call);
  find_stream(stream);
  require(pointer != nullptr && bytes != 0, hipErrorInvalidValue);
  const auto allocation = allocation_around(pointer, bytes);
  const int place = checked_place(location);
  require(allocation || place == hipCpuDeviceId, hipErrorNotSupported);
  if (!is_managed(allocation)) return;
  AdviceTable::instance().change(*allocation, advised_address(pointer), bytes,
                                 [&](Advice& advice) { advice.last_prefetch = place; });
}

void apply(Advice& advice, hipMemoryAdvise what, int place) {
  switch (what) {
    case hipMemAdviseSetReadMostly: advice.read_mostly = true; return;
    case hipMemAdviseUnsetReadMostly: advice.read_mostly = false; return;
    case hipMemAdviseSetPreferredLocation: advice.preferred = place; return;
    case hipMemAdviseUnsetPreferredLocation: advice.preferred = hipInvalidDeviceId; return;
    case hipMemAdviseSetAccessedBy: advice.accessed_by.insert(place); return;
    case hipMemAdviseUnsetAccessedBy: advice.accessed_by.erase(place); return;
    case hipMemAdviseSetCoarseGrain: advice.coarse_grained = true; return;
    case hipMemAdviseUnsetCoarseGrain: advice.coarse_grained = false; return;
  }
  throw hipgraph::abi::Failure{hipErrorInvalidValue};
}

void advise(const char* call, const void* pointer, std::size_t bytes, hipMemoryAdvise what,
            const hipMemLocation& location) {
  const ApiLock lock;
  permit(call);
  require(pointer != nullptr && bytes != 0, hipErrorInvalidValue);
  require(location.type != hipMemLocationTypeInvalid, hipErrorInvalidValue);
  const bool any = what == hipMemAdviseSetReadMostly || what == hipMemAdviseUnsetReadMostly;
  const int place = checked_place(location, any);
  const auto allocation = allocation_around(pointer, bytes);
  require(is_managed(allocation), hipErrorInvalidValue);
  Advice probe;
  apply(probe, what, place);  // an unknown advice changes nothing
  AdviceTable::instance().change(*allocation, advised_address(pointer), bytes,
                                 [&](Advice& advice) { apply(advice, what, place); });
}

/// Writes one attribute of a range; `size` must be what the attribute has.
void tell_advice(int* data, std::size_t size, hipMemRangeAttribute attribute,
                 const Advice& advice) {
  if (attribute == hipMemRangeAttributeAccessedBy) {
    require(size % sizeof(int) == 0, hipErrorInvalidValue);
    auto device = advice.accessed_by.begin();
    for (std::size_t i = 0; i < size / sizeof(int); ++i) {
      data[i] = device == advice.accessed_by.end() ? hipInvalidDeviceId : *device++;
    }
    return;
  }
  require(size == sizeof(int), hipErrorInvalidValue);
  switch (attribute) {
    case hipMemRangeAttributeReadMostly: *data = advice.read_mostly ? 1 : 0; return;
    case hipMemRangeAttributePreferredLocation: *data = advice.preferred; return;
    case hipMemRangeAttributeLastPrefetchLocation: *data = advice.last_prefetch; return;
    case hipMemRangeAttributeCoherencyMode:
      *data = advice.coarse_grained ? hipMemRangeCoherencyModeCoarseGrain
                                    : hipMemRangeCoherencyModeFineGrain;
      return;
    case hipMemRangeAttributeAccessedBy: return;
  }
  throw hipgraph::abi::Failure{hipErrorInvalidValue};
}

Advice advice_on(const void* pointer, std::size_t bytes) {
  require(pointer != nullptr && bytes != 0, hipErrorInvalidValue);
  const auto allocation = allocation_around(pointer, bytes);
  require(is_managed(allocation), hipErrorInvalidValue);
  return AdviceTable::instance().common(*allocation, advised_address(pointer), bytes);
}

}  // namespace

HIPGRAPH_API hipError_t hipMemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                                            hipStream_t stream) {
  return entry(
      [&, call = __func__] { prefetch(call, pointer, bytes, location_of(device), stream); });
}

HIPGRAPH_API hipError_t hipMemPrefetchAsync_v2(const void* pointer, std::size_t bytes,
                                               hipMemLocation location, unsigned flags,
                                               hipStream_t stream) {
  return entry([&, call = __func__] {
    require(flags == 0, hipErrorInvalidValue);
    prefetch(call, pointer, bytes, location, stream);
  });
}

HIPGRAPH_API hipError_t hipMemAdvise(const void* pointer, std::size_t bytes, hipMemoryAdvise what,
                                     int device) {
  return entry([&, call = __func__] { advise(call, pointer, bytes, what, location_of(device)); });
}

HIPGRAPH_API hipError_t hipMemAdvise_v2(const void* pointer, std::size_t bytes,
                                        hipMemoryAdvise what, hipMemLocation location) {
  return entry([&, call = __func__] { advise(call, pointer, bytes, what, location); });
}

HIPGRAPH_API hipError_t hipMemRangeGetAttribute(void* data, std::size_t size,
                                                hipMemRangeAttribute attribute, const void* pointer,
                                                std::size_t bytes) {
  return entry([&] {
    require(data != nullptr && size != 0, hipErrorInvalidValue);
    tell_advice(static_cast<int*>(data), size, attribute, advice_on(pointer, bytes));
  });
}

HIPGRAPH_API hipError_t hipMemRangeGetAttributes(void** data, std::size_t* sizes,
                                                 hipMemRangeAttribute* attributes,
                                                 std::size_t count, const void* pointer,
                                                 std::size_t bytes) {
  return entry([&] {
    require(data != nullptr && sizes != nullptr, hipErrorInvalidValue);
    require(attributes != nullptr && count != 0, hipErrorInvalidValue);
    const Advice advice = advice_on(pointer, bytes);
    for (std::size_t i = 0; i < count; ++i) {
      require(data[i] != nullptr, hipErrorInvalidValue);
      tell_advice(static_cast<int*>(data[i]), sizes[i], attributes[i], advice);
    }
  });
}

// Which stream or host uses managed memory changes nothing here.
HIPGRAPH_API hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* pointer,
                                                std::size_t bytes, unsigned flags) {
  return entry([&] {
    require(pointer != nullptr, hipErrorInvalidValue);
    const bool single = flags == hipMemAttachSingle;
    const bool known = flags == hipMemAttachGlobal || flags == hipMemAttachHost || single;
    require(known && (!single || stream != nullptr), hipErrorInvalidValue);
    const ApiLock lock;
    find_stream(stream);
    const auto allocation = AddressSpace::instance().lookup(advised_address(pointer));
    require(allocation.has_value(), hipErrorInvalidValue);
    const bool whole = !is_managed(allocation) || bytes == 0 || bytes == allocation->bytes;
    require(whole, hipErrorInvalidValue);
  });
}
