#include <algorithm>

#include "api/api.h"
#include "machine/target.h"
#include "runtime/device.h"
#include "runtime/dispatch.h"
#include "runtime/registered_code.h"

using namespace hipgraph::emu;

namespace {

constexpr int max_block_items = 1024;
constexpr int wave_items = 64;
constexpr unsigned known_flags = 1;  // hipOccupancyDisableCachingOverride

int resident_blocks(const Kernel& kernel, int block_items, std::size_t dynamic_lds_bytes) {
  const bool fits =
      block_items <= max_block_items && dynamic_lds_bytes <= facts(device_model().target).lds_bytes;
  if (!fits) return 0;
  const auto blocks = workgroups_per_compute_unit(kernel, static_cast<std::uint32_t>(block_items),
                                                  static_cast<std::uint32_t>(dynamic_lds_bytes));
  return static_cast<int>(blocks);
}

/// Work-items that the registers of a compute unit are enough for.
int items_by_registers(Kernel kernel) {
  kernel.lds_bytes = 0;
  return resident_blocks(kernel, wave_items, 0) * wave_items;
}

struct PotentialBlock {
  int* grid;
  int* block;
};

/// The block that fills the device, at most `limit` work-items (0: any), and a grid of as many as
/// are resident at once.
void find_potential(const PotentialBlock& out, const Kernel& kernel, std::size_t dynamic_lds_bytes,
                    int limit) {
  const int most = std::min(static_cast<int>(kernel.max_block), max_block_items);
  const int wanted = limit <= 0 || limit > most ? most : limit;
  const int whole_waves = (wanted + wave_items - 1) / wave_items * wave_items;
  *out.block = std::min(items_by_registers(kernel), whole_waves);
  const auto units = static_cast<int>(device_model().compute_units);
  *out.grid = units * resident_blocks(kernel, *out.block, dynamic_lds_bytes);
}

FunctionPtr module_function(hipFunction_t handle) {
  require(handle != nullptr, hipErrorInvalidValue);
  FunctionPtr function = find_function(handle);
  require(function != nullptr, hipErrorInvalidHandle);
  return function;
}

FunctionPtr host_function(const void* host) {
  FunctionPtr function = find_host_function(host, this_thread().device);
  require(function != nullptr, hipErrorInvalidDeviceFunction);
  return function;
}

template <class Find>
hipError_t active_blocks(int* blocks, Find find, int block_items, std::size_t dynamic_lds_bytes,
                         unsigned flags = 0) {
  required(blocks);
  require(flags <= known_flags, hipErrorInvalidValue);
  const ApiLock lock;
  const FunctionPtr function = find();
  require(block_items > 0, hipErrorInvalidValue);
  *blocks = resident_blocks(*function->kernel, block_items, dynamic_lds_bytes);
  return hipSuccess;
}

template <class Find>
hipError_t potential_block(const PotentialBlock& out, Find find, std::size_t dynamic_lds_bytes,
                           int limit, unsigned flags = 0) {
  required(out.grid);
  required(out.block);
  require(flags <= known_flags, hipErrorInvalidValue);
  const ApiLock lock;
  find_potential(out, *find()->kernel, dynamic_lds_bytes, limit);
  return hipSuccess;
}

}  // namespace

HIPGRAPH_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, hipFunction_t function, int block_items, std::size_t dynamic_lds_bytes) {
  return entry([&] {
    const auto find = [&] { return module_function(function); };
    return active_blocks(blocks, find, block_items, dynamic_lds_bytes);
  });
}

HIPGRAPH_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, hipFunction_t function, int block_items, std::size_t dynamic_lds_bytes,
    unsigned flags) {
  return entry([&] {
    const auto find = [&] { return module_function(function); };
    return active_blocks(blocks, find, block_items, dynamic_lds_bytes, flags);
  });
}

HIPGRAPH_API hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, const void* host, int block_items, std::size_t dynamic_lds_bytes) {
  return entry([&] {
    const auto find = [&] { return host_function(host); };
    return active_blocks(blocks, find, block_items, dynamic_lds_bytes);
  });
}

HIPGRAPH_API hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* host, int block_items, std::size_t dynamic_lds_bytes, unsigned flags) {
  return entry([&] {
    const auto find = [&] { return host_function(host); };
    return active_blocks(blocks, find, block_items, dynamic_lds_bytes, flags);
  });
}

HIPGRAPH_API hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block,
                                                                hipFunction_t function,
                                                                std::size_t dynamic_lds_bytes,
                                                                int limit) {
  return entry([&] {
    const auto find = [&] { return module_function(function); };
    return potential_block({grid, block}, find, dynamic_lds_bytes, limit);
  });
}

HIPGRAPH_API hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
    int* grid, int* block, hipFunction_t function, std::size_t dynamic_lds_bytes, int limit,
    unsigned flags) {
  return entry([&] {
    const auto find = [&] { return module_function(function); };
    return potential_block({grid, block}, find, dynamic_lds_bytes, limit, flags);
  });
}

HIPGRAPH_API hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* host,
                                                          std::size_t dynamic_lds_bytes,
                                                          int limit) {
  return entry([&] {
    const auto find = [&] { return host_function(host); };
    return potential_block({grid, block}, find, dynamic_lds_bytes, limit);
  });
}
