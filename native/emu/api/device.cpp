#include "runtime/device.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "api/api.h"
#include "runtime/capture_rules.h"
#include "runtime/device_reset.h"
#include "runtime/failures.h"
#include "runtime/stream.h"

using namespace hipgraph::emu;

HIPGRAPH_API hipError_t hipInit(unsigned flags) {
  return entry([&] {
    require(flags == 0, hipErrorInvalidValue);
    device_model();
  });
}

HIPGRAPH_API hipError_t hipRuntimeGetVersion(int* version) {
  return entry([&] { *required(version) = HIP_VERSION; });
}

HIPGRAPH_API hipError_t hipDriverGetVersion(int* version) {
  return entry([&] { *required(version) = HIP_VERSION; });
}

HIPGRAPH_API hipError_t hipGetDeviceCount(int* count) {
  return entry([&] { *required(count) = device_model().devices; });
}

HIPGRAPH_API hipError_t hipSetDevice(int device) {
  return entry([&] {
    check_device(device);
    this_thread().device = device;
  });
}

HIPGRAPH_API hipError_t hipGetDevice(int* device) {
  return entry([&] { *required(device) = this_thread().device; });
}

HIPGRAPH_API hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return entry([&] {
    required(device);
    check_device(ordinal);
    *device = ordinal;
  });
}

HIPGRAPH_API hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* properties, int device) {
  return entry([&] { *required(properties) = properties_of(device); });
}

HIPGRAPH_API hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000* properties, int device) {
  return entry([&] { *required(properties) = old_properties_of(device); });
}

// The unsuffixed symbol is the old layout's: headers since ROCm 6 call R0600 by this name.
HIPGRAPH_API hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000* properties, int device) {
  return entry([&] { *required(properties) = old_properties_of(device); });
}

HIPGRAPH_API hipError_t hipDeviceGetAttribute(int* value, int attribute, int device) {
  return entry([&] { *required(value) = attribute_of(attribute, device); });
}

HIPGRAPH_API hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  return entry([&] {
    check_device(device);
    require(name != nullptr && length > 0, hipErrorInvalidValue);
    std::snprintf(name, static_cast<std::size_t>(length), "%s", device_model().name.c_str());
  });
}

HIPGRAPH_API hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  return entry([&] { *required(uuid) = properties_of(device).uuid; });
}

HIPGRAPH_API hipError_t hipDeviceTotalMem(std::size_t* bytes, hipDevice_t device) {
  return entry([&] { *required(bytes) = properties_of(device).totalGlobalMem; });
}

HIPGRAPH_API hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  return entry([&] {
    const hipDeviceProp_tR0600 properties = properties_of(device);
    *required(major) = properties.major;
    *required(minor) = properties.minor;
  });
}

HIPGRAPH_API hipError_t hipDeviceGetPCIBusId(char* bus_id, int length, int device) {
  return entry([&] {
    check_device(device);
    const std::string text = pci_bus_id_of(device);
    const bool room = length > static_cast<int>(text.size());
    require(bus_id != nullptr && room, hipErrorInvalidValue);
    std::snprintf(bus_id, static_cast<std::size_t>(length), "%s", text.c_str());
  });
}

HIPGRAPH_API hipError_t hipDeviceGetByPCIBusId(int* device, const char* bus_id) {
  return entry([&] {
    require(device != nullptr && bus_id != nullptr, hipErrorInvalidValue);
    int found = 0;
    while (found < device_model().devices && pci_bus_id_of(found) != bus_id) ++found;
    require(found < device_model().devices, hipErrorInvalidValue);
    *device = found;
  });
}

HIPGRAPH_API hipError_t hipDeviceSynchronize() {
  return entry([call = __func__] {
    const auto work = [&] {
      const ApiLock lock;
      permit(call);
      return work_of_device(this_thread().device);
    }();
    return Failures::instance().wait(work);
  });
}

HIPGRAPH_API hipError_t hipDeviceReset() {
  return entry([] {
    device_model();
    reset_device(this_thread().device);
  });
}
