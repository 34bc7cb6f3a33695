#pragma once
#include <atomic>
#include <cstddef>

#include "context_abi.h"

namespace hipgraph::emu {

/// What callers set for a device and read back. Only the stack size changes what a kernel may do.
struct DeviceSettings {
  std::atomic<unsigned> flags{hipDeviceScheduleSpin};
  /// Bytes of stack of a work-item whose kernel calls what the compiler did not know.
  std::atomic<std::size_t> stack_bytes{16 * 1024};
  std::atomic<std::size_t> heap_bytes{std::size_t{8} << 20};
};

/// The settings of a device; usable on every thread.
DeviceSettings& device_settings(int device);

}  // namespace hipgraph::emu
