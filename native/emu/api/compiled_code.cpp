#include <cstdint>

#include "api/api.h"
#include "runtime/device.h"
#include "runtime/registered_code.h"
#include "runtime/stream.h"

using namespace hipgraph::emu;

// What the compiler's static constructors and destructors call, so before main and after it. None
// of them has a way to fail, and none touches the thread's last error.

namespace {

using hipgraph::abi::LastError;

/// What the compiler puts beside the device code.
struct FatBinaryWrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* binary;
  const void* unused;
};
constexpr std::uint32_t wrapper_magic = 0x48495046;  // "HIPF"

FatBinary* binary_of(void** handle) { return reinterpret_cast<FatBinary*>(handle); }

void note_variable(void** handle, const void* host, const char* name) {
  const ApiLock lock;
  register_variable(binary_of(handle), host, name);
}

/// The first program part that ends waits for all devices, as nothing may run on without its code.
void wait_for_devices() {
  static const bool waited = [] {
    const bool used = [] {
      const ApiLock lock;
      return registered_code_used();
    }();
    for (int device = 0; used && device < device_model().devices; ++device) {
      wait_for_device(device);
    }
    return true;
  }();
  static_cast<void>(waited);
}

}  // namespace

HIPGRAPH_API void** __hipRegisterFatBinary(const void* data) {
  FatBinary* binary = nullptr;
  entry<LastError::Leave>([&] {
    const auto* wrapper = static_cast<const FatBinaryWrapper*>(data);
    require(wrapper->magic == wrapper_magic && wrapper->version == 1, hipErrorInvalidValue);
    const ApiLock lock;
    binary = register_fat_binary(wrapper->binary);
  });
  return reinterpret_cast<void**>(binary);
}

HIPGRAPH_API void __hipUnregisterFatBinary(void** handle) {
  entry<LastError::Leave>([&] {
    wait_for_devices();
    const ApiLock lock;
    unregister_fat_binary(binary_of(handle));
  });
}

// The arguments after the name bound launches; the code object's metadata says the same.
HIPGRAPH_API void __hipRegisterFunction(void** handle, const void* host, char*, const char* name,
                                        unsigned, void*, void*, void*, void*, int*) {
  entry<LastError::Leave>([&] {
    const ApiLock lock;
    register_function(binary_of(handle), host, name);
  });
}

HIPGRAPH_API void __hipRegisterVar(void** handle, void* host, char* name, char*, int, std::size_t,
                                   int, int) {
  entry<LastError::Leave>([&] { note_variable(handle, host, name); });
}

HIPGRAPH_API void __hipRegisterSurface(void** handle, void* host, char* name, char*, int, int) {
  entry<LastError::Leave>([&] { note_variable(handle, host, name); });
}

HIPGRAPH_API void __hipRegisterTexture(void** handle, void* host, char* name, char*, int, int,
                                       int) {
  entry<LastError::Leave>([&] { note_variable(handle, host, name); });
}

HIPGRAPH_API void __hipRegisterManagedVar(void* handle, void** host, void* initial,
                                          const char* name, std::size_t bytes, unsigned) {
  entry<LastError::Leave>([&] {
    const ApiLock lock;
    register_managed_variable(binary_of(static_cast<void**>(handle)), host, initial, name, bytes);
  });
}
