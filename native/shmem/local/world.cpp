#include "world.h"

#include <unistd.h>

#include <cmath>
#include <exception>

namespace hipgraph::shmem {
namespace {

constexpr double kLongestTimeout = 1e6;   ///< seconds
constexpr int kUsualClockRate = 100'000;  ///< kHz of s_memrealtime on CDNA

struct Slot {
  std::mutex mutex;
  WorldPtr world;
  pid_t process = 0;
  bool entering = false;
};

/// Lives as long as the process: no destructor runs while a thread may still use it.
Slot& slot() {
  static Slot& only = *new Slot;
  return only;
}

std::size_t block_bytes(std::size_t heap_bytes) {
  const std::size_t unit = Heap::kMaxAlignment;
  return kReservedHead + (heap_bytes + unit - 1) / unit * unit;
}

TeamPtr make_world_team(int pe, int n_pes) {
  auto team = std::make_shared<Team>();
  team->shape = {pe, n_pes, 0, 1, pad_offset(0)};
  return team;
}

void check_request(int pe, int n_pes, std::size_t heap_bytes, double timeout) {
  if (n_pes < 1 || n_pes > HGS_MAX_PES) {
    fail(HGS_INVALID, "n_pes is ", n_pes, ": the local provider takes 1 to ", HGS_MAX_PES);
  }
  if (pe < 0 || pe >= n_pes) fail(HGS_INVALID, "pe is ", pe, ": pass 0 to ", n_pes - 1);
  if (heap_bytes == 0 || heap_bytes > SIZE_MAX / 2) {
    fail(HGS_INVALID, "heap_bytes is ", heap_bytes, ": pass the size of the symmetric heap");
  }
  if (!(timeout > 0) || timeout > kLongestTimeout) {
    fail(HGS_INVALID, "timeout is ", timeout, " s: pass more than 0, at most ", kLongestTimeout);
  }
}

}  // namespace

World::World(int pe, int n_pes, const unsigned char* id, std::size_t heap_bytes,
             std::chrono::milliseconds timeout)
    : heap(kReservedHead, block_bytes(heap_bytes)),
      pe_(pe),
      n_pes_(n_pes),
      timeout_(timeout),
      bootstrap_(pe, n_pes, id, timeout),
      team_(make_world_team(pe, n_pes)) {
  Collective init = collective(text("hgs_init(heap_bytes=", heap_bytes, ")"));
  const std::vector<std::string> handles = init.exchange([&] {
    kernels_ = std::make_unique<Kernels>();
    memory_ = std::make_unique<PeerMemory>(pe_, block_bytes(heap_bytes));
    allocate();
    return n_pes_ > 1 ? memory_->handle() : std::string();
  });
  init.exchange([&] {
    connect(handles);
    return std::string();
  });
}

void World::allocate() {
  void* pinned = nullptr;
  hip().host_malloc(&pinned, sizeof(Pinned),
                    hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent);
  pinned_.reset(new (pinned) Pinned{});
  void* page = nullptr;
  hip().malloc(&page, sizeof(DevicePage));
  page_.reset(static_cast<DevicePage*>(page));
  // Zero before another PE can reach it: an epoch that somebody writes early is not lost.
  stream_.fill(memory_->own(), 0, kReservedHead);
  stream_.wait();
}

void World::connect(const std::vector<std::string>& handles) {
  if (n_pes_ > 1) memory_->open(handles);
  team_->on_device = &page_->teams[0];
  teams[team_->on_device] = team_;
  const hgs_device_state state = device_state(static_cast<double>(timeout_.count()) / 1000);
  stream_.copy(&page_->state, &state, sizeof state);
  stream_.copy(&page_->teams[0], &team_->shape, sizeof team_->shape);
  stream_.wait();
}

hgs_device_state World::device_state(double seconds) const {
  hgs_device_state state{};
  state.abi = HGS_DEVICE_ABI;
  state.my_pe = pe_;
  state.n_pes = n_pes_;
  state.heap_bytes = memory_->bytes();
  int rate = 0;
  if (hip().device_attribute.code(&rate, kWallClockRate, stream_.device()) != hipSuccess) rate = 0;
  state.timeout_ticks = static_cast<hgs_u64>(seconds * 1000 * (rate > 0 ? rate : kUsualClockRate));
  state.failure = &pinned_->failure;
  state.world = &page_->teams[0];
  for (int pe = 0; pe < n_pes_; ++pe) state.heaps[pe] = memory_->base(pe);
  return state;
}

void World::leave() {
  const CurrentDevice current(stream_.device());
  Collective finalize = collective("hgs_finalize()");
  std::optional<Error> first;
  const auto attempt = [&first](auto&& step) {
    try {
      step();
    } catch (Error& error) {
      if (!first) first = std::move(error);
    }
  };
  attempt([&] { stream_.wait(); });
  attempt([&] { finalize.meet(); });
  attempt([&] { memory_->close(); });
  // No PE frees what another one has mapped.
  if (!first || first->status == HGS_HIP) attempt([&] { finalize.meet(); });
  if (first) throw std::move(*first);
}

bool has_world() {
  Slot& here = slot();
  const std::lock_guard lock(here.mutex);
  return here.world != nullptr && here.process == getpid();
}

WorldPtr world() {
  Slot& here = slot();
  const std::lock_guard lock(here.mutex);
  if (!here.world) fail(HGS_INVALID, "there is no world of PEs: call hgs_init first");
  if (here.process != getpid()) {
    fail(HGS_INVALID, "this process was forked from a PE and shares its device: ",
         "start PEs by exec (multiprocessing's spawn), or fork before hgs_init");
  }
  return here.world;
}

void enter_world(int pe, int n_pes, const unsigned char* id, std::size_t heap_bytes,
                 double timeout) {
  check_request(pe, n_pes, heap_bytes, timeout);
  Slot& here = slot();
  {
    const std::lock_guard lock(here.mutex);
    if (here.world || here.entering) {
      fail(HGS_INVALID, "this process is a PE already: call hgs_finalize first");
    }
    here.entering = true;
  }
  const RelaxedCapture relaxed;
  WorldPtr made;
  std::exception_ptr error;
  try {
    const auto milliseconds = static_cast<std::int64_t>(std::ceil(timeout * 1000));
    made =
        std::make_shared<World>(pe, n_pes, id, heap_bytes, std::chrono::milliseconds(milliseconds));
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(here.mutex);
  here.entering = false;
  here.process = getpid();
  here.world = std::move(made);
  if (error) std::rethrow_exception(error);
}

void leave_world() {
  WorldPtr leaving = world();
  const RelaxedCapture relaxed;
  std::exception_ptr error;
  try {
    leaving->leave();
  } catch (...) {
    error = std::current_exception();
  }
  {
    Slot& here = slot();
    const std::lock_guard lock(here.mutex);
    here.world.reset();
  }
  leaving.reset();
  if (error) std::rethrow_exception(error);
}

}  // namespace hipgraph::shmem
