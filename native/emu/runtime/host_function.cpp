#include "runtime/host_function.h"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>

#include "runtime/executor.h"
#include "runtime/race_check.h"
#include "runtime/status.h"

namespace hipgraph::emu {
namespace {

std::atomic<int> in_flight{0};
std::atomic<bool> stopped{false};
thread_local bool is_callback_thread = false;

/// A call of a host function, one after another on the callback thread.
class HostFunction final : public Command, public std::enable_shared_from_this<HostFunction> {
 public:
  HostFunction(void (*function)(void*), void* user_data)
      : function_(function), user_data_(user_data) {}

  Progress start() override;

  void call() const { function_(user_data_); }

 private:
  void (*function_)(void*);
  void* user_data_;
};

/// The thread that runs host functions; started by the first of them.
class CallbackThread {
 public:
  static CallbackThread& instance() {
    static CallbackThread& thread = *new CallbackThread();
    return thread;
  }

  void push(std::shared_ptr<HostFunction> function) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(function));
    }
    pushed_.notify_one();
  }

 private:
  CallbackThread() {
    pthread_t thread;
    const int error = pthread_create(&thread, nullptr, run, this);
    if (error != 0) throw std::system_error(error, std::generic_category(), "callback thread");
    pthread_detach(thread);
  }

  /// The thread's life. When an interpreter ends, it may end the threads that call into it by
  /// pthread_exit, inside of such a call. That unwinds this frame with the C library's unwinder,
  /// which does not go with the one that this library holds: nothing here may need a destructor.
  static void* run(void* thread) {
    auto* const self = static_cast<CallbackThread*>(thread);
    is_callback_thread = true;
    for (;;) {
      self->next()->call();
      self->finish(status::success);
    }
  }

  /// The function to call now, which `running_` keeps.
  [[gnu::noinline]] const HostFunction* next() {
    while (!take()) finish(status::deinitialized);
    return running_.get();
  }

  /// Takes the first of the queue; whether it may be called.
  bool take() {
    std::unique_lock lock(mutex_);
    pushed_.wait(lock, [this] { return !queue_.empty(); });
    running_ = std::move(queue_.front());
    queue_.pop_front();
    return !stopped.load();
  }

  [[gnu::noinline]] void finish(Status status) {
    Executor::instance().finish(running_, status);
    running_.reset();
    in_flight.fetch_sub(1);
  }

  std::mutex mutex_;
  std::condition_variable pushed_;
  std::deque<std::shared_ptr<HostFunction>> queue_;
  std::shared_ptr<HostFunction> running_;  ///< used by the thread only
};

Progress HostFunction::start() {
  if (RaceCheck* check = RaceCheck::active()) check->host_learns(*this);
  in_flight.fetch_add(1);
  CallbackThread::instance().push(shared_from_this());
  return Progress::Running;
}

}  // namespace

int host_functions_in_flight() { return in_flight.load(); }
bool on_callback_thread() { return is_callback_thread; }
void stop_host_functions() { stopped.store(true); }

void run_host_function(void (*function)(void*), void* user_data) {
  std::make_shared<HostFunction>(function, user_data)->start();
}

CommandPtr make_host_function(void (*function)(void*), void* user_data) {
  return std::make_shared<HostFunction>(function, user_data);
}

}  // namespace hipgraph::emu
