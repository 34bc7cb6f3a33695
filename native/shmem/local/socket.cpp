#include "socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "error.h"

namespace hipgraph::shmem {
namespace {

constexpr std::chrono::milliseconds kRetry{20};

/// All sockets of the process, for a forked child to close.
struct Sockets {
  std::mutex mutex;
  std::set<Socket*> all;
};

void before_fork();
void after_fork_in_parent();
void after_fork_in_child();

/// Lives as long as the process: no destructor runs while a thread may still use it.
Sockets& sockets() {
  static Sockets& only = *[] {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    return new Sockets;
  }();
  return only;
}

void before_fork() { sockets().mutex.lock(); }
void after_fork_in_parent() { sockets().mutex.unlock(); }
void after_fork_in_child() {
  for (Socket* socket : sockets().all) socket->close();
  sockets().mutex.unlock();
}

void set_option(int descriptor, int level, int option, int value) {
  setsockopt(descriptor, level, option, &value, sizeof value);
}

/// Messages leave at once, and a peer whose host vanished is noticed within seconds.
void set_up(const Socket& socket) {
  set_option(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket.descriptor(), SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket.descriptor(), IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set_option(socket.descriptor(), IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set_option(socket.descriptor(), IPPROTO_TCP, TCP_KEEPCNT, 2);
}

sockaddr_in address_of(const UniqueId& id) {
  sockaddr_in address{};
  address.sin_family = id.family;
  address.sin_port = htons(id.port);
  std::memcpy(&address.sin_addr, id.address.data(), sizeof address.sin_addr);
  return address;
}

}  // namespace

Socket::Socket(int descriptor) : descriptor_(descriptor) {
  const std::lock_guard lock(sockets().mutex);
  sockets().all.insert(this);
}

Socket::~Socket() {
  const std::lock_guard lock(sockets().mutex);
  sockets().all.erase(this);
  close();
}

void Socket::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void Socket::shut() const { shutdown(descriptor_, SHUT_RDWR); }

Socket listen_on_loopback() {
  Socket listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!listener ||
      bind(listener.descriptor(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.descriptor(), 128) != 0) {
    fail(HGS_FAILED, "cannot listen on loopback: ", std::strerror(errno));
  }
  return listener;
}

std::uint16_t port_of(const Socket& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(listener.descriptor(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

Socket accept_from(const Socket& listener) {
  Socket newcomer(accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (newcomer) set_up(newcomer);
  return newcomer;
}

Socket connect_to(const UniqueId& id, Clock::time_point deadline) {
  sockaddr_in address = address_of(id);
  do {
    Socket made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (made &&
        connect(made.descriptor(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
      set_up(made);
      return made;
    }
    std::this_thread::sleep_for(kRetry);
  } while (Clock::now() < deadline);
  return Socket();
}

bool send_all(const Socket& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::ptrdiff_t receive_some(const Socket& socket, char* buffer, std::size_t capacity) {
  for (;;) {
    const ssize_t received = recv(socket.descriptor(), buffer, capacity, 0);
    if (received >= 0) return received;
    if (errno == EAGAIN) return -1;
    if (errno != EINTR) return 0;
  }
}

}  // namespace hipgraph::shmem
