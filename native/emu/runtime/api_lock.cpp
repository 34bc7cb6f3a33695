#include "runtime/api_lock.h"

#include <atomic>

#include "runtime/divergence.h"
#include "runtime/host_function.h"
#include "runtime/user_object.h"

namespace hipgraph::emu {
namespace {

std::mutex& api_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

}  // namespace

ApiLock::ApiLock(Caller caller) : held_(api_mutex()) {
  if (caller == Caller::User && on_callback_thread()) diverge(Divergence::CallFromCallback);
}

ApiLock::~ApiLock() {
  const std::vector<UserObject> due = take_due_destructors();
  held_.unlock();
  for (const UserObject& object : due) object.destroy(object.object);
}

ThreadState& this_thread() {
  static std::atomic<std::uint64_t> threads{0};
  thread_local ThreadState state;
  if (state.number == 0) state.number = ++threads;
  return state;
}

}  // namespace hipgraph::emu
