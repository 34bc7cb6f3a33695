#include "runtime/shared_event.h"

#include <cstring>

#include "entry.h"
#include "runtime/address_space.h"
#include "runtime/executor.h"
#include "runtime/ipc_memory.h"
#include "runtime/memory_operations.h"

namespace hipgraph::emu {

/// In the memory at `base_`; other processes write it at any time.
struct SharedEvent::State {
  std::uint64_t asked = 0;
  std::uint64_t done = 0;

  static State& at(std::uint64_t base) { return *reinterpret_cast<State*>(base); }
  std::uint64_t asked_now() const { return __atomic_load_n(&asked, __ATOMIC_ACQUIRE); }
  std::uint64_t done_now() const { return __atomic_load_n(&done, __ATOMIC_ACQUIRE); }
};

struct SharedEvent::Record {
  SharedEventPtr event;
  std::uint64_t number;
};

SharedEvent::SharedEvent(std::uint64_t base, bool imported) : base_(base), imported_(imported) {}

SharedEvent::~SharedEvent() {
  if (imported_) {
    release_event_memory(base_);
  } else {
    AddressSpace::instance().release(base_);
  }
}

SharedEventPtr SharedEvent::make(int device) {
  const auto memory =
      AddressSpace::instance().allocate(sizeof(State), AllocationKind::Device, device);
  abi::require(memory.has_value(), hipErrorOutOfMemory);
  State::at(memory->base) = {};
  return SharedEventPtr(new SharedEvent(memory->base, false));
}

SharedEventPtr SharedEvent::open(const hipIpcEventHandle_t& handle, int device) {
  return SharedEventPtr(new SharedEvent(import_event_memory(handle, device), true));
}

hipIpcEventHandle_t SharedEvent::handle() const { return export_event_memory(base_); }

/// Records are done in any order where streams are many; the last one counts.
void SharedEvent::finish(void* record) {
  const auto& it = *static_cast<const Record*>(record);
  std::uint64_t& done = State::at(it.event->base_).done;
  std::uint64_t before = __atomic_load_n(&done, __ATOMIC_RELAXED);
  while (before < it.number && !__atomic_compare_exchange_n(&done, &before, it.number, true,
                                                            __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

CommandPtr SharedEvent::record() {
  last_own_ = __atomic_add_fetch(&State::at(base_).asked, 1, __ATOMIC_ACQ_REL);
  return make_action(finish, std::make_shared<Record>(Record{shared_from_this(), last_own_}));
}

bool SharedEvent::pending_elsewhere() const {
  const State& state = State::at(base_);
  const std::uint64_t asked = state.asked_now();
  return asked != last_own_ && state.done_now() < asked;
}

CommandPtr SharedEvent::wait() {
  constexpr unsigned greater_equal = 0;
  State& state = State::at(base_);
  MemoryWork work;
  work.operations = {wait_operation(&state.done, state.asked_now(), greater_equal,
                                    ~std::uint64_t{0}, sizeof state.done)};
  work.keeps = shared_from_this();
  return make_memory_operations(work);
}

}  // namespace hipgraph::emu
