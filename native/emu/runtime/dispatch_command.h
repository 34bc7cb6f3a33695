#pragma once
#include <memory>
#include <optional>

#include "runtime/dispatch.h"
#include "runtime/kernel_run.h"

namespace hipgraph::emu {

/// The command that runs a kernel: it exists from submission on, its run from start to end.
class Dispatch final : public Command, public std::enable_shared_from_this<Dispatch> {
 public:
  explicit Dispatch(LaunchRequest request) : request_(std::move(request)) {}

  Progress start() override;
  std::string what() const override { return "kernel " + request_.kernel->name; }
  const LaunchRequest& request() const { return request_; }
  KernelRun& run() { return *run_; }
  /// Throws away what is left of the run and completes the command.
  void end(Status status, ComputeUnits& units);

 private:
  LaunchRequest request_;
  std::optional<KernelRun> run_;
};

}  // namespace hipgraph::emu
