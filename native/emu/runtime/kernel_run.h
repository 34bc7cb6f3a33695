#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "isa/program.h"
#include "machine/trap.h"
#include "machine/wave.h"
#include "runtime/dispatch.h"
#include "runtime/kernarg.h"
#include "runtime/resident.h"
#include "runtime/slice_lengths.h"
#include "runtime/standstill.h"
#include "runtime/wave_start.h"

namespace hipgraph::emu {

/// A trap with the wave that ran into it.
struct KernelTrap {
  Trap trap;
  std::uint32_t workgroup = 0, wave = 0;
  std::uint64_t pc = 0;
};

/// A launch while it runs: its memory, the workgroups that are resident, how far it got.
class KernelRun {
 public:
  /// Throws LoadError when the launch is impossible on this device.
  explicit KernelRun(const LaunchRequest& request);
  ~KernelRun();
  KernelRun(const KernelRun&) = delete;
  KernelRun& operator=(const KernelRun&) = delete;

  const LaunchRequest& request() const { return request_; }
  const LaunchFacts& facts() const { return facts_; }
  Program& program() const { return program_; }
  std::uint64_t workgroups() const { return workgroups_; }
  std::uint64_t started() const { return started_; }
  bool done() const { return started_ == workgroups_ && resident_.empty(); }
  /// Position in the grid of a workgroup.
  std::array<std::uint32_t, 3> position(std::uint64_t workgroup) const;
  std::vector<std::unique_ptr<ResidentWorkgroup>>& resident() { return resident_; }

  /// Tells `listener` from now on what the kernel touches.
  void tell(TouchListener* listener) { facts_.listener = listener; }
  /// Starts workgroups, in order, as long as there is room.
  void start_workgroups(ComputeUnits& units);
  /// Gives every wave that is ready a slice; workgroups that end leave their room. Stops at a trap.
  std::optional<KernelTrap> run_slices(SliceLengths& lengths, const Standstill& standstill,
                                       ComputeUnits& units, std::uint64_t round);
  /// Throws away what is resident.
  void discard(ComputeUnits& units);

 private:
  void start_workgroup(const Place& place);
  void start_resident_wave(ResidentWorkgroup& workgroup, std::uint32_t index);
  std::optional<KernelTrap> run_workgroup(ResidentWorkgroup& workgroup, SliceLengths& lengths,
                                          const Standstill& standstill);
  void run_slice(ResidentWave& resident, std::uint32_t budget, const Standstill& standstill);
  void pass_barrier(ResidentWorkgroup& workgroup);
  void leave(ResidentWorkgroup& workgroup, ComputeUnits& units);

  const LaunchRequest& request_;
  LaunchMemory memory_;
  Program& program_;
  LaunchFacts facts_;
  LaunchStart start_;
  Footprint footprint_;
  std::uint64_t workgroups_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t waves_ = 0;  ///< that started
  std::vector<std::unique_ptr<ResidentWorkgroup>> resident_;
};

}  // namespace hipgraph::emu
