#include "runtime/executor.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/address_space.h"
#include "runtime/host_function.h"
#include "runtime/memory_operations.h"
#include "runtime/race_check.h"
#include "runtime/scheduler.h"
#include "runtime/status.h"

namespace hipgraph::emu {
namespace {

using Clock = std::chrono::steady_clock;

// How long a proven standstill may last while a host thread could still end it by a call.
constexpr std::chrono::seconds grace{2};
// The same when the host could end it by a plain store to memory that it shares with the device.
constexpr std::chrono::seconds shared_memory_grace{10};
// How often a standstill is looked at again meanwhile.
constexpr std::chrono::milliseconds grace_step{10};

// Rounds that kernels may wait for another process before the thread sleeps between rounds, and
// for how long it does: first so briefly that a quick answer is seen at once, then longer.
constexpr unsigned wakeful_rounds = 16;
constexpr std::chrono::microseconds first_nap{10}, longest_nap{200};

thread_local bool is_executor = false;

/// What waits for a value keeps the executor looking, as a waiting kernel does.
Outlook with_value_waits(Outlook outlook) {
  const bool waits = ValueWaits::instance().poll();
  if (!waits || outlook != Outlook::Idle) return outlook;
  return AddressSpace::instance().shares() ? Outlook::Waiting : Outlook::Stuck;
}

}  // namespace

struct Executor::State {
  std::mutex mutex;              ///< guards all below and the private part of every Command
  std::condition_variable work;  ///< a command became ready, or a host thread began to wait
  std::condition_variable completed;
  std::deque<CommandPtr> ready;
  std::uint64_t failures = 0;
  std::ptrdiff_t known_threads = 0;     ///< host threads that used the device and have not ended
  std::vector<const Command*> awaited;  ///< by those of them that are in wait()
  // Used by the executor's thread only.
  std::uint64_t standstill_effects = 0;  ///< effects before the latest standstill
  Clock::time_point standstill_since;
  std::uint64_t waiting_effects = 0;  ///< effects before the kernels began to wait for others
  unsigned waiting_rounds = 0;
  std::chrono::microseconds nap{};

