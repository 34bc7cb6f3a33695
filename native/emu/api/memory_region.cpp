#include "api/memory_region.h"

#include "memory_types.h"
#include "runtime/capture.h"
#include "runtime/capture_rules.h"
#include "runtime/device_model.h"
#include "runtime/failures.h"
#include "runtime/memory_checks.h"
#include "runtime/node_commands.h"

using namespace hipgraph::emu;

namespace hipgraph::emu {
namespace {

bool nothing_to_copy(const hipMemcpy3DParms& parms) {
  const hipExtent& extent = parms.extent;
  return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

/// One side of a driver call's copy.
struct DriverSide {
  hipMemoryType type;
  void* host;
  void* device;
  hipArray_t array;
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
  if (nothing_to_copy(parms)) return parms;
  parms.srcPtr = pitched(from, extent);
  parms.srcPos = from.position;
  parms.dstPtr = pitched(to, extent);
  parms.dstPos = to.position;
  parms.kind = kind_between(from, to);
  return parms;
}

hipMemcpy3DParms region_of(const hip_Memcpy2D* copy) {
  const hip_Memcpy2D& c = *required(copy);
  return region_between({c.srcMemoryType,
                         const_cast<void*>(c.srcHost),
                         c.srcDevice,
                         c.srcArray,
                         c.srcPitch,
                         0,
                         {c.srcXInBytes, c.srcY, 0}},
                        {c.dstMemoryType,
                         c.dstHost,
                         c.dstDevice,
                         c.dstArray,
                         c.dstPitch,
                         0,
                         {c.dstXInBytes, c.dstY, 0}},
                        {c.WidthInBytes, c.Height, 1});
}

hipMemcpy3DParms region_of(const HIP_MEMCPY3D* copy) {
  const HIP_MEMCPY3D& c = *required(copy);
  return region_between({c.srcMemoryType,
                         const_cast<void*>(c.srcHost),
                         c.srcDevice,
                         c.srcArray,
                         c.srcPitch,
                         c.srcHeight,
                         {c.srcXInBytes, c.srcY, c.srcZ}},
                        {c.dstMemoryType,
                         c.dstHost,
                         c.dstDevice,
                         c.dstArray,
                         c.dstPitch,
                         c.dstHeight,
                         {c.dstXInBytes, c.dstY, c.dstZ}},
                        {c.WidthInBytes, c.Height, c.Depth});
}

hipMemcpy3DParms region_of(const hipMemcpy3DPeerParms* copy) {
  const hipMemcpy3DPeerParms& c = *required(copy);
  const int devices = DeviceModel::instance().devices;
  const bool known =
      c.srcDevice >= 0 && c.srcDevice < devices && c.dstDevice >= 0 && c.dstDevice < devices;
  require(known, hipErrorInvalidDevice);
  return {c.srcArray, c.srcPos, c.srcPtr, c.dstArray,
          c.dstPos,   c.dstPtr, c.extent, hipMemcpyDefault};
}

}  // namespace

hipError_t copy_region_blocking(const char* call, const MakeRegion& make) {
  CommandPtr command;
  {
    const ApiLock lock;
    permit(call);
    const hipMemcpy3DParms parms = make();
    if (nothing_to_copy(parms)) return hipSuccess;
    const MemcpyWork work = check_copy_region(parms);
    const StreamPtr stream = find_stream(nullptr);
    command = make_command(work, stream->device, {});
    enqueue(*stream, command);
  }
  return Failures::instance().wait({&command, 1});
}

void copy_region_on_stream(const char* call, const MakeRegion& make, hipStream_t stream) {
  const ApiLock lock;
  const StreamPtr found = find_stream(stream);
  const Admission admission = permit(call, *found);
  const hipMemcpy3DParms parms = make();
  if (nothing_to_copy(parms)) return;
  const MemcpyWork work = check_copy_region(parms);
  if (admission == Admission::Record) {
    record(*found, work);
  } else {
    enqueue(*found, make_command(work, found->device, {}));
  }
}

}  // namespace hipgraph::emu

HIPGRAPH_API hipError_t hipMemcpy3D(const hipMemcpy3DParms* parms) {
  return entry([&, call = __func__] {
    return copy_region_blocking(call, [=] { return *required(parms); });
  });
}

HIPGRAPH_API hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* parms, hipStream_t stream) {
  return entry([&, call = __func__] {
    copy_region_on_stream(call, [=] { return *required(parms); }, stream);
  });
}

HIPGRAPH_API hipError_t hipMemcpy3DPeer(const hipMemcpy3DPeerParms* parms) {
  return entry([&, call = __func__] {
    return copy_region_blocking(call, [=] { return region_of(parms); });
  });
}

HIPGRAPH_API hipError_t hipMemcpy3DPeerAsync(const hipMemcpy3DPeerParms* parms,
                                             hipStream_t stream) {
  return entry([&, call = __func__] {
    copy_region_on_stream(call, [=] { return region_of(parms); }, stream);
  });
}

HIPGRAPH_API hipError_t hipMemcpyParam2D(const hip_Memcpy2D* copy) {
  return entry(
      [&, call = __func__] { return copy_region_blocking(call, [=] { return region_of(copy); }); });
}

HIPGRAPH_API hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* copy, hipStream_t stream) {
  return entry([&, call = __func__] {
    copy_region_on_stream(call, [=] { return region_of(copy); }, stream);
  });
}

HIPGRAPH_API hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* copy) {
  return entry(
      [&, call = __func__] { return copy_region_blocking(call, [=] { return region_of(copy); }); });
}

HIPGRAPH_API hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D* copy) {
  return entry(
      [&, call = __func__] { return copy_region_blocking(call, [=] { return region_of(copy); }); });
}

HIPGRAPH_API hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D* copy, hipStream_t stream) {
  return entry([&, call = __func__] {
    copy_region_on_stream(call, [=] { return region_of(copy); }, stream);
  });
}
