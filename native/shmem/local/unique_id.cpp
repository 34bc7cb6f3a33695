#include "unique_id.h"

#include <sys/random.h>
#include <sys/socket.h>

#include <cstring>

#include "error.h"

namespace hipgraph::shmem {
namespace {

constexpr std::uint64_t kMagic = 0x6c61636f6c736768;  // "hgslocal"
constexpr std::uint32_t kVersion = 1;

}  // namespace

UniqueId make_unique_id(std::uint16_t port) {
  UniqueId id{};
  id.magic = kMagic;
  id.version = kVersion;
  id.family = AF_INET;
  id.port = port;
  id.address = {127, 0, 0, 1};
  if (getrandom(id.token.data(), id.token.size(), 0) != static_cast<ssize_t>(id.token.size())) {
    fail(HGS_FAILED, "getrandom gave no token for the unique id");
  }
  return id;
}

UniqueId read_unique_id(const unsigned char* bytes) {
  if (bytes == nullptr) fail(HGS_INVALID, "id is null: pass what hgs_get_uniqueid made on PE 0");
  UniqueId id;
  std::memcpy(&id, bytes, sizeof id);
  if (id.magic != kMagic || id.family != AF_INET) {
    fail(HGS_INVALID, "id was not made by the local provider: make it with hgs_get_uniqueid");
  }
  if (id.version != kVersion) {
    fail(HGS_INVALID, "id has layout version ", id.version, ", this library reads ", kVersion,
         ": use the same release on every PE");
  }
  return id;
}

}  // namespace hipgraph::shmem
