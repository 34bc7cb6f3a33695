#include "api/api.h"
#include "runtime/peer_access.h"

using namespace hipgraph::emu;

HIPGRAPH_API hipError_t hipDeviceCanAccessPeer(int* can_access, int device, int peer) {
  return entry([&] { *required(can_access) = can_access_peer(device, peer) ? 1 : 0; });
}

HIPGRAPH_API hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return entry([&] {
    require(flags == 0, hipErrorInvalidValue);
    const ApiLock lock;
    enable_peer_access(this_thread().device, peer);
  });
}

HIPGRAPH_API hipError_t hipDeviceDisablePeerAccess(int peer) {
  return entry([&] {
    const ApiLock lock;
    disable_peer_access(this_thread().device, peer);
  });
}
