#pragma once
#include "context_abi.h"
#include "hip_abi.h"
#include "memory_types.h"

/// The part of HIP's C ABI that only graph calls use.

using hipUserObject_t = struct hipUserObject*;

constexpr unsigned hipGraphInstantiateFlagUpload = 2, hipGraphInstantiateFlagDeviceLaunch = 4;
constexpr unsigned hipUserObjectNoDestructorSync = 1, hipGraphUserObjectMove = 1;

enum hipGraphDebugDotFlags : unsigned {
  hipGraphDebugDotFlagsVerbose = 1 << 0,
  hipGraphDebugDotFlagsKernelNodeParams = 1 << 2,
  hipGraphDebugDotFlagsMemcpyNodeParams = 1 << 3,
  hipGraphDebugDotFlagsMemsetNodeParams = 1 << 4,
  hipGraphDebugDotFlagsHostNodeParams = 1 << 5,
  hipGraphDebugDotFlagsEventNodeParams = 1 << 6,
  hipGraphDebugDotFlagsKernelNodeAttributes = 1 << 9,
  hipGraphDebugDotFlagsHandles = 1 << 10,
};

enum hipGraphExecUpdateResult : int {
  hipGraphExecUpdateSuccess = 0,
  hipGraphExecUpdateError = 1,
  hipGraphExecUpdateErrorTopologyChanged = 2,
  hipGraphExecUpdateErrorNodeTypeChanged = 3,
  hipGraphExecUpdateErrorFunctionChanged = 4,
  hipGraphExecUpdateErrorParametersChanged = 5,
  hipGraphExecUpdateErrorNotSupported = 6,
  hipGraphExecUpdateErrorUnsupportedFunctionChange = 7,
};

enum hipGraphInstantiateResult : int {
  hipGraphInstantiateSuccess = 0,
  hipGraphInstantiateError = 1,
};

struct hipGraphInstantiateParams {
  hipGraphNode_t errNode_out;
  unsigned long long flags;
  hipGraphInstantiateResult result_out;
  hipStream_t uploadStream;
};
static_assert(sizeof(hipGraphInstantiateParams) == 32 &&
              offsetof(hipGraphInstantiateParams, flags) == 8 &&
              offsetof(hipGraphInstantiateParams, result_out) == 16 &&
              offsetof(hipGraphInstantiateParams, uploadStream) == 24);

struct hipMemcpyNodeParams {
  int flags;
  int reserved[3];
  hipMemcpy3DParms copyParams;
};

struct hipMemFreeNodeParams {
  void* dptr;
};

/// The parameters of a node of any kind; those of external semaphores have no names here.
struct hipGraphNodeParams {
  hipGraphNodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    hipKernelNodeParams kernel;
    hipMemcpyNodeParams memcpy;
    hipMemsetParams memset;
    hipHostNodeParams host;
    hipGraph_t graph;
    hipEvent_t event;
    hipMemAllocNodeParams alloc;
    hipMemFreeNodeParams free;
  };
  long long reserved2;
};
static_assert(sizeof(hipGraphNodeParams) == 256 && offsetof(hipGraphNodeParams, kernel) == 16 &&
              offsetof(hipGraphNodeParams, reserved2) == 248);

enum hipLaunchAttributeID : int {
  hipLaunchAttributeAccessPolicyWindow = 1,
  hipLaunchAttributeCooperative = 2,
  hipLaunchAttributeClusterDimension = 4,
  hipLaunchAttributePriority = 8,
};

struct hipBatchMemOpNodeParams {
  hipCtx_t ctx;
  unsigned count;
  hipStreamBatchMemOpParams* paramArray;
  unsigned flags;
};
static_assert(sizeof(hipBatchMemOpNodeParams) == 32);

/// One side after the other, each by host address, device address or array.
struct HIP_MEMCPY3D {
  std::size_t srcXInBytes, srcY, srcZ, srcLOD;
  hipMemoryType srcMemoryType;
  const void* srcHost;
  void* srcDevice;
  hipArray_t srcArray;
  std::size_t srcPitch, srcHeight;
  std::size_t dstXInBytes, dstY, dstZ, dstLOD;
  hipMemoryType dstMemoryType;
  void* dstHost;
  void* dstDevice;
  hipArray_t dstArray;
  std::size_t dstPitch, dstHeight;
  std::size_t WidthInBytes, Height, Depth;
};
static_assert(sizeof(HIP_MEMCPY3D) == 184);
