#pragma once
#include <cstddef>
#include <cstdint>

#include "error_table.h"

/// The HIP C ABI as our own declarations: values and layouts were measured from the Python binding
/// that callers use; the static_asserts are those measurements.

/// Marks an exported C function.
#define HIPGRAPH_API extern "C" __attribute__((visibility("default")))

/// major * 10^7 + minor * 10^5 + patch of the HIP release whose behaviour is followed.
constexpr int HIP_VERSION = 71526333;

enum hipError_t : int {
#define HIPGRAPH_ENUMERATOR(number, name, sentence) name = number,
  HIPGRAPH_ERROR_ROWS(HIPGRAPH_ENUMERATOR)
#undef HIPGRAPH_ENUMERATOR
};

using hipStream_t = struct ihipStream_t*;
using hipEvent_t = struct ihipEvent_t*;
using hipModule_t = struct ihipModule_t*;
using hipFunction_t = struct ihipModuleSymbol_t*;
using hipGraph_t = struct ihipGraph*;
using hipGraphNode_t = struct hipGraphNode*;
using hipGraphExec_t = struct hipGraphExec*;
using hipArray_t = struct hipArray*;
using hipDevice_t = int;
using hipDeviceptr_t = void*;
using hipHostFn_t = void (*)(void* user_data);

constexpr unsigned hipStreamDefault = 0, hipStreamNonBlocking = 1;
constexpr unsigned hipEventDefault = 0, hipEventBlockingSync = 1, hipEventDisableTiming = 2,
                   hipEventInterprocess = 4, hipEventDisableSystemFence = 0x20000000,
                   hipEventReleaseToDevice = 0x40000000, hipEventReleaseToSystem = 0x80000000;
constexpr unsigned hipEventRecordDefault = 0, hipEventRecordExternal = 1;
constexpr unsigned hipEventWaitDefault = 0, hipEventWaitExternal = 1;
constexpr unsigned hipHostMallocPortable = 1, hipHostMallocMapped = 2,
                   hipHostMallocWriteCombined = 4, hipHostMallocUncached = 0x10000000,
                   hipHostMallocNumaUser = 0x20000000, hipHostMallocCoherent = 0x40000000,
                   hipHostMallocNonCoherent = 0x80000000;
constexpr unsigned hipHostRegisterPortable = 1, hipHostRegisterMapped = 2,
                   hipHostRegisterIoMemory = 4, hipHostRegisterReadOnly = 8;
constexpr unsigned hipDeviceMallocDefault = 0, hipDeviceMallocFinegrained = 1,
                   hipMallocSignalMemory = 2, hipDeviceMallocUncached = 3,
                   hipDeviceMallocContiguous = 4;
constexpr unsigned hipIpcMemLazyEnablePeerAccess = 1;
constexpr unsigned hipMemAttachGlobal = 1, hipMemAttachHost = 2;
constexpr unsigned hipGraphInstantiateFlagAutoFreeOnLaunch = 1,
                   hipGraphInstantiateFlagUseNodePriority = 8;
constexpr unsigned hipStreamAddCaptureDependencies = 0, hipStreamSetCaptureDependencies = 1;
constexpr int hipInvalidDeviceId = -2;

/// Tags of the `extra` form of kernel arguments; they travel as pointers.
constexpr std::uintptr_t HIP_LAUNCH_PARAM_BUFFER_POINTER = 1, HIP_LAUNCH_PARAM_BUFFER_SIZE = 2,
                         HIP_LAUNCH_PARAM_END = 3;

enum hipStreamCaptureMode : int {
  hipStreamCaptureModeGlobal = 0,
  hipStreamCaptureModeThreadLocal = 1,
  hipStreamCaptureModeRelaxed = 2,
};

enum hipStreamCaptureStatus : int {
  hipStreamCaptureStatusNone = 0,
  hipStreamCaptureStatusActive = 1,
  hipStreamCaptureStatusInvalidated = 2,
};

enum hipMemcpyKind : int {
  hipMemcpyHostToHost = 0,
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
  hipMemcpyDefault = 4,
  hipMemcpyDeviceToDeviceNoCU = 1024,
};

enum hipMemoryType : int {
  hipMemoryTypeUnregistered = 0,
  hipMemoryTypeHost = 1,
  hipMemoryTypeDevice = 2,
  hipMemoryTypeManaged = 3,
  hipMemoryTypeArray = 10,
  hipMemoryTypeUnified = 11,
};

enum hipGraphNodeType : int {
  hipGraphNodeTypeKernel = 0,
  hipGraphNodeTypeMemcpy = 1,
  hipGraphNodeTypeMemset = 2,
  hipGraphNodeTypeHost = 3,
  hipGraphNodeTypeGraph = 4,
  hipGraphNodeTypeEmpty = 5,
  hipGraphNodeTypeWaitEvent = 6,
  hipGraphNodeTypeEventRecord = 7,
  hipGraphNodeTypeExtSemaphoreSignal = 8,
  hipGraphNodeTypeExtSemaphoreWait = 9,
  hipGraphNodeTypeMemAlloc = 10,
  hipGraphNodeTypeMemFree = 11,
  hipGraphNodeTypeBatchMemOp = 14,
};

enum hipFunction_attribute : int {
  HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
  HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  HIP_FUNC_ATTRIBUTE_NUM_REGS = 4,
  HIP_FUNC_ATTRIBUTE_PTX_VERSION = 5,
  HIP_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
  HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
  HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
};

using hipStreamCallback_t = void (*)(hipStream_t stream, hipError_t status, void* user_data);

