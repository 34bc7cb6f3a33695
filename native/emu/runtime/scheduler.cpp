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
  std::optional<Status> advance(Dispatch& dispatch);
  void end(std::shared_ptr<Dispatch>& dispatch, Status status);
};

std::vector<KernelRun*> Scheduler::State::runs() const {
  std::vector<KernelRun*> found;
  for (const std::shared_ptr<Dispatch>& dispatch : running) found.push_back(&dispatch->run());
  return found;
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
  const auto effects_so_far = [&state] {
    std::uint64_t sum = 0;
    for (const auto& dispatch : state.running) sum += dispatch->run().facts().effects;
    return sum;
  };
  const std::uint64_t before = effects_so_far();
  for (const auto& dispatch : state.running) {
    dispatch->run().start_workgroups(state.units(*dispatch));
  }
  std::vector<std::optional<Status>> ended;
  for (const auto& dispatch : state.running) ended.push_back(state.advance(*dispatch));
  const bool quiet = effects_so_far() == before;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    if (ended[i].has_value()) state.end(state.running[i], *ended[i]);
  }
  if (std::erase(state.running, nullptr) > 0 || !quiet) {
    note_effect();
    return state.running.empty() ? Outlook::Idle : Outlook::Running;
  }
  if (!state.standstill.observe(state.runs())) return Outlook::Running;
  state.standstill.note_effect();  // what it proved holds only until the host writes: prove it anew
  return Outlook::Stuck;
}

void Scheduler::note_effect() {
  ++state_->effects;
  state_->standstill.note_effect();
}

std::uint64_t Scheduler::effects() const { return state_->effects; }

bool Scheduler::awaits_host_memory() const {
  for (KernelRun* run : state_->runs()) {
    for (const std::unique_ptr<ResidentWorkgroup>& workgroup : run->resident()) {
      for (const ResidentWave& resident : workgroup->waves) {
        if (resident.wave.status != WaveStatus::Ready) continue;
        const auto polled = AddressSpace::instance().lookup(resident.wave.poll.address);
        if (polled.has_value() && polled->kind != AllocationKind::Device) return true;
      }
    }
  }
  return false;
}

void Scheduler::abandon() {
  report_hang(state_->runs());
  for (std::shared_ptr<Dispatch>& dispatch : state_->running) {
    state_->end(dispatch, status::launch_failure);
  }
  state_->running.clear();
  note_effect();
}

}  // namespace hipgraph::emu
