#pragma once

namespace hipgraph::emu {

/// Which devices of the process were given access to which others' memory. All of them have it
/// anyway, since devices share one address space: what is kept is what programs are told. Throws
/// HIP's code; needs the API lock.

/// Whether `device` may be given access to the memory of `peer`: any other device may.
bool can_access_peer(int device, int peer);
void enable_peer_access(int device, int peer);
void disable_peer_access(int device, int peer);

}  // namespace hipgraph::emu
