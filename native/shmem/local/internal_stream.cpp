#include "internal_stream.h"

namespace hipgraph::shmem {

InternalStream::InternalStream() {
  const RelaxedCapture relaxed;
  hip().get_device(&device_);
  hip().stream_create(&stream_, hipStreamNonBlocking);
}

InternalStream::~InternalStream() { hip().stream_destroy.code(stream_); }

void InternalStream::copy(void* target, const void* source, std::size_t bytes) const {
  if (bytes == 0) return;
  const CurrentDevice current(device_);
  const RelaxedCapture relaxed;
  hip().copy(target, source, bytes, hipMemcpyDefault, stream_);
}

void InternalStream::fill(void* target, int value, std::size_t bytes) const {
  const CurrentDevice current(device_);
  const RelaxedCapture relaxed;
  hip().fill(target, value, bytes, stream_);
}

void InternalStream::wait() const {
  const CurrentDevice current(device_);
  const RelaxedCapture relaxed;
  hip().stream_synchronize(stream_);
}

}  // namespace hipgraph::shmem
