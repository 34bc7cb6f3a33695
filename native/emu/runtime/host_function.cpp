#include "runtime/host_function.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "runtime/executor.h"
#include "runtime/race_check.h"
#include "runtime/status.h"

namespace hipgraph::emu {
namespace {

std::atomic<int> in_flight{0};
thread_local bool is_callback_thread = false;

/// A call of a host function, one after another on the callback thread.
class HostFunction final : public Command, public std::enable_shared_from_this<HostFunction> {
 public:
  HostFunction(void (*function)(void*), void* user_data)
      : function_(function), user_data_(user_data) {}

  Progress start() override;

  void call() { function_(user_data_); }

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
    std::thread([this] { run(); }).detach();
  }

  [[noreturn]] void run() {
    is_callback_thread = true;
    for (;;) {
      const std::shared_ptr<HostFunction> next = pop();
      next->call();
      Executor::instance().finish(next, status::success);
      in_flight.fetch_sub(1);
    }
  }

  std::shared_ptr<HostFunction> pop() {
    std::unique_lock lock(mutex_);
    pushed_.wait(lock, [this] { return !queue_.empty(); });
    std::shared_ptr<HostFunction> next = std::move(queue_.front());
    queue_.pop_front();
    return next;
  }

  std::mutex mutex_;
  std::condition_variable pushed_;
  std::deque<std::shared_ptr<HostFunction>> queue_;
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

void run_host_function(void (*function)(void*), void* user_data) {
  std::make_shared<HostFunction>(function, user_data)->start();
}

CommandPtr make_host_function(void (*function)(void*), void* user_data) {
  return std::make_shared<HostFunction>(function, user_data);
}

}  // namespace hipgraph::emu
