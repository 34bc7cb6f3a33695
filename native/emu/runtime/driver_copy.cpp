#include "runtime/driver_copy.h"

#include "entry.h"

namespace hipgraph::emu {
namespace {

using abi::require;

/// The address that a side's kind of memory selects.
void* address_of(hipMemoryType type, const void* host, void* device) {
  require(type != hipMemoryTypeArray, hipErrorNotSupported);
  if (type == hipMemoryTypeHost) return const_cast<void*>(host);
  const bool known = type == hipMemoryTypeDevice || type == hipMemoryTypeUnified;
  require(known, hipErrorInvalidValue);
  return device;
}

hipMemcpyKind kind_of(hipMemoryType to, hipMemoryType from) {
  if (to == hipMemoryTypeUnified || from == hipMemoryTypeUnified) return hipMemcpyDefault;
  if (from == hipMemoryTypeHost) {
    return to == hipMemoryTypeHost ? hipMemcpyHostToHost : hipMemcpyHostToDevice;
  }
  return to == hipMemoryTypeHost ? hipMemcpyDeviceToHost : hipMemcpyDeviceToDevice;
}

std::size_t or_else(std::size_t given, std::size_t otherwise) {
  return given != 0 ? given : otherwise;
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

hipMemcpy3DParms region_of(const HIP_MEMCPY3D& copy) {
  hipMemcpy3DParms parms{};
  void* from = address_of(copy.srcMemoryType, copy.srcHost, copy.srcDevice);
  void* to = address_of(copy.dstMemoryType, copy.dstHost, copy.dstDevice);
  parms.srcPos = {copy.srcXInBytes, copy.srcY, copy.srcZ};
  parms.dstPos = {copy.dstXInBytes, copy.dstY, copy.dstZ};
  parms.extent = {copy.WidthInBytes, copy.Height, copy.Depth};
  parms.srcPtr = {from, or_else(copy.srcPitch, copy.srcXInBytes + copy.WidthInBytes), 0,
                  or_else(copy.srcHeight, copy.srcY + copy.Height)};
  parms.dstPtr = {to, or_else(copy.dstPitch, copy.dstXInBytes + copy.WidthInBytes), 0,
                  or_else(copy.dstHeight, copy.dstY + copy.Height)};
  parms.kind = kind_of(copy.dstMemoryType, copy.srcMemoryType);
  return parms;
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