  void know_this_thread();
  void link(const CommandPtr& command, std::span<const CommandPtr> after);
  void complete(const CommandPtr& command, std::vector<CommandPtr>& done);
  void inherit(Command& dependent, const Command& command);
  void make_ready(const CommandPtr& command, std::vector<CommandPtr>& done);
  void release_dependents(Command& command, std::vector<CommandPtr>& next);
  void start(const CommandPtr& command);
  bool host_could_help();
  void sit_out_standstill();
  bool standstill_is_final(Clock::time_point now);
  void wait_for_other_process();
  [[noreturn]] void run();
};

/// Counts the calling host thread as one that uses the device, until it ends. The main thread ends
/// with the process: nobody is left then to be told of a standstill.
void Executor::State::know_this_thread() {
  struct Known {
    explicit Known(State& executor) : state(executor) { count(1); }
    ~Known() {
      if (syscall(SYS_gettid) != getpid()) count(-1);
    }
    Known(const Known&) = delete;
    Known& operator=(const Known&) = delete;
    void count(std::ptrdiff_t change) const {
      const std::lock_guard lock(state.mutex);
      state.known_threads += change;
    }
    State& state;
  };
  if (is_executor) return;
  static thread_local const Known known(*this);
}

/// A failure travels to whatever depends on the command, whether submitted before or after it.
void Executor::State::inherit(Command& dependent, const Command& command) {
  if (command.failure_ == 0 || dependent.failure_ != 0) return;
  dependent.failure_ = command.failure_;
  dependent.status_ = command.status_;
}

/// Makes `command` wait for those of `after` that are not complete.
void Executor::State::link(const CommandPtr& command, std::span<const CommandPtr> after) {
  for (const CommandPtr& before : after) {
    if (before->complete_) {
      inherit(*command, *before);
      continue;
    }
    before->dependents_.push_back(command);
    ++command->waits_for_;
  }
}

/// Hands over the dependents of a command that completed: those that may run become ready, those
/// that inherit its failure and wait for nothing else go to `next`.
void Executor::State::release_dependents(Command& command, std::vector<CommandPtr>& next) {
  for (CommandPtr& dependent : std::exchange(command.dependents_, {})) {
    inherit(*dependent, command);
    if (--dependent->waits_for_ != 0) continue;
    if (dependent->failure_ != 0) {
      next.push_back(std::move(dependent));
    } else {
      ready.push_back(std::move(dependent));
    }
  }
}

/// Completes `command` and whatever fails with it. The caller destroys `done` after unlocking:
/// the last owner of a command may run code of others.
void Executor::State::complete(const CommandPtr& command, std::vector<CommandPtr>& done) {
  RaceCheck* const check = RaceCheck::active();
  if (check != nullptr && check->end(*command)) command->status_ = status::launch_failure;
  const bool fresh = command->status_ != status::success && command->failure_ == 0;
  if (fresh) command->failure_ = ++failures;
  done.push_back(command);
  for (std::size_t i = 0; i < done.size(); ++i) {
    Command& next = *done[i];
    if (check != nullptr && i != 0) check->end(next);
    next.complete_ = true;
    release_dependents(next, done);
  }
  completed.notify_all();
  if (!ready.empty()) work.notify_one();
}

/// Queues a newly linked command that waits for nothing, or completes it if it failed already.
void Executor::State::make_ready(const CommandPtr& command, std::vector<CommandPtr>& done) {
  if (command->waits_for_ != 0 || command->complete_) return;
  if (command->failure_ != 0) {
    complete(command, done);
  } else {
    ready.push_back(command);
  }
}

void Executor::State::start(const CommandPtr& command) {
  if (RaceCheck* check = RaceCheck::active()) check->begin(*command);
  if (command->start() == Progress::Running) return;
  std::vector<CommandPtr> done;
  const std::lock_guard lock(mutex);
  complete(command, done);
}

/// Whether a host thread is free, or will be as soon as it notices that its command is complete.
bool Executor::State::host_could_help() {
  const auto blocked = std::count_if(awaited.begin(), awaited.end(),
                                     [](const Command* command) { return !command->complete_; });
  return known_threads > blocked || host_functions_in_flight() > 0;
}

/// Whether waiting any longer for the host is hopeless.
bool Executor::State::standstill_is_final(Clock::time_point now) {
  const std::uint64_t effects = Scheduler::instance().effects();
  if (effects != standstill_effects) {
    standstill_effects = effects;
    standstill_since = now;
  }
  if (!host_could_help()) return true;
  const bool shared =
      Scheduler::instance().awaits_host_memory() || ValueWaits::instance().awaits_host_memory();
  return now - standstill_since >= (shared ? shared_memory_grace : grace);
}

/// Nothing on the device can change anything: waits a moment for the host to do so, or gives up.
void Executor::State::sit_out_standstill() {
  std::unique_lock lock(mutex);
  if (!ready.empty()) return;
  if (!standstill_is_final(Clock::now())) {
    work.wait_for(lock, grace_step);
    return;
  }
  lock.unlock();
  Scheduler::instance().abandon();
  ValueWaits::instance().abandon();
}

/// Kernels only look at memory that another process may write: lets that one have the processor.
void Executor::State::wait_for_other_process() {
  const std::uint64_t effects = Scheduler::instance().effects();
  if (effects != waiting_effects) {
    waiting_effects = effects;
    waiting_rounds = 0;
    nap = first_nap;
  }
  if (++waiting_rounds <= wakeful_rounds) return;
  std::unique_lock lock(mutex);
  if (ready.empty()) work.wait_for(lock, nap);
  nap = std::min(2 * nap, longest_nap);
}

void Executor::State::run() {
  is_executor = true;
  Scheduler& scheduler = Scheduler::instance();
  Outlook outlook = Outlook::Idle;
  for (;;) {
    std::deque<CommandPtr> batch;
    {
      std::unique_lock lock(mutex);
      if (outlook == Outlook::Idle) work.wait(lock, [this] { return !ready.empty(); });
      batch.swap(ready);
    }
    for (CommandPtr& command : batch) start(std::exchange(command, nullptr));
    if (!batch.empty()) scheduler.note_effect();
    outlook = with_value_waits(scheduler.round());
    if (outlook == Outlook::Waiting) wait_for_other_process();
    if (outlook == Outlook::Stuck) sit_out_standstill();
  }
}

Executor& Executor::instance() {
  static Executor& executor = *new Executor();
  return executor;
}

Executor::Executor() : state_(std::make_unique<State>()) {
  std::thread([state = state_.get()] { state->run(); }).detach();
}

void Executor::submit(const CommandPtr& command, std::span<const CommandPtr> after) {
  State& state = *state_;
  state.know_this_thread();
  std::vector<CommandPtr> done;
  const std::lock_guard lock(state.mutex);
  state.link(command, after);
  state.make_ready(command, done);
  if (!state.ready.empty()) state.work.notify_one();
}

void Executor::submit_all(std::span<const CommandPtr> commands,
                          std::span<const std::vector<CommandPtr>> after) {
  State& state = *state_;
  state.know_this_thread();
  std::vector<CommandPtr> done;
  const std::lock_guard lock(state.mutex);
  for (std::size_t i = 0; i < commands.size(); ++i) state.link(commands[i], after[i]);
  for (const CommandPtr& command : commands) state.make_ready(command, done);
  if (!state.ready.empty()) state.work.notify_one();
}

Status Executor::wait(const CommandPtr& command) {
  State& state = *state_;
  state.know_this_thread();
  std::unique_lock lock(state.mutex);
  if (!command->complete_) {
    state.awaited.push_back(command.get());
    state.work.notify_one();  // a standstill may now be hopeless
    state.completed.wait(lock, [&command] { return command->complete_; });
    state.awaited.erase(std::find(state.awaited.begin(), state.awaited.end(), command.get()));
  }
  if (RaceCheck* check = RaceCheck::active()) check->host_learns(*command);
  return command->status_;
}

bool Executor::complete(const CommandPtr& command) {
  State& state = *state_;
  state.know_this_thread();
  const std::lock_guard lock(state.mutex);
  return command->complete_;
}

bool Executor::precedes(const CommandPtr& earlier, std::span<const CommandPtr> later) {
  const std::lock_guard lock(state_->mutex);
  std::vector<const Command*> follow{earlier.get()};
  std::unordered_set<const Command*> found{earlier.get()};
  while (!follow.empty()) {
    const Command* command = follow.back();
    follow.pop_back();
    for (const CommandPtr& dependent : command->dependents_) {
      if (found.insert(dependent.get()).second) follow.push_back(dependent.get());
    }
  }
  return earlier->complete_ || std::ranges::any_of(later, [&](const CommandPtr& each) {
           return found.contains(each.get());
         });
}

std::string Executor::running_report() {
  // Between two rounds nobody else touches the waves.
  auto report = std::make_shared<std::string>();
  const CommandPtr look = make_action(
      [](void* to) { *static_cast<std::string*>(to) = Scheduler::instance().running_report(); },
      report);
  submit(look, {});
  wait(look);
  return *report;
}

void Executor::finish(const CommandPtr& command, Status status) {
  std::vector<CommandPtr> done;
  const std::lock_guard lock(state_->mutex);
  command->status_ = status;
  state_->complete(command, done);
}

}  // namespace hipgraph::emu
