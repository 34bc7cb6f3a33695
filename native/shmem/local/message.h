#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pe_mask.h"
#include "rocshmem_c.h"

namespace hipgraph::shmem {

/// Of what the PEs and the service of PE 0 say to each other; another number is another language.
constexpr std::uint32_t kProtocol = 1;

/// What one PE brings to a collective call: the call in words, and bytes for the others.
struct Contribution {
  std::string label;
  std::string data;
};

/// Which collective call of which PEs: the same on all of them.
struct CallKey {
  PeMask members = 0;          ///< bit i: PE i takes part
  std::uint32_t serial = 0;    ///< of the team among those with these members
  std::uint32_t sequence = 0;  ///< of the call in the team
  auto operator<=>(const CallKey&) const = default;
};

/// The first words of a connection.
struct Hello {
  std::array<std::uint8_t, 16> token;
  std::uint32_t protocol, pe, n_pes, process;
};

enum class MessageKind : std::uint8_t {
  Hello,     ///< PE to service
  Welcome,   ///< service to PE: everybody is here
  Refused,   ///< service to PE: there will be no world; status and text
  Gather,    ///< PE to service: its contribution, and how long to wait for the others'
  Gathered,  ///< service to PE: all contributions, by PE
  Failed,    ///< service to PE: the call will not complete; status and text
  Lost,      ///< service to PE: another PE died or left, and text
  Goodbye,   ///< PE to service: it leaves in peace
};

/// One message; each kind uses some of the fields.
struct Message {
  MessageKind kind = MessageKind::Hello;
  Hello hello{};
  CallKey key;
  std::int64_t milliseconds = 0;
  hgs_status status = HGS_OK;
  PeMask pes = 0;
  std::string text;
  std::vector<Contribution> contributions;
};

/// The message as bytes, with its length in front.
std::string encode(const Message& message);
/// Takes the first whole message out of `received`; nothing if there is none yet.
std::optional<Message> take_message(std::string& received);

}  // namespace hipgraph::shmem
