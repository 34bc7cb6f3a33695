#include <algorithm>
#include <array>
#include <climits>

#include "entry.h"
#include "runtime/device.h"

namespace hipgraph::emu {
namespace {

using Facts = hipDeviceProp_tR0600;

struct AttributeRow {
  int attribute;
  int (*value)(const Facts& facts);
};

int to_int(std::size_t value) { return static_cast<int>(std::min<std::size_t>(value, INT_MAX)); }

int xcc_count() { return static_cast<int>(facts(device_model().target).xcc_count); }

/// Attributes by their number in hipDeviceAttribute_t, ascending.
#define FACT(number, expression)                                                          \
  AttributeRow {                                                                          \
    number, []([[maybe_unused]] const Facts& it) { return static_cast<int>(expression); } \
  }
constexpr std::array device_attribute_rows{
    FACT(0, it.ECCEnabled),
    FACT(1, it.accessPolicyMaxWindowSize),
    FACT(2, it.asyncEngineCount),
    FACT(3, it.canMapHostMemory),
    FACT(4, it.canUseHostPointerForRegisteredMem),
    FACT(5, it.clockRate),
    FACT(6, it.computeMode),
    FACT(7, it.computePreemptionSupported),
    FACT(8, it.concurrentKernels),
    FACT(9, it.concurrentManagedAccess),
    FACT(10, it.cooperativeLaunch),
    FACT(11, it.cooperativeMultiDeviceLaunch),
    FACT(12, it.deviceOverlap),
    FACT(13, it.directManagedMemAccessFromHost),
    FACT(14, it.globalL1CacheSupported),
    FACT(15, it.hostNativeAtomicSupported),
    FACT(16, it.integrated),
    FACT(17, it.isMultiGpuBoard),
    FACT(18, it.kernelExecTimeoutEnabled),
    FACT(19, it.l2CacheSize),
    FACT(20, it.localL1CacheSupported),
    FACT(23, it.major),
    FACT(24, it.managedMemory),
    FACT(25, it.maxBlocksPerMultiProcessor),
    FACT(26, it.maxThreadsDim[0]),
    FACT(27, it.maxThreadsDim[1]),
    FACT(28, it.maxThreadsDim[2]),
    FACT(29, it.maxGridSize[0]),
    FACT(30, it.maxGridSize[1]),
    FACT(31, it.maxGridSize[2]),
    FACT(55, it.maxThreadsDim[0]),
    FACT(56, it.maxThreadsPerBlock),
    FACT(57, it.maxThreadsPerMultiProcessor),
    FACT(58, to_int(it.memPitch)),
    FACT(59, it.memoryBusWidth),
    FACT(60, it.memoryClockRate),
    FACT(61, it.minor),
    FACT(62, it.multiGpuBoardGroupID),
    FACT(63, it.multiProcessorCount),
    FACT(65, it.pageableMemoryAccess),
    FACT(66, it.pageableMemoryAccessUsesHostPageTables),
    FACT(67, it.pciBusID),
    FACT(68, it.pciDeviceID),
    FACT(69, it.pciDomainID),
    FACT(70, it.persistingL2CacheMaxSize),
    FACT(71, it.regsPerBlock),
    FACT(72, it.regsPerMultiprocessor),
    FACT(73, to_int(it.reservedSharedMemPerBlock)),
    FACT(74, to_int(it.sharedMemPerBlock)),
    FACT(75, to_int(it.sharedMemPerBlockOptin)),
    FACT(76, to_int(it.sharedMemPerMultiprocessor)),
    FACT(77, it.singleToDoublePrecisionPerfRatio),
    FACT(78, it.streamPrioritiesSupported),
    FACT(79, to_int(it.surfaceAlignment)),
    FACT(80, it.tccDriver),
    FACT(81, to_int(it.textureAlignment)),
    FACT(82, to_int(it.texturePitchAlignment)),
    FACT(83, to_int(it.totalConstMem)),
    FACT(84, to_int(it.totalGlobalMem)),
    FACT(85, it.unifiedAddressing),
    FACT(87, it.warpSize),
    FACT(88, it.memoryPoolsSupported),
    FACT(90, it.hostRegisterSupported),
    FACT(10000, it.clockInstructionRate),
    FACT(10002, to_int(it.maxSharedMemoryPerMultiProcessor)),
    FACT(10011, it.isLargeBar),
    FACT(10012, it.asicRevision),
    FACT(10015, it.multiProcessorCount),
    FACT(10016, 1),
    FACT(10017, 100'000),
    FACT(10018, xcc_count()),
    FACT(10019, 512),
};
#undef FACT
static_assert(std::ranges::is_sorted(device_attribute_rows, {}, &AttributeRow::attribute));

/// What this device has none of: textures and surfaces, LUIDs, virtual memory management,
/// exportable handles, HDP flush registers, multi-device cooperation, stream waits on memory.
constexpr std::array absent{
    21, 22, 32, 33,    34,    35,    36,    37,    38,    39,    40,    41,    42,    43,
    44, 45, 46, 47,    48,    49,    50,    51,    52,    53,    54,    89,    91,    92,
    93, 94, 95, 10005, 10006, 10007, 10008, 10009, 10010, 10013, 10014, 10020, 10021, 10022};
static_assert(std::ranges::is_sorted(absent));

}  // namespace

int attribute_of(int attribute, int device) {
  const Facts facts_of_device = properties_of(device);
  const auto* row =
      std::ranges::lower_bound(device_attribute_rows, attribute, {}, &AttributeRow::attribute);
  if (row != device_attribute_rows.end() && row->attribute == attribute)
    return row->value(facts_of_device);
  abi::require(std::ranges::binary_search(absent, attribute), hipErrorInvalidValue);
  return 0;
}

}  // namespace hipgraph::emu
