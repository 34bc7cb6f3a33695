#include "api/memory_region.h"

#include "memory_types.h"
#include "runtime/capture.h"
#include "runtime/capture_rules.h"
#include "runtime/device_model.h"
#include "runtime/driver_copy.h"
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

/// A driver call's copy; rows wider than the pitch are an error of their own.
hipMemcpy3DParms checked_region(const HIP_MEMCPY3D* copy) {
  const hipMemcpy3DParms parms = region_of(*required(copy));
  const std::size_t width = parms.extent.width;
  const bool rows_fit = width <= parms.srcPtr.pitch && width <= parms.dstPtr.pitch;
  require(rows_fit || nothing_to_copy(parms), hipErrorInvalidPitchValue);
  return parms;
}

hipMemcpy3DParms checked_region(const hip_Memcpy2D* rows) {
  const hip_Memcpy2D& r = *required(rows);
  HIP_MEMCPY3D box{};
  box.srcXInBytes = r.srcXInBytes;
  box.srcY = r.srcY;
  box.srcMemoryType = r.srcMemoryType;
  box.srcHost = r.srcHost;
  box.srcDevice = r.srcDevice;
  box.srcPitch = r.srcPitch;
  box.dstXInBytes = r.dstXInBytes;
  box.dstY = r.dstY;
  box.dstMemoryType = r.dstMemoryType;
  box.dstHost = r.dstHost;
  box.dstDevice = r.dstDevice;
  box.dstPitch = r.dstPitch;
  box.WidthInBytes = r.WidthInBytes;
  box.Height = r.Height;
  box.Depth = 1;
  return checked_region(&box);
}

hipMemcpy3DParms checked_region(const hipMemcpy3DPeerParms* copy) {
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
    return copy_region_blocking(call, [=] { return checked_region(parms); });
  });
}

HIPGRAPH_API hipError_t hipMemcpy3DPeerAsync(const hipMemcpy3DPeerParms* parms,
                                             hipStream_t stream) {
  return entry([&, call = __func__] {
    copy_region_on_stream(call, [=] { return checked_region(parms); }, stream);
  });
}

HIPGRAPH_API hipError_t hipMemcpyParam2D(const hip_Memcpy2D* copy) {
  return entry([&, call = __func__] {
    return copy_region_blocking(call, [=] { return checked_region(copy); });
  });
}

HIPGRAPH_API hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* copy, hipStream_t stream) {
  return entry([&, call = __func__] {
    copy_region_on_stream(call, [=] { return checked_region(copy); }, stream);
  });
}

HIPGRAPH_API hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* copy) {
  return entry([&, call = __func__] {
    return copy_region_blocking(call, [=] { return checked_region(copy); });
  });
}

HIPGRAPH_API hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D* copy) {
  return entry([&, call = __func__] {
    return copy_region_blocking(call, [=] { return checked_region(copy); });
  });
}

HIPGRAPH_API hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D* copy, hipStream_t stream) {
  return entry([&, call = __func__] {
    copy_region_on_stream(call, [=] { return checked_region(copy); }, stream);
  });
}
