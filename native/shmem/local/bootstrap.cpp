#include "bootstrap.h"

#include <unistd.h>

#include "error.h"
#include "text.h"
#include "thread.h"

namespace hipgraph::shmem {
namespace {

/// The service times calls and knows who is missing: its answer is worth waiting for a bit more.
constexpr std::chrono::milliseconds kGrace{3000};

struct Waiting {
  std::mutex mutex;
  Socket listener;
  UniqueId id{};
  pid_t process = 0;
  /// A service whose PEs did not come together: it tells those who come too late.
  std::unique_ptr<Service> refusing;
};

/// Lives as long as the process: no destructor runs while a thread may still use it.
Waiting& waiting() {
  static Waiting& only = *new Waiting;
  return only;
}

Socket take_listener(const UniqueId& id) {
  Waiting& kept = waiting();
  const std::lock_guard lock(kept.mutex);
  const bool made_here = kept.id.token == id.token;
  if (made_here && kept.process != getpid()) {
    fail(HGS_INVALID, "id was made before a fork: call hgs_get_uniqueid and hgs_init in the child");
  }
  if (!made_here || !kept.listener) {
    fail(HGS_INVALID, "id was not made in this process, or is used up: PE 0 calls ",
         "hgs_get_uniqueid itself, anew for each hgs_init");
  }
  return std::move(kept.listener);
}

}  // namespace

UniqueId open_bootstrap() {
  Waiting& kept = waiting();
  const std::lock_guard lock(kept.mutex);
  // The parent's threads are not in a forked child: there is nothing to wait for.
  if (kept.process != getpid()) static_cast<void>(kept.refusing.release());
  kept.refusing.reset();
  kept.listener = listen_on_loopback();
  kept.id = make_unique_id(port_of(kept.listener));
  kept.process = getpid();
  return kept.id;
}

Bootstrap::Bootstrap(int pe, int n_pes, const unsigned char* id, std::chrono::milliseconds timeout)
    : pe_(pe), n_pes_(n_pes), timeout_(timeout) {
  if (n_pes_ == 1) return;
  const UniqueId where = read_unique_id(id);
  if (pe_ == 0) {
    service_ = std::make_unique<Service>(take_listener(where), where, n_pes_, timeout_);
  }
  try {
    join(where);
  } catch (...) {
    socket_.shut();
    if (thread_.joinable()) thread_.join();
    const std::lock_guard lock(waiting().mutex);
    if (service_) waiting().refusing = std::move(service_);
    throw;
  }
}

Bootstrap::~Bootstrap() {
  if (n_pes_ == 1) return;
  Message goodbye;
  goodbye.kind = MessageKind::Goodbye;
  send_all(socket_, encode(goodbye));
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kGrace, [this] { return !ended_.empty(); });
  }
  socket_.shut();
  thread_.join();
}

void Bootstrap::join(const UniqueId& id) {
  const auto deadline = Clock::now() + timeout_;
  socket_ = connect_to(id, deadline);
  const std::string seconds = text(static_cast<double>(timeout_.count()) / 1000, " s");
  if (!socket_) {
    fail(HGS_TIMEOUT, "hgs_init: nobody listens where the id says (port ", id.port,
         " of loopback) since ", seconds, ": PE 0 ended, or gave up");
  }
  Message hello;
  hello.hello = {id.token, kProtocol, static_cast<std::uint32_t>(pe_),
                 static_cast<std::uint32_t>(n_pes_), static_cast<std::uint32_t>(getpid())};
  send_all(socket_, encode(hello));
  thread_ = start_thread([this] { receive(); });
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline + kGrace,
                      [this] { return welcome_.kind != MessageKind::Hello || !ended_.empty(); });
  if (welcome_.kind == MessageKind::Refused) fail(welcome_.status, welcome_.text);
  if (!ended_.empty()) fail(HGS_PEER_LOST, "hgs_init: ", ended_);
  if (welcome_.kind == MessageKind::Hello) {
    fail(HGS_TIMEOUT, "hgs_init: PE 0 is not in hgs_init after ", seconds);
  }
}

std::vector<Contribution> Bootstrap::gather(const CallKey& key, Contribution contribution) {
  if ((key.members & (key.members - 1)) == 0) return {std::move(contribution)};
  const std::string label = contribution.label;
  Message call;
  call.kind = MessageKind::Gather;
  call.key = key;
  call.milliseconds = timeout_.count();
  call.contributions.push_back(std::move(contribution));
  {
    const std::lock_guard lock(send_mutex_);
    send_all(socket_, encode(call));
  }
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout_ + kGrace,
                    [&] { return answers_.contains(key) || !ended_.empty(); });
  auto answer = answers_.extract(key);
  if (answer.empty() && !ended_.empty()) fail(HGS_PEER_LOST, label, ": ", ended_);
  if (answer.empty()) fail(HGS_TIMEOUT, label, ": PE 0's process does not answer; is it stopped?");
  Message& message = answer.mapped();
  if (message.kind == MessageKind::Failed) fail(message.status, message.text);
  return std::move(message.contributions);
}

PeMask Bootstrap::lost() {
  const std::lock_guard lock(mutex_);
  PeMask mask = 0;
  for (const auto& [pe, why] : lost_) mask |= bit(pe);
  return mask;
}

std::string Bootstrap::lost_text(PeMask pes) {
  const std::lock_guard lock(mutex_);
  for (const auto& [pe, why] : lost_) {
    if (contains(pes, pe)) return why;
  }
  return "";
}

void Bootstrap::receive() {
  char buffer[16384];
  std::string received;
  try {
    for (;;) {
      const std::ptrdiff_t count = receive_some(socket_, buffer, sizeof buffer);
      if (count <= 0) break;
      received.append(buffer, static_cast<std::size_t>(count));
      while (std::optional<Message> message = take_message(received)) take(std::move(*message));
    }
    end("PE 0 died or left: its connection ended");
  } catch (const Error& error) {
    end(error.text);
  }
}

void Bootstrap::take(Message message) {
  const std::lock_guard lock(mutex_);
  switch (message.kind) {
    case MessageKind::Welcome:
    case MessageKind::Refused: welcome_ = std::move(message); break;
    case MessageKind::Gathered:
    case MessageKind::Failed: answers_[message.key] = std::move(message); break;
    case MessageKind::Lost:
      for (int pe = 0; pe < n_pes_; ++pe) {
        if (contains(message.pes, pe)) lost_[pe] = message.text;
      }
      break;
    case MessageKind::Hello:
    case MessageKind::Gather:
    case MessageKind::Goodbye: fail(HGS_FAILED, "the service of PE 0 sent what only PEs send");
  }
  changed_.notify_all();
}

void Bootstrap::end(const std::string& why) {
  const std::lock_guard lock(mutex_);
  ended_ = why;
  lost_.try_emplace(0, why);
  changed_.notify_all();
}

}  // namespace hipgraph::shmem
