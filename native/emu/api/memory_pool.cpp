#include "api/api.h"
#include "runtime/capture_rules.h"
#include "runtime/device_model.h"
#include "runtime/memory_pools.h"

using namespace hipgraph::emu;

namespace {

bool has_device(int device) { return device >= 0 && device < DeviceModel::instance().devices; }

/// Checks a description of access to a pool on device `own`.
void checked_access(const hipMemAccessDesc& access, int own) {
  require(access.location.type == hipMemLocationTypeDevice, hipErrorInvalidValue);
  require(has_device(access.location.id), hipErrorInvalidDevice);
  const bool known = access.flags == hipMemAccessFlagsProtNone ||
                     access.flags == hipMemAccessFlagsProtRead ||
                     access.flags == hipMemAccessFlagsProtReadWrite;
  require(known, hipErrorInvalidValue);
  if (access.location.id == own) {
    require(access.flags != hipMemAccessFlagsProtNone, hipErrorInvalidDevice);
    require(access.flags != hipMemAccessFlagsProtRead, hipErrorNotSupported);
  }
}

}  // namespace

HIPGRAPH_API hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  return entry([&] {
    clear(required(pool));
    require(has_device(device), hipErrorInvalidDevice);
    const ApiLock lock;
    *pool = default_pool(device)->handle;
  });
}

HIPGRAPH_API hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device) {
  return entry([&] {
    clear(required(pool));
    require(has_device(device), hipErrorInvalidValue);
    const ApiLock lock;
    *pool = current_pool(device)->handle;
  });
}

HIPGRAPH_API hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  return entry([&, call = __func__] {
    const ApiLock lock;
    permit(call);
    require(has_device(device), hipErrorInvalidValue);
    const MemoryPoolPtr found = find_pool(pool);
    require(found->device() == device, hipErrorInvalidDevice);
    set_current_pool(found);
  });
}

HIPGRAPH_API hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* props) {
  return entry([&, call = __func__] {
    clear(pool);
    const ApiLock lock;
    permit(call);
    require(pool != nullptr && props != nullptr, hipErrorInvalidValue);
    require(props->allocType == hipMemAllocationTypePinned, hipErrorInvalidValue);
    const hipMemLocation& location = props->location;
    const bool known = location.type == hipMemLocationTypeDevice && has_device(location.id);
    require(known, hipErrorInvalidValue);
    *pool = create_pool(location.id, props->maxSize);
  });
}

HIPGRAPH_API hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  return entry([&, call = __func__] {
    const ApiLock lock;
    permit(call);
    destroy_pool(pool);
  });
}

HIPGRAPH_API hipError_t hipMemPoolTrimTo(hipMemPool_t pool, std::size_t keep) {
  return entry([&] {
    const ApiLock lock;
    find_pool(pool)->trim(keep);
  });
}

HIPGRAPH_API hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute,
                                               void* value) {
  return entry([&] {
    const ApiLock lock;
    find_pool(pool)->get(attribute, required(value));
  });
}

HIPGRAPH_API hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute,
                                               void* value) {
  return entry([&] {
    const ApiLock lock;
    find_pool(pool)->set(attribute, required(value));
  });
}

// What a device may touch is remembered and told; all memory is one here.
HIPGRAPH_API hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* access,
                                            std::size_t count) {
  return entry([&] {
    const ApiLock lock;
    const MemoryPoolPtr found = find_pool(pool);
    require(access != nullptr, hipErrorInvalidValue);
    const auto devices = static_cast<std::size_t>(DeviceModel::instance().devices);
    require(count <= devices, hipErrorInvalidDevice);
    for (std::size_t i = 0; i < count; ++i) checked_access(access[i], found->device());
    for (std::size_t i = 0; i < count; ++i) {
      found->set_access(access[i].location.id, access[i].flags);
    }
  });
}

HIPGRAPH_API hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t pool,
                                            hipMemLocation* location) {
  return entry([&] {
    const ApiLock lock;
    const MemoryPoolPtr found = find_pool(pool);
    require(flags != nullptr && location != nullptr, hipErrorInvalidValue);
    const bool known = location->type == hipMemLocationTypeDevice && has_device(location->id);
    require(known, hipErrorInvalidValue);
    *flags = found->access(location->id);
  });
}
