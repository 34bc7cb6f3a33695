#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "hip_abi.h"
#include "memory_types.h"
#include "runtime/address_space.h"

namespace hipgraph::emu {

/// Device memory that is handed out and taken back in stream order. What was taken back stays with
/// the pool, charged to the device, until it is released. Thread safe: memory comes back on the
/// executor's thread.
class MemoryPool {
 public:
  /// `most_bytes` is the limit of what the pool may hold, 0 for none.
  MemoryPool(int device, std::size_t most_bytes);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Memory for work of `stream`: preferably what the pool has, of that stream or, where reuse may
  /// be opportunistic, of any other.
  std::optional<Allocation> allocate(std::size_t bytes, hipStream_t stream);
  /// Takes back what starts at `base`; the work of `stream` before now was the last to use it.
  void take_back(std::uint64_t base, hipStream_t stream);
  /// Takes back what is handed out, and releases everything.
  void take_back_all();
  /// Releases what nobody uses, oldest first, until no more than `keep` bytes of it are left.
  void trim(std::size_t keep);
  /// The same, down to the release threshold: what HIP does whenever the host waits.
  void trim_to_threshold();

  /// Writes an attribute; an int for the reuse attributes, 64 bits for the others.
  void get(hipMemPoolAttr attribute, void* value) const;
  void set(hipMemPoolAttr attribute, const void* value);
  /// Which access a device has.
  hipMemAccessFlags access(int device) const;
  void set_access(int device, hipMemAccessFlags flags);
  int device() const { return device_; }

  hipMemPool_t handle = nullptr;

 private:
  struct Chunk {
    std::uint64_t base;
    std::size_t bytes;
    hipStream_t stream;
  };
  using Lock = std::lock_guard<std::mutex>;

  std::optional<Chunk> reuse(std::size_t bytes, hipStream_t stream);
  std::optional<Chunk> make(std::size_t bytes, hipStream_t stream);
  void release_until(std::size_t keep);
  std::size_t reserved() const { return used_ + unused_; }

  const int device_;
  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::size_t> handed_out_;  ///< whole pages by address
  std::vector<Chunk> free_;                          ///< oldest first
  std::map<int, hipMemAccessFlags> access_;
  std::size_t used_ = 0, used_high_ = 0, unused_ = 0, reserved_high_ = 0;
  std::uint64_t release_threshold_ = 0;
  int follow_events_ = 1, opportunistic_ = 1, internal_dependencies_ = 1;
};
using MemoryPoolPtr = std::shared_ptr<MemoryPool>;

}  // namespace hipgraph::emu
