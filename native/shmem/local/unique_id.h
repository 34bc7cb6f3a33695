#pragma once
#include <array>
#include <cstdint>

#include "rocshmem_c.h"

namespace hipgraph::shmem {

/// What PE 0 makes and every PE gets: how to find PE 0, and a secret that keeps strangers out.
struct UniqueId {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint16_t family;  ///< of the address: AF_INET
  std::uint16_t port;
  std::array<std::uint8_t, 16> token;
  std::array<std::uint8_t, 16> address;  ///< in network order
  std::array<std::uint8_t, 80> unused;
};
static_assert(sizeof(UniqueId) == HGS_UNIQUE_ID_BYTES);

/// An id with a fresh token, for a listener on loopback.
UniqueId make_unique_id(std::uint16_t port);
/// The id in these bytes; refuses what another library or another release made.
UniqueId read_unique_id(const unsigned char* bytes);

}  // namespace hipgraph::shmem
