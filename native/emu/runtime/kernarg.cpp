#include "runtime/kernarg.h"

#include <array>
#include <cstring>
#include <map>
#include <string_view>

#include "isa/operand.h"
#include "runtime/address_space.h"
#include "runtime/descriptor.h"
#include "runtime/status.h"

namespace hipgraph::emu {
namespace {

constexpr std::uint8_t argument_poison = 0xBE;
constexpr const char* axes = "xyz";

/// Device memory for one launch.
std::uint64_t launch_memory(std::size_t bytes, int device) {
  const std::optional<Allocation> made =
      AddressSpace::instance().allocate(bytes, AllocationKind::Kernarg, device);
  if (!made.has_value()) {
    throw LoadError{status::out_of_memory, "launch: no memory left for the kernarg segment"};
  }
  return made->base;
}

/// Splits "hidden_block_count_y" into its stem and its axis.
bool take_axis(std::string_view& kind, std::size_t& axis) {
  if (kind.size() < 2 || kind[kind.size() - 2] != '_') return false;
  axis = std::string_view(axes).find(kind.back());
  if (axis == std::string_view::npos) return false;
  kind.remove_suffix(2);
  return true;
}

/// The part of the runtime that a hidden pointer leads to; null for a kind that is no such pointer.
const char* part_behind(std::string_view kind) {
  struct Part {
    std::string_view kind;
    const char* name;
  };
  static constexpr std::array parts{
      Part{"hidden_printf_buffer", "printf buffer: this device does not emulate device printf"},
      Part{"hidden_hostcall_buffer",
           "hostcall buffer: this device does not emulate device printf, malloc and assert"},
      Part{"hidden_multigrid_sync_arg", "multi-grid state: this device does not emulate it"},
      Part{"hidden_heap_v1", "device malloc heap: this device does not emulate device malloc"},
      Part{"hidden_default_queue", "default queue: this device does not emulate device enqueue"},
      Part{"hidden_completion_action",
           "completion action: this device does not emulate device "
           "enqueue"},
      Part{"hidden_queue_ptr", "queue: this device does not emulate its memory"},
  };
  for (const Part& part : parts) {
    if (part.kind == kind) return part.name;
  }
  return nullptr;
}

/// Value of a hidden argument that counts something along an axis.
std::optional<std::uint64_t> per_axis(std::string_view stem, std::size_t axis,
                                      const LaunchRequest& request) {
  const bool whole = request.rest[axis] == 0;
  if (stem == "hidden_block_count") return request.grid[axis] - (whole ? 0 : 1);
  if (stem == "hidden_group_size") return request.block[axis];
  if (stem == "hidden_remainder") return request.rest[axis];
  if (stem == "hidden_global_offset") return 0;
  return std::nullopt;
}

/// Value of a hidden argument; throws LoadError for an unknown kind.
std::uint64_t hidden_value(std::string_view kind, const LaunchRequest& request) {
  constexpr unsigned aperture_shift = 32;
  constexpr std::uint64_t grid_dimensions = 3;
  std::string_view stem = kind;
  std::size_t axis = 0;
  if (take_axis(stem, axis)) {
    if (const auto value = per_axis(stem, axis, request); value.has_value()) return *value;
  }
  if (const char* part = part_behind(kind); part != nullptr) return absent_part(part);
  if (kind == "hidden_none") return 0;
  if (kind == "hidden_grid_dims") return grid_dimensions;
  if (kind == "hidden_dynamic_lds_size") return request.dynamic_lds_bytes;
  if (kind == "hidden_private_base") return private_aperture >> aperture_shift;
  if (kind == "hidden_shared_base") return shared_aperture >> aperture_shift;
  throw LoadError{status::launch_failure, "kernel " + request.kernel->name +
                                              " wants the hidden argument " + std::string(kind) +
                                              ", which this device does not know"};
}

/// Bytes of a kernel's segment that may be read. Compilers load whole 16-byte groups of it, the
/// last one too, because the segment is aligned so.
std::size_t readable_bytes(const Kernel& kernel) {
  constexpr std::size_t group = 16;
  return (kernel.kernarg_bytes + group - 1) / group * group;
}

void write_kernarg(std::uint64_t to, const LaunchRequest& request) {
  const Kernel& kernel = *request.kernel;
  auto* bytes = reinterpret_cast<std::uint8_t*>(to);
  std::memset(bytes, argument_poison, readable_bytes(kernel));
  std::memcpy(bytes, request.kernarg.data(),
              std::min<std::size_t>(request.kernarg.size(), kernel.kernarg_bytes));
  for (const KernelArgument& argument : kernel.arguments) {
    if (!argument.value_kind.starts_with("hidden_")) continue;
    const std::uint64_t value = hidden_value(argument.value_kind, request);
    std::memcpy(bytes + argument.offset, &value,
                std::min<std::size_t>(argument.size, sizeof value));
  }
}

/// The packet of a queue that would start this launch.
struct Packet {
  std::uint16_t header = 2, dimensions = 3;
  std::array<std::uint16_t, 3> block{};
  std::uint16_t reserved0 = 0;
  std::array<std::uint32_t, 3> grid_items{};
  std::uint32_t scratch_bytes = 0, lds_bytes = 0;
  std::uint64_t kernel_object = 0, kernarg = 0, reserved1 = 0, completion = 0;
};
static_assert(sizeof(Packet) == 64);

Packet packet_of(const LaunchRequest& request, std::uint64_t kernarg) {
  Packet packet;
  for (std::size_t i = 0; i < 3; ++i) {
    packet.block[i] = static_cast<std::uint16_t>(request.block[i]);
    packet.grid_items[i] = request.grid[i] * request.block[i];
    if (request.rest[i] != 0) packet.grid_items[i] -= request.block[i] - request.rest[i];
  }
  packet.scratch_bytes = request.kernel->scratch_bytes;
  packet.lds_bytes = request.kernel->lds_bytes + request.dynamic_lds_bytes;
  packet.kernel_object = request.kernel->descriptor;
  packet.kernarg = kernarg;
  return packet;
}

}  // namespace

std::uint64_t absent_part(const char* name) {
  static auto& known = *new std::map<std::string_view, std::uint64_t>();  // executor's thread only
  const auto [entry, fresh] = known.try_emplace(name, 0);
  if (fresh) entry->second = AddressSpace::instance().guard(name);
  return entry->second;
}

LaunchMemory::LaunchMemory(const LaunchRequest& request) {
  constexpr unsigned dispatch_pointer = 2;
  const Kernel& kernel = *request.kernel;
  kernarg_ = kernel.kernarg_bytes == 0
                 ? absent_part("kernarg segment of a kernel without arguments")
                 : launch_memory(readable_bytes(kernel), request.device);
  packet_ = absent_part("dispatch packet of a kernel that did not ask for it");
  try {
    if (kernel.kernarg_bytes != 0) write_kernarg(kernarg_, request);
    if ((Descriptor::at(kernel.descriptor).properties & dispatch_pointer) != 0) {
      packet_ = launch_memory(sizeof(Packet), request.device);
      const Packet packet = packet_of(request, kernarg_);
      std::memcpy(reinterpret_cast<void*>(packet_), &packet, sizeof packet);
    }
  } catch (const LoadError&) {
    AddressSpace::instance().release(kernarg_);
    throw;
  }
}

LaunchMemory::~LaunchMemory() {
  AddressSpace::instance().release(kernarg_);
  AddressSpace::instance().release(packet_);
}

}  // namespace hipgraph::emu
