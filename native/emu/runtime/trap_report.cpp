#include "runtime/trap_report.h"

#include "runtime/block.h"
#include "runtime/launch_text.h"
#include "runtime/report.h"
#include "runtime/status.h"

namespace hipgraph::emu {

Status report_trap(KernelRun& run, const KernelTrap& trap) {
  const LaunchRequest& request = run.request();
  const std::uint64_t launch = run.facts().launch;
  const std::array<std::uint32_t, 3> workgroup = run.position(trap.workgroup);
  const std::string symbol = CodeObject::symbolize_loaded(trap.pc);
  const std::string instruction = run.program().text(trap.pc);
  const std::string kind = name(trap.trap.kind());
  publish_report("emulated device: " + kind + " in " + launch_text(request, launch) +
                     "\n  workgroup " + triple(workgroup) + " wave " + std::to_string(trap.wave) +
                     " at " + symbol + ": " + instruction + "\n  " + trap.trap.text() + "\n",
                 launch_json(request, launch)
                     .add("kind", "trap")
                     .add("trap", kind)
                     .add_raw("workgroup", triple_json(workgroup))
                     .add("wave", trap.wave)
                     .add("pc", hex(trap.pc))
                     .add("symbol", symbol)
                     .add("instruction", instruction)
                     .add("text", trap.trap.text())
                     .text());
  return trap.trap.kind() == TrapKind::MemoryFault ? status::illegal_address
                                                   : status::launch_failure;
}

void report_refused_launch(const LaunchRequest& request, const LoadError& error) {
  constexpr std::uint64_t not_launched = 0;
  publish_report(
      "emulated device: launch refused: " + error.text + "\n",
      launch_json(request, not_launched).add("kind", "refused").add("text", error.text).text());
}

}  // namespace hipgraph::emu
