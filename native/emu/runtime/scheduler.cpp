#include "runtime/scheduler.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/address_space.h"
#include "runtime/device_model.h"
#include "runtime/dispatch_command.h"
#include "runtime/hang_report.h"
#include "runtime/standstill.h"
#include "runtime/status.h"
#include "runtime/trap_report.h"

namespace hipgraph::emu {

namespace {

/// Effects so far of all running kernels.
struct Tally {
  std::uint64_t effects = 0;
  std::uint64_t work = 0;  ///< those that are more than a look at the clock
};

}  // namespace

struct Scheduler::State {
  explicit State(const DeviceModel& model)
      : devices(static_cast<std::size_t>(model.devices), ComputeUnits(model.compute_units)),
        lengths(model.seed) {}

  std::vector<ComputeUnits> devices;
  std::vector<std::shared_ptr<Dispatch>> running;  ///< oldest first
  SliceLengths lengths;
  Standstill standstill;
  std::uint64_t rounds = 0;
  std::uint64_t effects = 0;

  ComputeUnits& units(Dispatch& dispatch) {
    return devices[static_cast<std::size_t>(dispatch.request().device)];
  }
  std::vector<KernelRun*> runs() const;
  Tally tally() const;
  /// Calls `body` for the waves that can run.
  template <class Body>
  void for_each_ready(Body body) const;
  bool only_polls() const;
  bool polls_shared_memory() const;
  std::optional<Status> advance(Dispatch& dispatch);
  void end(std::shared_ptr<Dispatch>& dispatch, Status status);
};

std::vector<KernelRun*> Scheduler::State::runs() const {
  std::vector<KernelRun*> found;
  for (const std::shared_ptr<Dispatch>& dispatch : running) found.push_back(&dispatch->run());
  return found;
}

Tally Scheduler::State::tally() const {
  Tally sum;
  for (const std::shared_ptr<Dispatch>& dispatch : running) {
    const LaunchFacts& facts = dispatch->run().facts();
    sum.effects += facts.effects;
    sum.work += facts.effects - facts.clock_reads;
  }
  return sum;
}

template <class Body>
void Scheduler::State::for_each_ready(Body body) const {
  for (KernelRun* run : runs()) {
    for (const std::unique_ptr<ResidentWorkgroup>& workgroup : run->resident()) {
      for (const ResidentWave& resident : workgroup->waves) {
        if (resident.wave.status == WaveStatus::Ready) body(resident);
      }
    }
  }
}

/// Whether in this round every wave did nothing but read again what it had read before, and one of
/// them memory that other processes may write.
bool Scheduler::State::only_polls() const {
  if (!AddressSpace::instance().shares()) return false;
  bool all = true;
  bool shared = false;
  for_each_ready([&](const ResidentWave& resident) {
    all &= resident.polls.repeats();
    shared |= resident.polls.shared();
  });
  return all && shared;
}

/// After a proven standstill: whether what repeats for ever reads memory that other processes may
/// write.
bool Scheduler::State::polls_shared_memory() const {
  bool shared = false;
  for_each_ready([&](const ResidentWave& resident) {
    shared |= resident.wave.shared_reads != resident.saved.shared_reads;
  });
  return shared;
}

/// Runs the slices of one kernel; its status when it ended.
std::optional<Status> Scheduler::State::advance(Dispatch& dispatch) {
  KernelRun& run = dispatch.run();
  if (const std::optional<KernelTrap> trap =
          run.run_slices(lengths, standstill, units(dispatch), rounds)) {
    return report_trap(run, *trap);
  }
  return run.done() ? std::optional(status::success) : std::nullopt;
}

void Scheduler::State::end(std::shared_ptr<Dispatch>& dispatch, Status status) {
  dispatch->end(status, units(*dispatch));
  dispatch.reset();
}

Scheduler& Scheduler::instance() {
  static Scheduler& scheduler = *new Scheduler();
  return scheduler;
}

Scheduler::Scheduler() : state_(std::make_unique<State>(DeviceModel::instance())) {}

void Scheduler::add(std::shared_ptr<Dispatch> dispatch) {
  state_->running.push_back(std::move(dispatch));
}

Outlook Scheduler::round() {
  State& state = *state_;
  if (state.running.empty()) return Outlook::Idle;
  ++state.rounds;
  const Tally before = state.tally();
  for (const auto& dispatch : state.running) {
    dispatch->run().start_workgroups(state.units(*dispatch));
  }
  std::vector<std::optional<Status>> ended;
  for (const auto& dispatch : state.running) ended.push_back(state.advance(*dispatch));
  const Tally after = state.tally();
  for (std::size_t i = 0; i < ended.size(); ++i) {
    if (ended[i].has_value()) state.end(state.running[i], *ended[i]);
  }
  const bool any_ended = std::erase(state.running, nullptr) > 0;
  if (!any_ended && after.work == before.work && state.only_polls()) {
    state.standstill.note_effect();  // another process may end it: nothing is proven
    return Outlook::Waiting;
  }
  if (any_ended || after.effects != before.effects) {
    note_effect();
    return state.running.empty() ? Outlook::Idle : Outlook::Running;
  }
  if (!state.standstill.observe(state.runs())) return Outlook::Running;
  const bool shared = state.polls_shared_memory();
  state.standstill.note_effect();  // what it proved holds only until the host writes: prove it anew
  return shared ? Outlook::Waiting : Outlook::Stuck;
}

void Scheduler::note_effect() {
  ++state_->effects;
  state_->standstill.note_effect();
}

std::uint64_t Scheduler::effects() const { return state_->effects; }

bool Scheduler::awaits_host_memory() const {
  bool any = false;
  state_->for_each_ready([&any](const ResidentWave& resident) {
    const auto polled = AddressSpace::instance().lookup(resident.wave.poll.address);
    any |= polled.has_value() && polled->kind != AllocationKind::Device;
  });
  return any;
}

std::string Scheduler::running_report() const { return emu::running_report(state_->runs()); }

void Scheduler::abandon() {
  if (state_->running.empty()) return;
  report_hang(state_->runs());
  for (std::shared_ptr<Dispatch>& dispatch : state_->running) {
    state_->end(dispatch, status::launch_failure);
  }
  state_->running.clear();
  note_effect();
}

}  // namespace hipgraph::emu
