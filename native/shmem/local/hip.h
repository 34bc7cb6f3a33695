#pragma once
#include <cstddef>

#include "error.h"
#include "hip_abi.h"

namespace hipgraph::shmem {

constexpr int kWallClockRate = 10017;  ///< hipDeviceAttributeWallClockRate, in kHz

/// "hipMalloc returned 2 (hipErrorOutOfMemory: out of memory)".
std::string hip_text(const char* call, hipError_t code);

/// One function of the HIP library. Calling it throws unless it succeeds; `code` gives its code.
template <class... Arguments>
struct HipFunction {
  const char* name;
  hipError_t (*code)(Arguments...) = nullptr;

  void operator()(Arguments... arguments) const {
    const hipError_t result = code(arguments...);
    if (result != hipSuccess) throw Error{HGS_HIP, hip_text(name, result)};
  }
};

/// What is used of the HIP library that the process has loaded already.
struct Hip {
  HipFunction<> take_last_error{"hipGetLastError"};
  HipFunction<int*> get_device{"hipGetDevice"};
  HipFunction<int> set_device{"hipSetDevice"};
  HipFunction<int*, int, int> device_attribute{"hipDeviceGetAttribute"};
  HipFunction<void**, std::size_t> malloc{"hipMalloc"};
  HipFunction<void**, std::size_t, unsigned> ext_malloc{"hipExtMallocWithFlags"};
  HipFunction<void*> free{"hipFree"};
  HipFunction<void**, std::size_t, unsigned> host_malloc{"hipHostMalloc"};
  HipFunction<void*> host_free{"hipHostFree"};
  HipFunction<hipIpcMemHandle_t*, void*> ipc_get{"hipIpcGetMemHandle"};
  HipFunction<void**, hipIpcMemHandle_t, unsigned> ipc_open{"hipIpcOpenMemHandle"};
  HipFunction<void*> ipc_close{"hipIpcCloseMemHandle"};
  HipFunction<void*, const void*, std::size_t, hipMemcpyKind, hipStream_t> copy{"hipMemcpyAsync"};
  HipFunction<void*, int, std::size_t, hipStream_t> fill{"hipMemsetAsync"};
  HipFunction<hipStream_t*, unsigned> stream_create{"hipStreamCreateWithFlags"};
  HipFunction<hipStream_t> stream_destroy{"hipStreamDestroy"};
  HipFunction<hipStream_t> stream_synchronize{"hipStreamSynchronize"};
  HipFunction<hipStreamCaptureMode*> exchange_capture_mode{"hipThreadExchangeStreamCaptureMode"};
  HipFunction<hipModule_t*, const void*> module_load{"hipModuleLoadData"};
  HipFunction<hipModule_t> module_unload{"hipModuleUnload"};
  HipFunction<hipFunction_t*, hipModule_t, const char*> function{"hipModuleGetFunction"};
  HipFunction<hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
              hipStream_t, void**, void**>
      launch{"hipModuleLaunchKernel"};
};

/// Takes the functions from the library at `path`, which must be loaded already.
void attach_hip(const char* path);
/// The attached library.
const Hip& hip();

/// A HIP call of ours never disturbs a capture of another thread, nor is it refused for one.
class RelaxedCapture {
 public:
  RelaxedCapture() { hip().exchange_capture_mode(&mode_); }
  ~RelaxedCapture() { hip().exchange_capture_mode.code(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  hipStreamCaptureMode mode_ = hipStreamCaptureModeRelaxed;
};

/// Makes a device current as long as it lives.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) : device_(device) {
    hip().get_device(&previous_);
    if (previous_ != device_) hip().set_device(device_);
  }
  ~CurrentDevice() {
    if (previous_ != device_) hip().set_device.code(previous_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int device_;
  int previous_ = 0;
};

}  // namespace hipgraph::shmem
