#include "service.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "error.h"
#include "text.h"
#include "thread.h"

namespace hipgraph::shmem {
namespace {

constexpr std::chrono::milliseconds kPatience{2000};

Message refusal_of(hgs_status status, const std::string& why) {
  Message message;
  message.kind = MessageKind::Refused;
  message.status = status;
  message.text = "hgs_init: " + why;
  return message;
}

}  // namespace

Service::Service(Socket listener, const UniqueId& id, int n_pes, std::chrono::milliseconds timeout)
    : listener_(std::move(listener)),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      id_(id),
      n_pes_(n_pes),
      timeout_(timeout),
      deadline_(Clock::now() + timeout),
      thread_(start_thread([this] { run(); })) {}

Service::~Service() {
  eventfd_write(stop_.descriptor(), 1);
  thread_.join();
}

void Service::run() {
  for (;;) {
    std::vector<pollfd> watched{{listener_.descriptor(), POLLIN, 0},
                                {stop_.descriptor(), POLLIN, 0}};
    for (const Connection& connection : connections_) {
      watched.push_back({connection.socket.descriptor(), POLLIN, 0});
    }
    poll(watched.data(), watched.size(), milliseconds_to_wait());
    if (watched[1].revents != 0) {
      eventfd_t ignored;
      eventfd_read(stop_.descriptor(), &ignored);
      stopping_ = true;
      deadline_ = Clock::now() + kPatience;
    }
    for (std::size_t i = 2; i < watched.size(); ++i) {
      if (watched[i].revents != 0) read(connections_[i - 2]);
    }
    if (watched[0].revents != 0) accept_newcomers();
    std::erase_if(connections_, [](const Connection& connection) { return connection.closed; });
    check_deadlines();
    if (stopping_ && (parted_ == joined_ || Clock::now() >= deadline_)) return;
  }
}

int Service::milliseconds_to_wait() const {
  std::optional<Clock::time_point> next = calls_.next_deadline();
  const bool joining = !complete() && refusal_.status == HGS_OK;
  if ((joining || stopping_) && (!next || deadline_ < *next)) next = deadline_;
  if (!next) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void Service::accept_newcomers() {
  while (Socket newcomer = accept_from(listener_)) {
    connections_.emplace_back();
    connections_.back().socket = std::move(newcomer);
  }
}

void Service::read(Connection& connection) {
  char buffer[16384];
  try {
    const std::ptrdiff_t count = receive_some(connection.socket, buffer, sizeof buffer);
    if (count > 0) connection.received.append(buffer, static_cast<std::size_t>(count));
    while (!connection.closed) {
      const std::optional<Message> message = take_message(connection.received);
      if (!message) break;
      handle(connection, *message);
    }
    if (count == 0) part(connection, false);
  } catch (const Error&) {
    // What it says cannot be read: it is no PE of ours, or one that broke.
    part(connection, false);
  }
}

void Service::handle(Connection& connection, const Message& message) {
  const bool known = connection.pe >= 0;
  if (!known && message.kind == MessageKind::Hello) {
    join(connection, message.hello);
  } else if (known && message.kind == MessageKind::Gather && message.contributions.size() == 1) {
    send_all(calls_.arrive(connection.pe, message));
  } else if (known && message.kind == MessageKind::Goodbye) {
    part(connection, true);
  } else {
    fail(HGS_FAILED, "unexpected message");
  }
}

void Service::join(Connection& connection, const Hello& hello) {
  const bool stranger = hello.token != id_.token;
  const std::string why = stranger ? "this id is of another job" : objection(hello);
  if (refusal_.status != HGS_OK) return send(connection, refusal_);
  if (!why.empty() && (stranger || complete())) {
    return send(connection, refusal_of(HGS_INVALID, why));
  }
  connection.pe = static_cast<int>(hello.pe);
  connection.process = hello.process;
  if (!why.empty()) return refuse_everybody(HGS_MISMATCH, why);
  joined_ |= bit(connection.pe);
  if (!complete()) return;
  Message welcome;
  welcome.kind = MessageKind::Welcome;
  for (Connection& one : connections_) send(one, welcome);
}

std::string Service::objection(const Hello& hello) const {
  if (hello.protocol != kProtocol) {
    return text("PE ", hello.pe, " speaks version ", hello.protocol, " of the bootstrap, PE 0 ",
                kProtocol, ": use the same release on every PE");
  }
  if (hello.n_pes != static_cast<std::uint32_t>(n_pes_)) {
    return text("PE ", hello.pe, " says that there are ", hello.n_pes, " PEs, PE 0 says ", n_pes_);
  }
  if (hello.pe >= hello.n_pes) return text("PE ", hello.pe, " is not below ", n_pes_);
  const auto twin = std::ranges::find_if(connections_, [&hello](const Connection& connection) {
    return connection.pe == static_cast<int>(hello.pe);
  });
  if (!contains(joined_, static_cast<int>(hello.pe))) return "";
  return text("PE ", hello.pe, " came twice: process ", hello.process,
              twin == connections_.end() ? "" : text(" and process ", twin->process));
}

void Service::part(Connection& connection, bool in_peace) {
  connection.closed = true;
  if (connection.pe < 0 || refusal_.status != HGS_OK) return;
  const std::string who = text("PE ", connection.pe);
  if (!complete()) {
    return refuse_everybody(HGS_PEER_LOST, who + " died or gave up while others joined");
  }
  Message message;
  message.kind = MessageKind::Lost;
  message.pes = bit(connection.pe);
  message.text = in_peace ? who + " left by hgs_finalize"
                          : text(who, " died: process ", connection.process,
                                 " ended, or broke its connection, before hgs_finalize");
  parted_ |= message.pes;
  for (Connection& other : connections_) {
    if (!other.closed) send(other, message);
  }
  send_all(calls_.lose(connection.pe, message.text));
}

/// Whoever comes later gets the same answer.
void Service::refuse_everybody(hgs_status status, const std::string& why) {
  refusal_ = refusal_of(status, why);
  for (Connection& connection : connections_) {
    if (connection.pe >= 0) send(connection, refusal_);
  }
  parted_ = joined_;
}

void Service::check_deadlines() {
  const auto now = Clock::now();
  send_all(calls_.expire(now));
  const std::uint64_t missing = first_pes(n_pes_) & ~joined_;
  if (missing == 0 || refusal_.status != HGS_OK || now < deadline_) return;
  refuse_everybody(HGS_TIMEOUT, text(pes(missing), " of ", n_pes_, " did not come within ",
                                     static_cast<double>(timeout_.count()) / 1000, " s"));
}

void Service::send(Connection& connection, const Message& message) {
  // A PE reads all the time. One that leaves this much unread is stopped or gone.
  if (!shmem::send_all(connection.socket, encode(message))) connection.socket.shut();
}

void Service::send_all(const std::vector<Answer>& answers) {
  for (const Answer& answer : answers) {
    for (Connection& connection : connections_) {
      const bool wanted = connection.pe >= 0 && contains(answer.pes, connection.pe);
      if (wanted && !connection.closed) send(connection, answer.message);
    }
  }
}

}  // namespace hipgraph::shmem
