#pragma once
#include <cstdint>
#include <string>

#include "runtime/dispatch.h"

namespace hipgraph::emu {

/// Memory that one launch reads its arguments and its dispatch packet from; freed with it.
class LaunchMemory {
 public:
  /// Fills in the explicit and the hidden arguments and the packet. Throws LoadError for what
  /// cannot be had: memory, or a hidden argument of unknown kind.
  explicit LaunchMemory(const LaunchRequest& request);
  ~LaunchMemory();
  LaunchMemory(const LaunchMemory&) = delete;
  LaunchMemory& operator=(const LaunchMemory&) = delete;

  /// Address of the kernarg segment.
  std::uint64_t kernarg() const { return kernarg_; }
  /// Address of the dispatch packet.
  std::uint64_t packet() const { return packet_; }

 private:
  std::uint64_t kernarg_ = 0, packet_ = 0;
};

/// Address of memory that stands for a part of the machine which this device does not have; a
/// kernel that touches it faults, and the fault names the part.
std::uint64_t absent_part(const char* name);

}  // namespace hipgraph::emu
