#include "runtime/device.h"

#include <cstdio>
#include <cstring>

#include "entry.h"

namespace hipgraph::emu {
namespace {

/// Clocks and cache of the product that a target is modelled on; nothing is timed with them.
struct ProductFacts {
  Target target;
  int minor;  ///< of the compute capability; major is 9
  int clock_khz;
  int memory_clock_khz;
  int memory_bus_bits;
  int l2_bytes;
};

constexpr ProductFacts products[] = {
    {Target::gfx90a, 0, 1'700'000, 1'600'000, 4096, 8 << 20},
    {Target::gfx942, 4, 2'100'000, 1'300'000, 8192, 4 << 20},
    {Target::gfx950, 5, 2'400'000, 2'000'000, 8192, 4 << 20},
};

const ProductFacts& product() {
  const ProductFacts* found = products;
  while (found->target != device_model().target) ++found;
  return *found;
}

constexpr int max_items_per_compute_unit =
    static_cast<int>(wave_size * waves_per_simd * simds_per_compute_unit);

template <std::size_t size>
void copy_text(char (&to)[size], const std::string& text) {
  std::snprintf(to, size, "%s", text.c_str());
}

void fill_limits(hipDeviceProp_tR0600& made) {
  const int lds = static_cast<int>(facts(device_model().target).lds_bytes);
  made.totalGlobalMem = device_model().memory_bytes;
  made.sharedMemPerBlock = static_cast<std::size_t>(lds);
  made.sharedMemPerMultiprocessor = static_cast<std::size_t>(lds);
  made.maxSharedMemoryPerMultiProcessor = static_cast<std::size_t>(lds);
  made.sharedMemPerBlockOptin = static_cast<std::size_t>(lds);
  made.regsPerBlock = 65536;
  made.regsPerMultiprocessor = 65536;
  made.warpSize = static_cast<int>(wave_size);
  made.memPitch = 0x7fffffff;
  made.maxThreadsPerBlock = 1024;
  for (int& size : made.maxThreadsDim) size = 1024;
  made.maxGridSize[0] = 0x7fffffff;
  made.maxGridSize[1] = 65536;
  made.maxGridSize[2] = 65536;
  made.totalConstMem = 0x7fffffff;
  made.maxThreadsPerMultiProcessor = max_items_per_compute_unit;
  made.maxBlocksPerMultiProcessor = static_cast<int>(max_workgroups_per_compute_unit);
  made.textureAlignment = 256;
  made.texturePitchAlignment = 256;
  made.surfaceAlignment = 256;
}

void fill_abilities(hipDeviceProp_tR0600& made) {
  // Global, LDS and float atomics, doubles, votes, shuffles, fences, 3-D grids: all but the funnel
  // shift, surface functions and dynamic parallelism.
  made.arch.bits = 0x97ff;
  made.concurrentKernels = 1;
  made.ECCEnabled = 1;
  made.canMapHostMemory = 1;
  made.asyncEngineCount = 1;
  made.unifiedAddressing = 1;
  made.managedMemory = 1;
  made.concurrentManagedAccess = 1;
  made.hostNativeAtomicSupported = 1;
  made.hostRegisterSupported = 1;
  made.canUseHostPointerForRegisteredMem = 1;
  made.streamPrioritiesSupported = 1;
  made.isLargeBar = 1;
}

}  // namespace

const DeviceModel& device_model() {
  try {
    return DeviceModel::instance();
  } catch (const ModelError& error) {
    static const bool told = std::fprintf(stderr, "hipgraph emu: %s\n", error.what()) >= 0;
    (void)told;
    throw abi::Failure{hipErrorNotInitialized};
  }
}

void check_device(int device) {
  const bool exists = device >= 0 && device < device_model().devices;
  abi::require(exists, hipErrorInvalidDevice);
}

std::string pci_bus_id_of(int device) {
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02x:00.0", static_cast<unsigned>(device + 1) & 0xff);
  return text;
}

hipDeviceProp_tR0600 properties_of(int device) {
  check_device(device);
  hipDeviceProp_tR0600 made{};
  const DeviceModel& model = device_model();
  copy_text(made.name, model.name);
  copy_text(made.gcnArchName, model.target_id);
  std::snprintf(made.uuid.bytes, sizeof made.uuid.bytes, "emulated-%u",
                static_cast<unsigned>(device) & 0xff);
  made.major = 9;
  made.minor = product().minor;
  made.multiProcessorCount = static_cast<int>(model.compute_units);
  made.clockRate = product().clock_khz;
  made.clockInstructionRate = 100'000;
  made.memoryClockRate = product().memory_clock_khz;
  made.memoryBusWidth = product().memory_bus_bits;
  made.l2CacheSize = product().l2_bytes;
  made.pciBusID = device + 1;
  fill_limits(made);
  fill_abilities(made);
  return made;
}

hipDeviceProp_tR0000 old_properties_of(int device) {
  const hipDeviceProp_tR0600 now = properties_of(device);
  hipDeviceProp_tR0000 old{};
  copy_text(old.name, now.name);
  copy_text(old.gcnArchName, now.gcnArchName);
  old.totalGlobalMem = now.totalGlobalMem;
  old.sharedMemPerBlock = now.sharedMemPerBlock;
  old.regsPerBlock = now.regsPerBlock;
  old.warpSize = now.warpSize;
  old.maxThreadsPerBlock = now.maxThreadsPerBlock;
  std::memcpy(old.maxThreadsDim, now.maxThreadsDim, sizeof old.maxThreadsDim);
  std::memcpy(old.maxGridSize, now.maxGridSize, sizeof old.maxGridSize);
  old.clockRate = now.clockRate;
  old.memoryClockRate = now.memoryClockRate;
  old.memoryBusWidth = now.memoryBusWidth;
  old.totalConstMem = now.totalConstMem;
  old.major = now.major;
  old.minor = now.minor;
  old.multiProcessorCount = now.multiProcessorCount;
  old.l2CacheSize = now.l2CacheSize;
  old.maxThreadsPerMultiProcessor = now.maxThreadsPerMultiProcessor;
  old.clockInstructionRate = now.clockInstructionRate;
  old.arch = now.arch;
  old.concurrentKernels = now.concurrentKernels;
  old.pciBusID = now.pciBusID;
  old.maxSharedMemoryPerMultiProcessor = now.maxSharedMemoryPerMultiProcessor;
  old.canMapHostMemory = now.canMapHostMemory;
  old.memPitch = now.memPitch;
  old.textureAlignment = now.textureAlignment;
  old.texturePitchAlignment = now.texturePitchAlignment;
  old.ECCEnabled = now.ECCEnabled;
  old.isLargeBar = now.isLargeBar;
  old.managedMemory = now.managedMemory;
  old.concurrentManagedAccess = now.concurrentManagedAccess;
  return old;
}

}  // namespace hipgraph::emu
