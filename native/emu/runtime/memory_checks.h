#pragma once
#include <cstddef>
#include <cstdint>

#include "hip_abi.h"
#include "runtime/address_space.h"
#include "runtime/node_work.h"

namespace hipgraph::emu {

/// A copy of bytes that passed the checks.
struct CheckedCopy {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;  ///< 0: nothing to do
  bool to_known = false;  ///< an allocation of this library
  bool from_known = false;
  bool on_device = false;  ///< both sides are device memory
};

/// Checks a copy as the copy calls do: pointers, kind, direction, ends of the allocations.
CheckedCopy check_copy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind);
/// The same for a node or a recorded copy, where no bytes are an error and the kind must agree with
/// the pointers.
MemcpyWork check_copy_node(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind);
/// Checks a pitched copy (one slice of 2-D ones) for a node or an eager call.
MemcpyWork check_copy_region(const hipMemcpy3DParms& parms);
/// Parameters of a 2-D copy as a pitched copy.
hipMemcpy3DParms region_of_2d(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              hipMemcpyKind kind);
/// Checks a fill that may be 2-D, for a node or a recorded call.
MemsetWork check_fill_node(const hipMemsetParams& parms);
/// Checks a fill of a box of bytes, which must not be empty.
MemsetWork check_fill_volume(const hipPitchedPtr& to, int value, const hipExtent& extent);
/// Whether `address` lies in device memory of this library.
bool is_device_memory(const void* address);
/// What HIP calls memory of this kind.
hipMemoryType memory_type_of(AllocationKind kind);

}  // namespace hipgraph::emu