enum hipStreamBatchMemOpType : int {
  hipStreamMemOpWaitValue32 = 1,
  hipStreamMemOpWriteValue32 = 2,
  hipStreamMemOpFlushRemoteWrites = 3,
  hipStreamMemOpWaitValue64 = 4,
  hipStreamMemOpWriteValue64 = 5,
  hipStreamMemOpBarrier = 6,
};

/// One operation of a batch. Waits and writes have one layout; 32-bit values use the low half.
union hipStreamBatchMemOpParams {
  hipStreamBatchMemOpType operation;
  struct {
    hipStreamBatchMemOpType operation;
    void* address;
    std::uint64_t value;
    unsigned flags;
    void* alias;
  } valueOperation;
  std::uint64_t pad[6];
};
static_assert(sizeof(hipStreamBatchMemOpParams) == 48);

enum hipAccessProperty : int {
  hipAccessPropertyNormal = 0,
  hipAccessPropertyStreaming = 1,
  hipAccessPropertyPersisting = 2,
};

struct hipAccessPolicyWindow {
  void* base_ptr;
  hipAccessProperty hitProp;
  float hitRatio;
  hipAccessProperty missProp;
  std::size_t num_bytes;
};

/// The value of an attribute of a launch or stream; what the bytes mean depends on the attribute.
union hipLaunchAttributeValue {
  char pad[64];
  hipAccessPolicyWindow accessPolicyWindow;
  int cooperative;
  int priority;
};
static_assert(sizeof(hipLaunchAttributeValue) == 64);

struct dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
};

struct hipKernelNodeParams {
  dim3 blockDim;
  void** extra;
  void* func;
  dim3 gridDim;
  void** kernelParams;
  unsigned sharedMemBytes;
};
static_assert(sizeof(hipKernelNodeParams) == 64 && offsetof(hipKernelNodeParams, extra) == 16 &&
              offsetof(hipKernelNodeParams, func) == 24 &&
              offsetof(hipKernelNodeParams, gridDim) == 32 &&
              offsetof(hipKernelNodeParams, kernelParams) == 48 &&
              offsetof(hipKernelNodeParams, sharedMemBytes) == 56);

struct hipFuncAttributes {
  int binaryVersion;
  int cacheModeCA;
  std::size_t constSizeBytes;
  std::size_t localSizeBytes;
  int maxDynamicSharedSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int preferredShmemCarveout;
  int ptxVersion;
  std::size_t sharedSizeBytes;
};
static_assert(sizeof(hipFuncAttributes) == 56 &&
              offsetof(hipFuncAttributes, localSizeBytes) == 16 &&
              offsetof(hipFuncAttributes, maxThreadsPerBlock) == 28 &&
              offsetof(hipFuncAttributes, ptxVersion) == 40 &&
              offsetof(hipFuncAttributes, sharedSizeBytes) == 48);

struct hipMemsetParams {
  void* dst;
  unsigned elementSize;
  std::size_t height;
  std::size_t pitch;
  unsigned value;
  std::size_t width;
};
static_assert(sizeof(hipMemsetParams) == 48 && offsetof(hipMemsetParams, elementSize) == 8 &&
              offsetof(hipMemsetParams, height) == 16 && offsetof(hipMemsetParams, pitch) == 24 &&
              offsetof(hipMemsetParams, value) == 32 && offsetof(hipMemsetParams, width) == 40);

struct hipHostNodeParams {
  hipHostFn_t fn;
  void* userData;
};
static_assert(sizeof(hipHostNodeParams) == 16);

struct hipPitchedPtr {
  void* ptr;
  std::size_t pitch;
  std::size_t xsize;
  std::size_t ysize;
};

struct hipExtent {
  std::size_t width, height, depth;
};

struct hipPos {
  std::size_t x, y, z;
};

struct hipMemcpy3DParms {
  hipArray_t srcArray;
  hipPos srcPos;
  hipPitchedPtr srcPtr;
  hipArray_t dstArray;
  hipPos dstPos;
  hipPitchedPtr dstPtr;
  hipExtent extent;
  hipMemcpyKind kind;
};
static_assert(sizeof(hipMemcpy3DParms) == 160 && offsetof(hipMemcpy3DParms, srcPos) == 8 &&
              offsetof(hipMemcpy3DParms, srcPtr) == 32 &&
              offsetof(hipMemcpy3DParms, dstArray) == 64 &&
              offsetof(hipMemcpy3DParms, dstPos) == 72 &&
              offsetof(hipMemcpy3DParms, dstPtr) == 96 &&
              offsetof(hipMemcpy3DParms, extent) == 128 && offsetof(hipMemcpy3DParms, kind) == 152);

struct hipPointerAttribute_t {
  hipMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
  int isManaged;
  unsigned allocationFlags;
};
static_assert(sizeof(hipPointerAttribute_t) == 32 && offsetof(hipPointerAttribute_t, device) == 4 &&
              offsetof(hipPointerAttribute_t, devicePointer) == 8 &&
              offsetof(hipPointerAttribute_t, hostPointer) == 16 &&
              offsetof(hipPointerAttribute_t, isManaged) == 24 &&
              offsetof(hipPointerAttribute_t, allocationFlags) == 28);

struct hipChannelFormatDesc {
  int x, y, z, w;
  int f;
};
static_assert(sizeof(hipChannelFormatDesc) == 20);

/// An exported allocation; what the bytes mean is the library's affair.
struct hipIpcMemHandle_t {
  char reserved[64];
};
static_assert(sizeof(hipIpcMemHandle_t) == 64);

/// An exported event, likewise.
struct hipIpcEventHandle_t {
  char reserved[64];
};
static_assert(sizeof(hipIpcEventHandle_t) == 64);
