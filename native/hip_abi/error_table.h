#pragma once

/// Every error of the HIP ABI, one row each: X(number, name, sentence). The enum, the names and the
/// sentences that callers see all come from here.
#define HIPGRAPH_ERROR_ROWS(X)                                                                    \
  X(0, hipSuccess, "no error")                                                                    \
  X(1, hipErrorInvalidValue, "invalid argument")                                                  \
  X(2, hipErrorOutOfMemory, "out of memory")                                                      \
  X(3, hipErrorNotInitialized, "initialization error")                                            \
  X(4, hipErrorDeinitialized, "driver shutting down")                                             \
  X(5, hipErrorProfilerDisabled, "profiler disabled while using external profiling tool")         \
  X(6, hipErrorProfilerNotInitialized, "profiler is not initialized")                             \
  X(7, hipErrorProfilerAlreadyStarted, "profiler already started")                                \
  X(8, hipErrorProfilerAlreadyStopped, "profiler already stopped")                                \
  X(9, hipErrorInvalidConfiguration, "invalid configuration argument")                            \
  X(12, hipErrorInvalidPitchValue, "invalid pitch argument")                                      \
  X(13, hipErrorInvalidSymbol, "invalid device symbol")                                           \
  X(17, hipErrorInvalidDevicePointer, "invalid device pointer")                                   \
  X(21, hipErrorInvalidMemcpyDirection, "invalid copy direction for memcpy")                      \
  X(35, hipErrorInsufficientDriver, "driver version is insufficient for runtime version")         \
  X(52, hipErrorMissingConfiguration, "__global__ function call is not configured")               \
  X(53, hipErrorPriorLaunchFailure, "unspecified launch failure in prior launch")                 \
  X(98, hipErrorInvalidDeviceFunction, "invalid device function")                                 \
  X(100, hipErrorNoDevice, "no ROCm-capable device is detected")                                  \
  X(101, hipErrorInvalidDevice, "invalid device ordinal")                                         \
  X(200, hipErrorInvalidImage, "device kernel image is invalid")                                  \
  X(201, hipErrorInvalidContext, "invalid device context")                                        \
  X(202, hipErrorContextAlreadyCurrent, "context is already current context")                     \
  X(205, hipErrorMapFailed, "mapping of buffer object failed")                                    \
  X(206, hipErrorUnmapFailed, "unmapping of buffer object failed")                                \
  X(207, hipErrorArrayIsMapped, "array is mapped")                                                \
  X(208, hipErrorAlreadyMapped, "resource already mapped")                                        \
  X(209, hipErrorNoBinaryForGpu, "no kernel image is available for execution on the device")      \
  X(210, hipErrorAlreadyAcquired, "resource already acquired")                                    \
  X(211, hipErrorNotMapped, "resource not mapped")                                                \
  X(212, hipErrorNotMappedAsArray, "resource not mapped as array")                                \
  X(213, hipErrorNotMappedAsPointer, "resource not mapped as pointer")                            \
  X(214, hipErrorECCNotCorrectable, "uncorrectable ECC error encountered")                        \
  X(215, hipErrorUnsupportedLimit, "limit is not supported on this architecture")                 \
  X(216, hipErrorContextAlreadyInUse,                                                             \
    "exclusive-thread device already in use by a different thread")                               \
  X(217, hipErrorPeerAccessUnsupported, "peer access is not supported between these two devices") \
  X(218, hipErrorInvalidKernelFile, "invalid kernel file")                                        \
  X(219, hipErrorInvalidGraphicsContext, "invalid OpenGL or DirectX context")                     \
  X(300, hipErrorInvalidSource, "device kernel image is invalid")                                 \
  X(301, hipErrorFileNotFound, "file not found")                                                  \
  X(302, hipErrorSharedObjectSymbolNotFound, "shared object symbol not found")                    \
  X(303, hipErrorSharedObjectInitFailed, "shared object initialization failed")                   \
  X(304, hipErrorOperatingSystem, "OS call failed or operation not supported on this OS")         \
  X(400, hipErrorInvalidHandle, "invalid resource handle")                                        \
  X(401, hipErrorIllegalState, "the operation cannot be performed in the present state")          \
  X(500, hipErrorNotFound, "named symbol not found")                                              \
  X(600, hipErrorNotReady, "device not ready")                                                    \
  X(700, hipErrorIllegalAddress, "an illegal memory access was encountered")                      \
  X(701, hipErrorLaunchOutOfResources, "too many resources requested for launch")                 \
  X(702, hipErrorLaunchTimeOut, "the launch timed out and was terminated")                        \
  X(704, hipErrorPeerAccessAlreadyEnabled, "peer access is already enabled")                      \
  X(705, hipErrorPeerAccessNotEnabled, "peer access has not been enabled")                        \
  X(708, hipErrorSetOnActiveProcess, "cannot set while device is active in this process")         \
  X(709, hipErrorContextIsDestroyed, "context is destroyed")                                      \
  X(710, hipErrorAssert, "device-side assert triggered")                                          \
  X(712, hipErrorHostMemoryAlreadyRegistered,                                                     \
    "part or all of the requested memory range is already mapped")                                \
  X(713, hipErrorHostMemoryNotRegistered,                                                         \
    "pointer does not correspond to a registered memory region")                                  \
  X(719, hipErrorLaunchFailure, "unspecified launch failure")                                     \
  X(720, hipErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch")              \
  X(801, hipErrorNotSupported, "operation not supported")                                         \
  X(900, hipErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing")    \
  X(901, hipErrorStreamCaptureInvalidated,                                                        \
    "operation failed due to a previous error during capture")                                    \
  X(902, hipErrorStreamCaptureMerge,                                                              \
    "operation would result in a merge of separate capture sequences")                            \
  X(903, hipErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began")  \
  X(904, hipErrorStreamCaptureUnjoined, "capturing stream has unjoined work")                     \
  X(905, hipErrorStreamCaptureIsolation,                                                          \
    "dependency created on uncaptured work in another stream")                                    \
  X(906, hipErrorStreamCaptureImplicit,                                                           \
    "operation would make the legacy stream depend on a capturing blocking stream")               \
  X(907, hipErrorCapturedEvent,                                                                   \
    "operation not permitted on an event last recorded in a capturing stream")                    \
  X(908, hipErrorStreamCaptureWrongThread,                                                        \
    "attempt to terminate a thread-local capture sequence from another thread")                   \
  X(910, hipErrorGraphExecUpdateFailure,                                                          \
    "the graph update was not performed because it included changes which violated "              \
    "constraints specific to instantiated graph update")                                          \
  X(911, hipErrorInvalidChannelDescriptor, "invalid channel descriptor")                          \
  X(912, hipErrorInvalidTexture, "invalid texture")                                               \
  X(914, hipErrorInvalidResourceType, "invalid resource type")                                    \
  X(915, hipErrorInvalidResourceConfiguration, "invalid resource configuration")                  \
  X(916, hipErrorStreamDetached, "operation on a stream that is detached")                        \
  X(999, hipErrorUnknown, "unknown error")                                                        \
  X(1052, hipErrorRuntimeMemory, "runtime memory call returned error")                            \
  X(1053, hipErrorRuntimeOther, "runtime call other than memory returned error")                  \
  X(1054, hipErrorInvalidClusterSize, "invalid cluster size")                                     \
  X(1055, hipErrorTbd, "not implemented")
