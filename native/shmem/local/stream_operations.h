#pragma once
#include <cstddef>
#include <cstdint>

#include "world.h"

namespace hipgraph::shmem {

constexpr int kSignalSet = 0, kSignalAdd = 1;  ///< rocSHMEM's numbers

/// Work that one PE puts on a stream of the user's, or records where it captures. Nothing of it
/// waits on the host, and nothing that changes from launch to launch is frozen into a node.
class StreamOperations {
 public:
  /// Refuses the streams that cannot be captured.
  StreamOperations(World& world, void* stream);

  void put(void* target, const void* source, std::size_t bytes, int pe);
  void get(void* target, const void* source, std::size_t bytes, int pe);
  void put_signal(void* target, const void* source, std::size_t bytes, std::uint64_t* signal,
                  std::uint64_t value, int operation, int pe);
  void signal(std::uint64_t* signal, std::uint64_t value, int operation, int pe);
  void wait_until(const std::uint64_t* signal, int comparison, std::uint64_t value);
  void quiet();
  void barrier(const Team& team);

  void alltoall(const Team& team, void* target, const void* source, std::size_t bytes);
  void broadcast(const Team& team, void* target, const void* source, std::size_t bytes, int root);
  void reduce(const Team& team, Reduction reduction, Element element, void* target,
              const void* source, int count);

 private:
  void copy(void* target, const void* source, std::size_t bytes);

  World& world_;
  hipStream_t stream_;
  CurrentDevice current_;
};

}  // namespace hipgraph::shmem
