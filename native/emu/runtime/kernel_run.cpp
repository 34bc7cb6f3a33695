#include "runtime/kernel_run.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/address_space.h"
#include "runtime/counters.h"
#include "runtime/device_model.h"
#include "runtime/device_settings.h"
#include "runtime/launch_names.h"
#include "runtime/register_files.h"
#include "runtime/status.h"

namespace hipgraph::emu {
namespace {

constexpr std::uint8_t lds_poison = 0xBE;
constexpr std::uint8_t scratch_poison = 0xBE;

std::uint32_t items(const std::array<std::uint32_t, 3>& size) {
  return size[0] * size[1] * size[2];
}

/// Scratch of a lane: the kernel's own, and a stack where calls are not known to the compiler.
std::uint32_t scratch_of(const LaunchRequest& request) {
  const Kernel& kernel = *request.kernel;
  if (!kernel.uses_dynamic_stack) return kernel.scratch_bytes;
  const std::size_t stack = device_settings(request.device).stack_bytes;
  return kernel.scratch_bytes + static_cast<std::uint32_t>(stack);
}

LaunchFacts facts_of(const LaunchRequest& request) {
  static std::uint64_t last_launch = 0;  // executor's thread only
  LaunchFacts facts;
  facts.memory = &AddressSpace::instance();
  facts.target = DeviceModel::instance().target;
  facts.launch = ++last_launch;
  facts.vgpr_rows = request.kernel->vgprs;
  facts.accvgpr_rows = request.kernel->accvgprs;
  facts.scratch_lane_bytes = scratch_of(request);
  return facts;
}

void check_fits(const LaunchRequest& request) {
  if (workgroups_per_compute_unit(*request.kernel, items(request.block),
                                  request.dynamic_lds_bytes) > 0) {
    return;
  }
  throw LoadError{status::invalid_configuration,
                  "kernel " + request.kernel->name + ": one workgroup of " +
                      std::to_string(items(request.block)) + " work-items with " +
                      std::to_string(request.kernel->lds_bytes + request.dynamic_lds_bytes) +
                      " bytes of LDS does not fit on a compute unit"};
}

}  // namespace

KernelRun::KernelRun(const LaunchRequest& request)
    : request_((check_fits(request), request)),
      memory_(request),
      program_(request.kernel->code_object->program(*request.kernel)),
      facts_(facts_of(request)),
      start_{&request, Descriptor::at(request.kernel->descriptor), &memory_},
      footprint_(footprint(*request.kernel, items(request.block), request.dynamic_lds_bytes)),
      workgroups_(std::uint64_t{request.grid[0]} * request.grid[1] * request.grid[2]) {
  LaunchNames::note(facts_.launch, request.kernel->name);
}

KernelRun::~KernelRun() { Counters::add(facts_, started_, waves_); }

std::array<std::uint32_t, 3> KernelRun::position(std::uint64_t workgroup) const {
  const std::uint64_t x = request_.grid[0];
  const std::uint64_t y = request_.grid[1];
  return {static_cast<std::uint32_t>(workgroup % x), static_cast<std::uint32_t>(workgroup / x % y),
          static_cast<std::uint32_t>(workgroup / (x * y))};
}

void KernelRun::start_workgroups(ComputeUnits& units) {
  while (started_ < workgroups_) {
    const std::optional<Place> place = units.take(footprint_);
    if (!place.has_value()) return;
    start_workgroup(*place);
  }
}

void KernelRun::start_workgroup(const Place& place) {
  auto workgroup = std::make_unique<ResidentWorkgroup>();
  Workgroup& group = workgroup->group;
  group.lds.assign(request_.kernel->lds_bytes + request_.dynamic_lds_bytes, lds_poison);
  group.linear_id = static_cast<std::uint32_t>(started_);
  group.id = position(started_);
  group.waves_live = (items(block_at(request_, group.id)) + wave_size - 1) / wave_size;
  waves_ += group.waves_live;
  workgroup->place = place;
  workgroup->waves.resize(group.waves_live);
  for (std::uint32_t i = 0; i < workgroup->waves.size(); ++i) start_resident_wave(*workgroup, i);
  resident_.push_back(std::move(workgroup));
  ++started_;
  ++facts_.effects;
}

void KernelRun::start_resident_wave(ResidentWorkgroup& workgroup, std::uint32_t index) {
  ResidentWave& resident = workgroup.waves[index];
  Wave& wave = resident.wave;
  wave.index = index;
  wave.group = &workgroup.group;
  wave.launch = &facts_;
  wave.vgpr = RegisterFiles::instance().take(facts_);
  if (facts_.scratch_lane_bytes != 0) {
    const std::size_t bytes = std::size_t{facts_.scratch_lane_bytes} * wave_size;
    resident.scratch = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
    // A dynamic stack is large and mostly unused: only the kernel's own part is poisoned.
    std::memset(resident.scratch.get(), scratch_poison,
                std::size_t{request_.kernel->scratch_bytes} * wave_size);
    wave.scratch = resident.scratch.get();
  }
  start_wave(wave, start_);
}

/// Lets the waves of a workgroup go on when all that have not ended are at the barrier.
void KernelRun::pass_barrier(ResidentWorkgroup& workgroup) {
  Workgroup& group = workgroup.group;
  if (group.waves_at_barrier == 0 || group.waves_at_barrier < group.waves_live) return;
  group.waves_at_barrier = 0;
  for (ResidentWave& resident : workgroup.waves) {
    if (resident.wave.status == WaveStatus::AtBarrier) resident.wave.status = WaveStatus::Ready;
  }
  ++facts_.effects;
}

void KernelRun::run_slice(ResidentWave& resident, std::uint32_t budget,
                          const Standstill& standstill) {
  if (!facts_.shares_memory) {
    standstill.run_slice(program_, resident, budget);
    return;
  }
  resident.polls.begin_slice(resident.wave);
  standstill.run_slice(program_, resident, budget);
  resident.polls.end_slice(resident.wave);
}

std::optional<KernelTrap> KernelRun::run_workgroup(ResidentWorkgroup& workgroup,
                                                   SliceLengths& lengths,
                                                   const Standstill& standstill) {
  Workgroup& group = workgroup.group;
  for (ResidentWave& resident : workgroup.waves) {
    Wave& wave = resident.wave;
    if (wave.status != WaveStatus::Ready) continue;
    try {
      run_slice(resident, lengths.next(), standstill);
    } catch (const Trap& trap) {
      return KernelTrap{trap, group.linear_id, wave.index, wave.instruction_pc};
    }
    if (wave.status == WaveStatus::AtBarrier) ++group.waves_at_barrier;
    if (wave.status == WaveStatus::Ended) {
      --group.waves_live;
      ++facts_.effects;
    }
    pass_barrier(workgroup);
  }
  return std::nullopt;
}

std::optional<KernelTrap> KernelRun::run_slices(SliceLengths& lengths, const Standstill& standstill,
                                                ComputeUnits& units, std::uint64_t round) {
  facts_.round = round;
  facts_.shares_memory = AddressSpace::instance().shares();
  bool any_ended = false;
  for (std::unique_ptr<ResidentWorkgroup>& workgroup : resident_) {
    if (std::optional<KernelTrap> trap = run_workgroup(*workgroup, lengths, standstill))
      return trap;
    if (workgroup->group.waves_live != 0) continue;
    leave(*workgroup, units);
    workgroup.reset();
    any_ended = true;
  }
  if (any_ended) std::erase(resident_, nullptr);
  return std::nullopt;
}

void KernelRun::leave(ResidentWorkgroup& workgroup, ComputeUnits& units) {
  for (ResidentWave& resident : workgroup.waves) {
    RegisterFiles::instance().give_back(resident.wave.vgpr);
  }
  units.give_back(workgroup.place, footprint_);
}

void KernelRun::discard(ComputeUnits& units) {
  std::erase(resident_, nullptr);
  for (const std::unique_ptr<ResidentWorkgroup>& workgroup : resident_) leave(*workgroup, units);
  resident_.clear();
}

}  // namespace hipgraph::emu
