// The few HIP functions that the shim calls, as our own declarations: it compiles without ROCm, and
// the names of HIP's handles mangle as in rocSHMEM's own build.
#pragma once
#include <stddef.h>

typedef struct ihipStream_t* hipStream_t;
typedef struct ihipModule_t* hipModule_t;
typedef int hipError_t;

constexpr int HIP_COPY_TO_HOST = 2;
constexpr int HIP_CAPTURE_MODE_RELAXED = 2;
constexpr unsigned HIP_STREAM_NON_BLOCKING = 1;

extern "C" {
const char* hipGetErrorName(hipError_t error);
hipError_t hipGetDevice(int* device);
hipError_t hipGetLastError(void);
hipError_t hipGetSymbolAddress(void** address, const void* symbol);
hipError_t hipGetSymbolSize(size_t* size, const void* symbol);
hipError_t hipMemcpyAsync(void* target, const void* source, size_t bytes, int kind,
                          hipStream_t stream);
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipThreadExchangeStreamCaptureMode(int* mode);
}
