#include "runtime/peer_access.h"

#include <set>
#include <utility>

#include "entry.h"
#include "runtime/device.h"

namespace hipgraph::emu {
namespace {

/// Pairs of device and peer.
std::set<std::pair<int, int>>& enabled() {
  static auto& pairs = *new std::set<std::pair<int, int>>();
  return pairs;
}

void require_accessible(int device, int peer) {
  abi::require(can_access_peer(device, peer), hipErrorInvalidDevice);
}

}  // namespace

bool can_access_peer(int device, int peer) {
  check_device(device);
  check_device(peer);
  return device != peer;
}

void enable_peer_access(int device, int peer) {
  require_accessible(device, peer);
  abi::require(enabled().emplace(device, peer).second, hipErrorPeerAccessAlreadyEnabled);
}

void disable_peer_access(int device, int peer) {
  require_accessible(device, peer);
  abi::require(enabled().erase({device, peer}) == 1, hipErrorPeerAccessNotEnabled);
}

}  // namespace hipgraph::emu
