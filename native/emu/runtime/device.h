#pragma once
#include <string>

#include "device_properties.h"
#include "hip_abi.h"
#include "runtime/device_model.h"

namespace hipgraph::emu {

/// The device model; settings that cannot be read are told once on stderr and make every call that
/// needs a device fail with NotInitialized.
const DeviceModel& device_model();
/// Fails with InvalidDevice unless `device` is the ordinal of one.
void check_device(int device);

/// The facts of a device as HIP's struct since ROCm 6.
hipDeviceProp_tR0600 properties_of(int device);
/// The same in the layout before ROCm 6.
hipDeviceProp_tR0000 old_properties_of(int device);
/// One fact by the number of a hipDeviceAttribute_t; an unknown number is an invalid value.
int attribute_of(int attribute, int device);
/// "0000:01:00.0"
std::string pci_bus_id_of(int device);

}  // namespace hipgraph::emu
