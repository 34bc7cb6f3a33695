#include "api/api.h"
#include "memory_types.h"
#include "runtime/address_space.h"
#include "runtime/capture_rules.h"

using namespace hipgraph::emu;

namespace {

/// Rows start at multiples of this, as device properties say of images.
constexpr std::size_t row_alignment = 256;

hipPitchedPtr allocate_rows(const hipExtent& extent) {
  const std::size_t pitch = (extent.width + row_alignment - 1) / row_alignment * row_alignment;
  std::size_t bytes = 0;
  const bool too_many = pitch < extent.width ||
                        __builtin_mul_overflow(pitch, extent.height, &bytes) ||
                        __builtin_mul_overflow(bytes, extent.depth, &bytes);
  require(!too_many, hipErrorOutOfMemory);
  const auto allocation =
      AddressSpace::instance().allocate(bytes, AllocationKind::Device, this_thread().device);
  require(allocation.has_value(), hipErrorOutOfMemory);
  return {reinterpret_cast<void*>(allocation->base), pitch, extent.width, extent.height};
}

void permit_rows(const char* call) {
  const ApiLock lock;
  permit(call);
}

}  // namespace

HIPGRAPH_API hipError_t hipMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                                       std::size_t height) {
  return entry([&, call = __func__] {
    clear(pointer);
    permit_rows(call);
    require(pointer != nullptr && pitch != nullptr, hipErrorInvalidValue);
    if (width == 0 || height == 0) return;
    const hipPitchedPtr rows = allocate_rows({width, height, 1});
    *pointer = rows.ptr;
    *pitch = rows.pitch;
  });
}

HIPGRAPH_API hipError_t hipMemAllocPitch(hipDeviceptr_t* pointer, std::size_t* pitch,
                                         std::size_t width, std::size_t height,
                                         unsigned element_size) {
  return entry([&, call = __func__] {
    clear(pointer);
    permit_rows(call);
    require(pointer != nullptr && pitch != nullptr, hipErrorInvalidValue);
    const bool known = element_size == 4 || element_size == 8 || element_size == 16;
    require(known && width != 0 && height != 0, hipErrorInvalidValue);
    const hipPitchedPtr rows = allocate_rows({width, height, 1});
    *pointer = rows.ptr;
    *pitch = rows.pitch;
  });
}

HIPGRAPH_API hipError_t hipMalloc3D(hipPitchedPtr* pointer, hipExtent extent) {
  return entry([&, call = __func__] {
    permit_rows(call);
    *required(pointer) = {nullptr, 0, extent.width, extent.height};
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return;
    *pointer = allocate_rows(extent);
  });
}
