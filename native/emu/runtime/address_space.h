#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine/memory.h"

namespace hipgraph::emu {

/// What an allocation is; hipPointerGetAttributes and copy checks need it.
enum class AllocationKind : std::uint8_t {
  Device,
  Pool,      ///< of a memory pool, handed out and taken back in stream order
  Graph,     ///< of a graph's allocation node
  Imported,  ///< device memory of another process
  Pinned,
  Managed,
  ManagedVariable,  ///< of a program or module
  Registered,
  Code,
  Kernarg,
};

/// One live allocation.
struct Allocation {
  std::uint64_t base = 0;
  std::size_t bytes = 0;
  AllocationKind kind = AllocationKind::Device;
  int device = 0;
  std::uint64_t number = 0;  ///< "hipMalloc call 12": ordinal of the allocation, from 1
  unsigned flags = 0;        ///< allocation flags as the API got them
};

/// Every piece of memory that kernels and copies may touch: a reserved arena with guard gaps, so
/// that out-of-bounds and use-after-free accesses are found and named. Freed blocks are quarantined
/// and poisoned. Thread safe.
class AddressSpace final : public Memory {
 public:
  static AddressSpace& instance();

  /// New device/pinned/managed memory, 256-byte aligned, contents poisoned; nullopt when the
  /// device's memory (its reported total) is used up.
  std::optional<Allocation> allocate(std::size_t bytes, AllocationKind kind, int device,
                                     unsigned flags = 0);
  /// Takes memory of the host's own into the space (hipHostRegister); false when it overlaps.
  bool adopt(void* host, std::size_t bytes, AllocationKind kind, int device, unsigned flags);
  /// Lets other processes map the device allocation that starts at `base`; the descriptor of the
  /// file that holds it from now on, or -1. Only while nothing writes there.
  int share(std::uint64_t base);
  /// Takes the file behind another process's allocation into the space; nullopt when it has no
  /// room.
  std::optional<Allocation> import(int file, std::size_t bytes, int device);
  /// Whether this process ever shared memory with another one.
  bool shares() const;
  /// Addresses for an allocation of a pool or a graph, with no memory behind them yet. The caller
  /// charges the device for memory that it keeps.
  std::optional<Allocation> reserve(std::size_t bytes, AllocationKind kind, int device);
  /// Puts memory behind the reserved addresses from `base` on, of which the first `bytes` count;
  /// their system pages are as many as when they were reserved. What a pool hands out anew is a new
  /// allocation, what a graph does is the same one.
  Allocation commit(std::uint64_t base, std::size_t bytes);
  /// Takes the memory away again: touching it from now on is a fault.
  void retire(std::uint64_t base);
  /// Takes device memory for a pool; false when there is not enough.
  bool charge(int device, std::size_t bytes);
  void refund(int device, std::size_t bytes);
  /// Frees the allocation that starts at `base`; false when there is none.
  bool release(std::uint64_t base);
  /// Every live allocation of a device.
  std::vector<Allocation> live(int device) const;
  /// The live allocation holding `address` (interior pointers too).
  std::optional<Allocation> lookup(std::uint64_t address) const;
  /// Bytes of device memory in use and in total on a device (hipMemGetInfo).
  std::size_t used_bytes(int device) const;
  std::size_t total_bytes(int device) const;
  /// The last writer noted for the dword at `address`, if any.
  std::optional<Writer> last_writer(std::uint64_t address) const;
  /// The launch (0: the host or a copy) that wrote the dword at `address` before the last writer's
  /// launch did, if any.
  std::optional<std::uint64_t> launch_before(std::uint64_t address) const;
  /// "hipMalloc 12 (4096 bytes at 0x...), offset 16" or what is nearest, for reports.
  std::string describe(std::uint64_t address, std::uint64_t bytes) const override;

  Range find(std::uint64_t address) const override;
  std::uint64_t generation() const override;
  void note_write(std::uint64_t address, std::uint32_t bytes, const Writer& writer) override;

  /// Whether a copy may touch these bytes: they are host memory, or all in one live allocation.
  bool may_copy(std::uint64_t address, std::size_t bytes) const;
  /// Notes that the host or a copy wrote these bytes.
  void note_host_write(std::uint64_t address, std::size_t bytes);
  /// Whether the host or a copy ever wrote in the neighbourhood of `address` (a hull, not exact).
  bool host_written(std::uint64_t address) const;
  /// Lets kernels write [begin, end) of the code allocation at `base`; code starts out read-only.
  void set_writable(std::uint64_t base, std::uint64_t begin, std::uint64_t end);
  /// Address of memory that nothing may touch; a fault there is described by `label`.
  std::uint64_t guard(const char* label);

 private:
  AddressSpace();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hipgraph::emu
