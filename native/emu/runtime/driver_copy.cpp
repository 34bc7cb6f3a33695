#include "runtime/driver_copy.h"

#include "entry.h"

namespace hipgraph::emu {
namespace {

using abi::require;

/// One side of a driver call's copy.
struct DriverSide {
  hipMemoryType type;
  void* host;
  void* device;
  std::size_t pitch, height;
  hipPos position;

  bool on_host() const { return type == hipMemoryTypeHost; }
  bool unified() const { return type == hipMemoryTypeUnified || type == hipMemoryTypeManaged; }
};

hipPitchedPtr pitched(const DriverSide& side, const hipExtent& extent) {
  require(side.type != hipMemoryTypeArray, hipErrorNotSupported);
  const bool linear = side.on_host() || side.unified() || side.type == hipMemoryTypeDevice;
  require(linear, hipErrorInvalidValue);
  const std::size_t row = extent.width + side.position.x;
  const std::size_t pitch = side.pitch == 0 ? row : side.pitch;
  require(pitch >= extent.width, hipErrorInvalidPitchValue);
  const std::size_t rows = side.height == 0 ? extent.height + side.position.y : side.height;
  return {side.on_host() ? side.host : side.device, pitch, extent.width, rows};
}

hipMemcpyKind kind_between(const DriverSide& from, const DriverSide& to) {
  if (from.unified() || to.unified()) return hipMemcpyDefault;
  if (from.on_host()) return to.on_host() ? hipMemcpyHostToHost : hipMemcpyHostToDevice;
  return to.on_host() ? hipMemcpyDeviceToHost : hipMemcpyDeviceToDevice;
}

hipMemcpy3DParms region_between(const DriverSide& from, const DriverSide& to,
                                const hipExtent& extent) {
  hipMemcpy3DParms parms{};
  parms.extent = extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return parms;
  parms.srcPtr = pitched(from, extent);
  parms.srcPos = from.position;
  parms.dstPtr = pitched(to, extent);
  parms.dstPos = to.position;
  parms.kind = kind_between(from, to);
  return parms;
}

hipMemoryType source_of(hipMemcpyKind kind) {
  if (kind == hipMemcpyDefault) return hipMemoryTypeUnified;
  const bool host = kind == hipMemcpyHostToHost || kind == hipMemcpyHostToDevice;
  return host ? hipMemoryTypeHost : hipMemoryTypeDevice;
}

hipMemoryType target_of(hipMemcpyKind kind) {
  if (kind == hipMemcpyDefault) return hipMemoryTypeUnified;
  const bool host = kind == hipMemcpyHostToHost || kind == hipMemcpyDeviceToHost;
  return host ? hipMemoryTypeHost : hipMemoryTypeDevice;
}

}  // namespace

hipMemcpy3DParms region_of(const hip_Memcpy2D& copy) {
  return region_between({copy.srcMemoryType,
                         const_cast<void*>(copy.srcHost),
                         copy.srcDevice,
                         copy.srcPitch,
                         0,
                         {copy.srcXInBytes, copy.srcY, 0}},
                        {copy.dstMemoryType,
                         copy.dstHost,
                         copy.dstDevice,
                         copy.dstPitch,
                         0,
                         {copy.dstXInBytes, copy.dstY, 0}},
                        {copy.WidthInBytes, copy.Height, 1});
}

hipMemcpy3DParms region_of(const HIP_MEMCPY3D& copy) {
  return region_between({copy.srcMemoryType,
                         const_cast<void*>(copy.srcHost),
                         copy.srcDevice,
                         copy.srcPitch,
                         copy.srcHeight,
                         {copy.srcXInBytes, copy.srcY, copy.srcZ}},
                        {copy.dstMemoryType,
                         copy.dstHost,
                         copy.dstDevice,
                         copy.dstPitch,
                         copy.dstHeight,
                         {copy.dstXInBytes, copy.dstY, copy.dstZ}},
                        {copy.WidthInBytes, copy.Height, copy.Depth});
}

HIP_MEMCPY3D driver_copy_of(const hipMemcpy3DParms& parms) {
  HIP_MEMCPY3D copy{};
  copy.srcMemoryType = source_of(parms.kind);
  copy.dstMemoryType = target_of(parms.kind);
  const bool from_host = copy.srcMemoryType == hipMemoryTypeHost;
  const bool to_host = copy.dstMemoryType == hipMemoryTypeHost;
  copy.srcHost = from_host ? parms.srcPtr.ptr : nullptr;
  copy.srcDevice = from_host ? nullptr : parms.srcPtr.ptr;
  copy.dstHost = to_host ? parms.dstPtr.ptr : nullptr;
  copy.dstDevice = to_host ? nullptr : parms.dstPtr.ptr;
  copy.srcXInBytes = parms.srcPos.x;
  copy.srcY = parms.srcPos.y;
  copy.srcZ = parms.srcPos.z;
  copy.dstXInBytes = parms.dstPos.x;
  copy.dstY = parms.dstPos.y;
  copy.dstZ = parms.dstPos.z;
  copy.srcPitch = parms.srcPtr.pitch;
  copy.srcHeight = parms.srcPtr.ysize;
  copy.dstPitch = parms.dstPtr.pitch;
  copy.dstHeight = parms.dstPtr.ysize;
  copy.WidthInBytes = parms.extent.width;
  copy.Height = parms.extent.height;
  copy.Depth = parms.extent.depth;
  return copy;
}

}  // namespace hipgraph::emu
