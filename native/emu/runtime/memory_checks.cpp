#include "runtime/memory_checks.h"

#include <climits>
#include <optional>

#include "entry.h"
#include "runtime/address_space.h"

namespace hipgraph::emu {
namespace {

using abi::require;

std::optional<Allocation> lookup(const void* address) {
  return AddressSpace::instance().lookup(reinterpret_cast<std::uint64_t>(address));
}

/// Whether bytes from `address` on stay inside the allocation.
bool holds(const Allocation& allocation, const void* address, std::size_t bytes) {
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - allocation.base;
  return bytes <= allocation.bytes - offset;
}

bool is_device(const std::optional<Allocation>& allocation) {
  return allocation && memory_type_of(allocation->kind) == hipMemoryTypeDevice;
}

bool valid(hipMemcpyKind kind) {
  return (kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault) ||
         kind == hipMemcpyDeviceToDeviceNoCU;
}

void check_direction(bool to_known, bool from_known, hipMemcpyKind kind) {
  require(kind != hipMemcpyDeviceToHost || from_known, hipErrorInvalidValue);
  require(kind != hipMemcpyHostToDevice || to_known, hipErrorInvalidValue);
  const bool between_hosts = kind == hipMemcpyHostToHost || kind == hipMemcpyDefault;
  require(to_known || from_known || between_hosts, hipErrorInvalidValue);
}

/// What a node adds: one unknown side must be the host side of the kind.
void check_node_direction(bool to_known, bool from_known, hipMemcpyKind kind) {
  if (kind == hipMemcpyDefault || to_known == from_known) return;
  const hipMemcpyKind wanted = to_known ? hipMemcpyHostToDevice : hipMemcpyDeviceToHost;
  require(kind == wanted, hipErrorInvalidValue);
}

struct Side {
  const hipPitchedPtr& pointer;
  const hipPos& position;
};

/// Bytes from a side's pointer to the end of what the copy touches; more than any memory has when
/// they are too many to count.
std::size_t span_of(const Side& side, const hipExtent& extent) {
  std::size_t rows = 0;
  std::size_t bytes = 0;
  const bool too_many = __builtin_add_overflow(side.position.z, extent.depth - 1, &rows) ||
                        __builtin_mul_overflow(rows, side.pointer.ysize, &rows) ||
                        __builtin_add_overflow(rows, side.position.y, &rows) ||
                        __builtin_add_overflow(rows, extent.height - 1, &rows) ||
                        __builtin_mul_overflow(rows, side.pointer.pitch, &bytes) ||
                        __builtin_add_overflow(bytes, side.position.x + extent.width, &bytes);
  return too_many ? SIZE_MAX : bytes;
}

void check_side(const Side& side, const hipExtent& extent) {
  const hipPitchedPtr& pointer = side.pointer;
  require(pointer.ptr != nullptr, hipErrorInvalidValue);
  require(pointer.pitch >= pointer.xsize, hipErrorInvalidPitchValue);
  require(pointer.pitch < INT_MAX, hipErrorInvalidValue);
  const bool row_fits =
      extent.width <= pointer.pitch && side.position.x <= pointer.pitch - extent.width;
  require(row_fits, hipErrorInvalidValue);
  const auto allocation = lookup(pointer.ptr);
  const bool inside = !allocation || holds(*allocation, pointer.ptr, span_of(side, extent));
  require(inside, hipErrorInvalidValue);
}

}  // namespace

hipMemoryType memory_type_of(AllocationKind kind) {
  switch (kind) {
    case AllocationKind::Pinned:
    case AllocationKind::Registered: return hipMemoryTypeHost;
    case AllocationKind::Managed:
    case AllocationKind::ManagedVariable: return hipMemoryTypeManaged;
    case AllocationKind::Device:
    case AllocationKind::Pool:
    case AllocationKind::Graph:
    case AllocationKind::Imported:
    case AllocationKind::Code:
    case AllocationKind::Kernarg: return hipMemoryTypeDevice;
  }
  __builtin_unreachable();  // the enumeration has no other member
}

bool is_device_memory(const void* address) { return is_device(lookup(address)); }

CheckedCopy check_copy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  if (bytes == 0) return {};
  require(to != nullptr && from != nullptr, hipErrorInvalidValue);
  require(valid(kind), hipErrorInvalidMemcpyDirection);
  if (to == from && kind == hipMemcpyDefault) return {};
  const auto to_memory = lookup(to);
  const auto from_memory = lookup(from);
  check_direction(to_memory.has_value(), from_memory.has_value(), kind);
  require(!to_memory || holds(*to_memory, to, bytes), hipErrorInvalidValue);
  require(!from_memory || holds(*from_memory, from, bytes), hipErrorInvalidValue);
  return {to,
          from,
          bytes,
          to_memory.has_value(),
          from_memory.has_value(),
          is_device(to_memory) && is_device(from_memory)};
}

