#include "runtime/dispatch.h"

#include "runtime/dispatch_command.h"
#include "runtime/executor.h"
#include "runtime/launch_text.h"
#include "runtime/race_check.h"
#include "runtime/report.h"
#include "runtime/scheduler.h"
#include "runtime/trap_report.h"

namespace hipgraph::emu {

std::array<std::uint32_t, 3> block_at(const LaunchRequest& request,
                                      const std::array<std::uint32_t, 3>& position) {
  std::array<std::uint32_t, 3> block = request.block;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool last = position[i] + 1 == request.grid[i];
    if (last && request.rest[i] != 0) block[i] = request.rest[i];
  }
  return block;
}

Progress Dispatch::start() {
  try {
    run_.emplace(request_);
  } catch (const LoadError& error) {
    report_refused_launch(request_, error);
    status_ = error.status;
    return Progress::Complete;
  }
  if (track() != nullptr) {
    track()->rename(launch_text(request_, run_->facts().launch));
    run_->tell(track());
  }
  Scheduler::instance().add(shared_from_this());
  return Progress::Running;
}

void Dispatch::end(Status status, ComputeUnits& units) {
  run_->discard(units);
  run_.reset();
  request_ = {};
  Executor::instance().finish(shared_from_this(), status);
}

CommandPtr make_dispatch(LaunchRequest request) {
  return std::make_shared<Dispatch>(std::move(request));
}

}  // namespace hipgraph::emu
