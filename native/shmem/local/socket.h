#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "unique_id.h"

namespace hipgraph::shmem {

using Clock = std::chrono::steady_clock;

/// A file descriptor that is closed with its owner, and at once in a forked child: one that lives
/// longer than its parent would hide the parent's death from the other end.
class Socket {
 public:
  explicit Socket(int descriptor = -1);
  Socket(Socket&& other) noexcept : Socket() { *this = std::move(other); }
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket();

  int descriptor() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  /// Ends the connection both ways: who reads it sees its end.
  void shut() const;
  /// Closes the descriptor of this process; the connection lives on in others that have it.
  void close();

 private:
  int descriptor_;
};

/// A listener on a free port of loopback.
Socket listen_on_loopback();
std::uint16_t port_of(const Socket& listener);
/// The next newcomer, whose calls do not block; nothing if there is none.
Socket accept_from(const Socket& listener);
/// A connection to where the id says; tries until the deadline, then gives nothing.
Socket connect_to(const UniqueId& id, Clock::time_point deadline);

/// Whether all bytes could be handed over. A socket that does not block refuses instead of waiting.
bool send_all(const Socket& socket, std::string_view bytes);
/// Bytes received into `buffer`, waiting for the first: 0 at the end or failure of the connection,
/// -1 if a socket that does not block has none yet.
std::ptrdiff_t receive_some(const Socket& socket, char* buffer, std::size_t capacity);

}  // namespace hipgraph::shmem