MemcpyWork check_copy_node(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  require(bytes != 0, hipErrorInvalidValue);
  const CheckedCopy copy = check_copy(to, from, bytes, kind);
  check_node_direction(copy.to_known, copy.from_known, kind);
  MemcpyWork work;
  work.one_dimensional = true;
  work.parms.dstPtr.ptr = to;
  work.parms.srcPtr.ptr = const_cast<void*>(from);
  work.parms.extent = {bytes, 1, 1};
  work.parms.kind = kind;
  return work;
}

hipMemcpy3DParms region_of_2d(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              hipMemcpyKind kind) {
  hipMemcpy3DParms parms{};
  parms.dstPtr = {to, to_pitch, width, height};
  parms.srcPtr = {const_cast<void*>(from), from_pitch, width, height};
  parms.extent = {width, height, 1};
  parms.kind = kind;
  return parms;
}

MemcpyWork check_copy_region(const hipMemcpy3DParms& parms) {
  const bool arrays = parms.srcArray != nullptr || parms.dstArray != nullptr;
  require(!arrays, hipErrorNotSupported);
  require(valid(parms.kind), hipErrorInvalidMemcpyDirection);
  const hipExtent& extent = parms.extent;
  require(extent.width != 0 && extent.height != 0 && extent.depth != 0, hipErrorInvalidValue);
  check_side({parms.dstPtr, parms.dstPos}, extent);
  check_side({parms.srcPtr, parms.srcPos}, extent);
  check_direction(lookup(parms.dstPtr.ptr).has_value(), lookup(parms.srcPtr.ptr).has_value(),
                  parms.kind);
  return {parms, false};
}

MemsetWork check_fill_node(const hipMemsetParams& parms) {
  const unsigned size = parms.elementSize;
  require(size == 1 || size == 2 || size == 4, hipErrorInvalidValue);
  require(parms.width != 0 && parms.height != 0, hipErrorInvalidValue);
  require(parms.dst != nullptr, hipErrorInvalidValue);
  const auto allocation = lookup(parms.dst);
  require(allocation.has_value(), hipErrorInvalidValue);
  require(parms.width <= SIZE_MAX / parms.elementSize, hipErrorInvalidValue);
  const std::size_t row = parms.width * parms.elementSize;
  require(parms.height == 1 || parms.pitch >= row, hipErrorInvalidValue);
  const bool pitch_fits = parms.height == 1 || parms.height <= SIZE_MAX / parms.pitch;
  require(pitch_fits, hipErrorInvalidValue);
  const std::size_t bytes = parms.height == 1 ? row : parms.height * parms.pitch;
  require(holds(*allocation, parms.dst, bytes), hipErrorInvalidValue);
  return {parms};
}

MemsetWork check_fill_volume(const hipPitchedPtr& to, int value, const hipExtent& extent) {
  require(to.ptr != nullptr && to.pitch >= extent.width, hipErrorInvalidValue);
  const auto allocation = lookup(to.ptr);
  require(allocation.has_value(), hipErrorInvalidValue);
  require(holds(*allocation, to.ptr, span_of({to, hipPos{}}, extent)), hipErrorInvalidValue);
  const hipMemsetParams parms{to.ptr,      1, extent.height, to.pitch, static_cast<unsigned>(value),
                              extent.width};
  return {parms, extent.depth, to.pitch * to.ysize};
}

}  // namespace hipgraph::emu
