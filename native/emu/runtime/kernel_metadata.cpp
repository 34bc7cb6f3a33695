#include "runtime/kernel_metadata.h"

#include <algorithm>

namespace hipgraph::emu {
namespace {

std::uint32_t count(const MsgpackValue& map, std::string_view key, std::int64_t otherwise = 0) {
  return static_cast<std::uint32_t>(map.number(key, otherwise));
}

std::vector<KernelArgument> read_arguments(const MsgpackValue& kernel) {
  std::vector<KernelArgument> arguments;
  const MsgpackValue* list = kernel.find(".args");
  if (list == nullptr) return arguments;
  for (const MsgpackValue& argument : list->elements()) {
    arguments.push_back({count(argument, ".offset"), count(argument, ".size"),
                         argument.text(".value_kind"), argument.text(".name")});
  }
  return arguments;
}

KernelMetadata read_kernel(const MsgpackValue& map) {
  constexpr std::int64_t default_block = 1024;
  KernelMetadata found;
  Kernel& kernel = found.kernel;
  found.symbol = map.text(".symbol");
  kernel.name = map.text(".name");
  kernel.kernarg_bytes = count(map, ".kernarg_segment_size");
  kernel.lds_bytes = count(map, ".group_segment_fixed_size");
  kernel.scratch_bytes = count(map, ".private_segment_fixed_size");
  kernel.sgprs = count(map, ".sgpr_count");
  kernel.max_block = count(map, ".max_flat_workgroup_size", default_block);
  kernel.uses_dynamic_stack = map.number(".uses_dynamic_stack", 0) != 0;
  kernel.arguments = read_arguments(map);
  if (const MsgpackValue* block = map.find(".reqd_workgroup_size"); block != nullptr) {
    const MsgpackValue::Array& axes = block->elements();
    for (std::size_t i = 0; i < std::min(axes.size(), kernel.required_block.size()); ++i) {
      const std::int64_t* size = std::get_if<std::int64_t>(&axes[i].value);
      kernel.required_block[i] = size == nullptr ? 0 : static_cast<std::uint32_t>(*size);
    }
  }
  return found;
}

/// Refuses what would make later arithmetic on the kernel's facts meaningless.
void check(const KernelMetadata& found) {
  constexpr std::uint32_t most_kernarg = 1U << 20;
  const Kernel& kernel = found.kernel;
  if (kernel.name.empty() || found.symbol.empty()) {
    refuse_image("metadata has a kernel without .name or .symbol: damaged");
  }
  if (kernel.kernarg_bytes > most_kernarg) {
    refuse_image("kernel " + kernel.name + " wants " + std::to_string(kernel.kernarg_bytes) +
                 " bytes of arguments: damaged");
  }
  for (const KernelArgument& argument : kernel.arguments) {
    if (argument.offset > kernel.kernarg_bytes ||
        argument.size > kernel.kernarg_bytes - argument.offset) {
      refuse_image("argument " + argument.name + " of kernel " + kernel.name +
                   " lies outside the kernarg segment: damaged");
    }
  }
}

}  // namespace

std::vector<KernelMetadata> read_kernel_metadata(const MsgpackValue& root) {
  std::vector<KernelMetadata> kernels;
  const MsgpackValue* list = root.find("amdhsa.kernels");
  if (list == nullptr) refuse_image("metadata has no amdhsa.kernels");
  for (const MsgpackValue& map : list->elements()) {
    kernels.push_back(read_kernel(map));
    check(kernels.back());
  }
  return kernels;
}

}  // namespace hipgraph::emu
