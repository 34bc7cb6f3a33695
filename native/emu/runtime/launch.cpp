#include "runtime/launch.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "entry.h"
#include "machine/target.h"
#include "runtime/device.h"

namespace hipgraph::emu {
namespace {

using abi::require;

constexpr std::uint64_t max_block_items = 1024;
constexpr std::uint64_t max_axis_items = std::numeric_limits<std::uint32_t>::max();

/// Work-items of a block; more than any device takes when an axis alone is too long.
std::uint64_t items(const dim3& block) {
  const bool too_long = std::max({block.x, block.y, block.z}) > max_block_items;
  return too_long ? max_axis_items : std::uint64_t{block.x} * block.y * block.z;
}

bool has_zero(const dim3& size) { return size.x == 0 || size.y == 0 || size.z == 0; }

/// Whether an axis has more work-items than 32 bits can number.
bool overflows(const dim3& grid, const dim3& block) {
  return std::uint64_t{grid.x} * block.x > max_axis_items ||
         std::uint64_t{grid.y} * block.y > max_axis_items ||
         std::uint64_t{grid.z} * block.z > max_axis_items;
}

bool is_explicit(const KernelArgument& argument) {
  return !argument.value_kind.starts_with("hidden_");
}

/// Bytes up to the end of the last explicit argument; the whole segment when the metadata names
/// none.
std::size_t explicit_bytes(const Kernel& kernel) {
  if (kernel.arguments.empty()) return kernel.kernarg_bytes;
  std::size_t bytes = 0;
  for (const KernelArgument& argument : kernel.arguments) {
    const std::size_t end = std::size_t{argument.offset} + argument.size;
    if (is_explicit(argument)) bytes = std::max(bytes, end);
  }
  return bytes;
}

std::vector<std::uint8_t> pack_parameters(const Kernel& kernel, void** parameters) {
  require(!kernel.arguments.empty(), hipErrorInvalidValue);
  std::vector<std::uint8_t> block(explicit_bytes(kernel));
  for (const KernelArgument& argument : kernel.arguments) {
    if (!is_explicit(argument)) continue;
    const void* value = *parameters++;
    require(value != nullptr, hipErrorInvalidValue);
    std::memcpy(block.data() + argument.offset, value, argument.size);
  }
  return block;
}

/// The block form is exactly {POINTER, block, SIZE, &size, END}. A block that ends before the last
/// argument that the metadata names would be read beyond its end.
std::vector<std::uint8_t> copy_block(const Kernel& kernel, void** extra) {
  const auto tag = [&](std::size_t at) { return reinterpret_cast<std::uintptr_t>(extra[at]); };
  require(tag(0) == HIP_LAUNCH_PARAM_BUFFER_POINTER, hipErrorInvalidValue);
  require(tag(2) == HIP_LAUNCH_PARAM_BUFFER_SIZE, hipErrorInvalidValue);
  require(tag(4) == HIP_LAUNCH_PARAM_END, hipErrorInvalidValue);
  const auto* bytes = static_cast<const std::uint8_t*>(extra[1]);
  const auto* size = static_cast<const std::size_t*>(extra[3]);
  require(bytes != nullptr && size != nullptr, hipErrorInvalidValue);
  const std::size_t wanted = explicit_bytes(kernel);
  require(*size >= wanted || kernel.arguments.empty(), hipErrorInvalidValue);
  return {bytes, bytes + std::min(*size, wanted)};
}

std::vector<std::uint8_t> pack(const Kernel& kernel, const LaunchCall& call) {
  if (call.parameters != nullptr && !kernel.arguments.empty()) {
    return pack_parameters(kernel, call.parameters);
  }
  if (call.extra != nullptr) return copy_block(kernel, call.extra);
  require(explicit_bytes(kernel) == 0, hipErrorInvalidValue);
  return {};
}

/// What every kind of launch checks, in this order.
KernelWork check_common(const FunctionPtr& function, const LaunchCall& call) {
  const Kernel& kernel = *function->kernel;
  require(call.parameters == nullptr || call.extra == nullptr, hipErrorInvalidValue);
  require(!has_zero(call.grid) && !has_zero(call.block), hipErrorInvalidConfiguration);
  const std::uint64_t lds = std::uint64_t{kernel.lds_bytes} + call.dynamic_lds_bytes;
  require(lds <= facts(device_model().target).lds_bytes, hipErrorInvalidValue);
  require(items(call.block) <= max_block_items, hipErrorInvalidConfiguration);
  KernelWork work{
      function,           call.grid,
      call.block,         call.dynamic_lds_bytes,
      pack(kernel, call), call.extra != nullptr ? ArgumentForm::Block : ArgumentForm::Parameters};
  require(items(call.block) <= kernel.max_block, hipErrorLaunchFailure);
  return work;
}

}  // namespace

LaunchCall launch_of(const hipKernelNodeParams& params) {
  return {params.gridDim, params.blockDim, params.sharedMemBytes, params.kernelParams,
          params.extra};
}

KernelWork check_launch(const FunctionPtr& function, const LaunchCall& call) {
  const bool fits = items(call.block) <= max_block_items && !overflows(call.grid, call.block);
  require(fits, hipErrorInvalidValue);
  const std::uint32_t lds = facts(device_model().target).lds_bytes;
  require(call.dynamic_lds_bytes <= lds, hipErrorInvalidValue);
  require(!has_zero(call.grid) && !has_zero(call.block), hipErrorInvalidValue);
  require(function != nullptr, hipErrorInvalidHandle);
  return check_common(function, call);
}

KernelWork check_launch_node(const FunctionPtr& function, const LaunchCall& call) {
  require(function != nullptr, hipErrorInvalidDeviceFunction);
  require(!has_zero(call.grid) && !has_zero(call.block), hipErrorInvalidConfiguration);
  require(!overflows(call.grid, call.block), hipErrorInvalidConfiguration);
  return check_common(function, call);
}

void show_arguments(Node& node, KernelWork& work) {
  ShownParams& shown = node.shown;
  shown = {};
  if (work.form == ArgumentForm::Block) {
    shown.block_bytes = work.arguments.size();
    shown.block = {reinterpret_cast<void*>(HIP_LAUNCH_PARAM_BUFFER_POINTER), work.arguments.data(),
                   reinterpret_cast<void*>(HIP_LAUNCH_PARAM_BUFFER_SIZE), &shown.block_bytes,
                   reinterpret_cast<void*>(HIP_LAUNCH_PARAM_END)};
    return;
  }
  for (const KernelArgument& argument : work.function->kernel->arguments) {
    if (is_explicit(argument)) {
      shown.parameters.push_back(work.arguments.data() + argument.offset);
    }
  }
}

}  // namespace hipgraph::emu
