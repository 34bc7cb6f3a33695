#include "runtime/stuck_wave.h"

#include <algorithm>

#include "isa/operand.h"
#include "runtime/address_space.h"
#include "runtime/block.h"
#include "runtime/launch_names.h"
#include "runtime/launch_text.h"

namespace hipgraph::emu {
namespace {

constexpr const char* by_host = "the host, a copy or a fill";

bool in_lds(std::uint64_t address) { return address >> 32 == shared_aperture >> 32; }

/// "launch 6 (reduce)" or the host.
std::string launch_name(std::uint64_t launch) {
  if (launch == 0) return by_host;
  const std::string kernel = LaunchNames::of(launch);
  return "launch " + std::to_string(launch) +
         (kernel.empty() ? "" : " (" + demangled(kernel) + ")");
}

KernelRun* running(std::uint64_t launch, std::span<KernelRun* const> all) {
  const auto found = std::find_if(all.begin(), all.end(), [launch](const KernelRun* run) {
    return run->facts().launch == launch;
  });
  return found == all.end() ? nullptr : *found;
}

bool is_resident(KernelRun& run, std::uint32_t workgroup) {
  return std::any_of(run.resident().begin(), run.resident().end(), [workgroup](const auto& group) {
    return group->group.linear_id == workgroup;
  });
}

/// Cause when no kernel and no copy is known to have written the polled dword.
std::string cause_unwritten(const StuckWave& wave) {
  constexpr std::uint32_t fresh = 0xbebebebe;
  AddressSpace& space = AddressSpace::instance();
  if (space.host_written(wave.poll.address)) {
    return std::string("written by ") + by_host + " only, and by no kernel since";
  }
  const std::optional<Allocation> allocation = space.lookup(wave.poll.address);
  if (allocation.has_value() && allocation->kind != AllocationKind::Device) {
    return "memory that the host can write: no kernel will, and the host did not";
  }
  if (wave.poll.value == fresh) {
    return "never written since it was allocated: an uninitialised counter";
  }
  return "no atomic, scalar or device-scope store ever wrote it";
}

/// Cause when the wave's own launch wrote last.
std::string cause_same_launch(const StuckWave& wave, KernelRun& run) {
  const std::optional<std::uint64_t> before =
      AddressSpace::instance().launch_before(wave.poll.address);
  const bool resident = is_resident(run, wave.writer->workgroup);
  std::string text = "last written in this launch, by a workgroup that ";
  text += resident ? "is stuck as well" : "has ended: nobody is left to write it";
  if (before.has_value()) {
    return text + "; the launch found there what " + launch_name(*before) + " had left";
  }
  return text + "; no copy, atomic or device-scope store wrote it before the launch";
}

std::string cause_of_poll(const StuckWave& wave, KernelRun& run, std::span<KernelRun* const> all) {
  if (in_lds(wave.poll.address)) return "waits for LDS that no wave of its workgroup writes";
  if (!wave.writer.has_value()) return cause_unwritten(wave);
  const std::uint64_t launch = wave.writer->launch;
  if (launch == run.facts().launch) return cause_same_launch(wave, run);
  if (launch == 0) return std::string("left by ") + by_host + "; no kernel changed it since";
  if (running(launch, all) != nullptr)
    return "last written by " + launch_name(launch) + ", which is stuck as well";
  return "left over from " + launch_name(launch) + ", which has ended";
}

std::string cause_of(const StuckWave& wave, KernelRun& run, std::span<KernelRun* const> all) {
  switch (wave.how) {
    case StuckHow::AtBarrier: return "waits at a barrier for waves of its workgroup that are stuck";
    case StuckHow::Loops: return "loops for ever without reading memory";
    case StuckHow::Polls: return cause_of_poll(wave, run, all);
  }
  __builtin_unreachable();  // the enumeration has no other member
}

std::string why_not_ended(StuckHow how) {
  switch (how) {
    case StuckHow::AtBarrier: return "waits at a barrier";
    case StuckHow::Loops: return "runs; it has read no memory";
    case StuckHow::Polls: return "runs, or polls what it read last";
  }
  __builtin_unreachable();  // the enumeration has no other member
}

std::string place_of(std::uint64_t address, std::uint32_t bytes) {
  if (in_lds(address)) return "LDS, offset " + std::to_string(address - shared_aperture);
  return AddressSpace::instance().describe(address, bytes);
}

}  // namespace

std::string writer_text(const Writer& writer, const KernelRun& run) {
  if (writer.launch == 0) return by_host;
  const bool same = writer.launch == run.facts().launch;
  return (same ? "this launch" : launch_name(writer.launch)) + ", workgroup " +
         (same ? triple(run.position(writer.workgroup)) : std::to_string(writer.workgroup)) +
         " wave " + std::to_string(writer.wave) + " at " + CodeObject::symbolize_loaded(writer.pc);
}

StuckWave examine(KernelRun& run, const ResidentWorkgroup& workgroup, const ResidentWave& resident,
                  std::span<KernelRun* const> all, Verdict verdict) {
  const Wave& wave = resident.wave;
  StuckWave stuck;
  stuck.run = &run;
  stuck.workgroup = workgroup.group.linear_id;
  stuck.wave = wave.index;
  stuck.pc = wave.pc;
  if (wave.status == WaveStatus::AtBarrier) {
    stuck.how = StuckHow::AtBarrier;
    stuck.pc = wave.instruction_pc;
  } else if (wave.poll.bytes != 0) {
    stuck.how = StuckHow::Polls;
    if (verdict == Verdict::Deadlock) stuck.pc = wave.poll.pc;
    stuck.poll = wave.poll;
    stuck.place = place_of(wave.poll.address, wave.poll.bytes);
    stuck.writer = AddressSpace::instance().last_writer(wave.poll.address);
  }
  stuck.symbol = CodeObject::symbolize_loaded(stuck.pc);
  stuck.instruction = run.program().text(stuck.pc);
  stuck.cause = verdict == Verdict::Deadlock ? cause_of(stuck, run, all) : why_not_ended(stuck.how);
  return stuck;
}

}  // namespace hipgraph::emu
