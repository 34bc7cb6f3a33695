#pragma once
#include <cstddef>

#include "hip.h"

namespace hipgraph::shmem {

/// The provider's own order of work on the device that was current at its creation. It never waits
/// for the null stream or for another one, so other threads may capture meanwhile.
class InternalStream {
 public:
  InternalStream();
  ~InternalStream();
  InternalStream(const InternalStream&) = delete;
  InternalStream& operator=(const InternalStream&) = delete;

  int device() const { return device_; }
  hipStream_t handle() const { return stream_; }

  /// Begins a copy between any two memories.
  void copy(void* target, const void* source, std::size_t bytes) const;
  /// Begins to fill device memory.
  void fill(void* target, int value, std::size_t bytes) const;
  /// Waits for all that was begun.
  void wait() const;

 private:
  int device_ = 0;
  hipStream_t stream_ = nullptr;
};

}  // namespace hipgraph::shmem
