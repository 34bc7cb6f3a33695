#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "hip.h"
#include "hipgraph_shmem/device_state.h"

namespace hipgraph::shmem {

/// One block of device memory on each PE, all of them mapped here.
class PeerMemory {
 public:
  PeerMemory(int pe, std::size_t bytes);
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  std::size_t bytes() const { return bytes_; }
  /// PE `pe`'s block, or null before it was opened.
  char* base(int pe) const { return bases_[static_cast<std::size_t>(pe)]; }
  char* own() const { return base(pe_); }

  /// What another PE needs to open this one's block.
  std::string handle() const;
  /// Maps the others' blocks, by PE.
  void open(const std::vector<std::string>& handles);
  /// Unmaps them, all in any case; then throws if that failed.
  void close();

 private:
  hipError_t unmap();

  int pe_;
  std::size_t bytes_;
  std::array<char*, HGS_MAX_PES> bases_{};
};

}  // namespace hipgraph::shmem
