#include "runtime/hang_report.h"

#include <string>
#include <vector>

#include "runtime/block.h"
#include "runtime/launch_text.h"
#include "runtime/report.h"
#include "runtime/stuck_groups.h"
#include "runtime/stuck_wave.h"

namespace hipgraph::emu {
namespace {

std::string count(std::size_t number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

const char* name(StuckHow how) {
  switch (how) {
    case StuckHow::Polls: return "polls";
    case StuckHow::AtBarrier: return "at barrier";
    case StuckHow::Loops: return "loops";
  }
  __builtin_unreachable();  // the enumeration has no other member
}

/// What keeps the rest of a grid from starting; empty when all of it has started.
std::string not_started(KernelRun& run) {
  if (run.started() == run.workgroups()) return {};
  const std::string rest = "workgroups " + std::to_string(run.started()) + ".." +
                           std::to_string(run.workgroups() - 1) + " have not started: ";
  if (run.resident().empty()) return rest + "other kernels hold the compute units and wait";
  return rest + "the " + std::to_string(run.resident().size()) +
         " resident ones hold the compute units and wait; the grid needs " +
         std::to_string(run.workgroups()) + " at once";
}

std::string progress(KernelRun& run) {
  const std::size_t resident = run.resident().size();
  return std::to_string(run.started() - resident) + " of " + count(run.workgroups(), "workgroup") +
         " ended, " + std::to_string(resident) + " resident, " +
         std::to_string(run.workgroups() - run.started()) + " not started";
}

/// The waves of one kernel, by instruction and cause.
std::string kernel_text(KernelRun& run, const std::vector<StuckWave>& waves,
                        const std::string& cause) {
  std::string text = launch_text(run.request(), run.facts().launch) + ": " + progress(run) + "\n";
  if (!cause.empty()) text += "  cause: " + cause + "\n";
  return text + stuck_text(waves);
}

std::string writer_json(const std::optional<Writer>& writer, const KernelRun& run) {
  if (!writer.has_value()) return "null";
  JsonObject json;
  json.add("launch", writer->launch).add("text", writer_text(*writer, run));
  if (writer->launch != 0) {
    json.add("workgroup", writer->workgroup).add("wave", writer->wave).add("pc", hex(writer->pc));
    json.add("symbol", CodeObject::symbolize_loaded(writer->pc));
  }
  return json.text();
}

std::string wave_json(const StuckWave& wave) {
  JsonObject json;
  json.add("kernel", wave.run->request().kernel->name).add("launch", wave.run->facts().launch);
  json.add_raw("workgroup", triple_json(wave.run->position(wave.workgroup)));
  json.add("wave", wave.wave).add("state", name(wave.how)).add("pc", hex(wave.pc));
  json.add("symbol", wave.symbol).add("instruction", wave.instruction);
  json.add("cause", wave.cause);
  if (wave.how == StuckHow::Polls) {
    json.add("address", hex(wave.poll.address)).add("bytes", wave.poll.bytes);
    json.add("allocation", wave.place).add("value", wave.poll.value);
    json.add_raw("last_writer", writer_json(wave.writer, *wave.run));
  }
  return json.text();
}

std::string kernel_json(KernelRun& run, const std::string& cause) {
  return launch_json(run.request(), run.facts().launch)
      .add("workgroups", run.workgroups())
      .add("started", run.started())
      .add("resident", run.resident().size())
      .add("cause", cause)
      .text();
}

/// Kernels and their waves, as text and JSON.
struct Account {
  std::string text;
  JsonArray kernels, waves;
  std::size_t total = 0;

  Account(std::span<KernelRun* const> all, Verdict verdict) {
    for (KernelRun* run : all) add(*run, all, verdict);
  }
  void add(KernelRun& run, std::span<KernelRun* const> all, Verdict verdict) {
    std::vector<StuckWave> found;
    for (const std::unique_ptr<ResidentWorkgroup>& workgroup : run.resident()) {
      for (const ResidentWave& wave : workgroup->waves) {
        if (wave.wave.status == WaveStatus::Ended) continue;
        found.push_back(examine(run, *workgroup, wave, all, verdict));
        waves.add_raw(wave_json(found.back()));
      }
    }
    const std::string cause = verdict == Verdict::Deadlock ? not_started(run) : std::string();
    total += found.size();
    text += kernel_text(run, found, cause);
    kernels.add_raw(kernel_json(run, cause));
  }
};

}  // namespace

std::string running_report(std::span<KernelRun* const> kernels) {
  if (kernels.empty()) return {};
  const Account account(kernels, Verdict::RunsOn);
  JsonObject json;
  json.add("kind", "running");
  json.add("text", "emulated device: " + count(account.total, "wave") + " of " +
                       count(kernels.size(), "kernel") + " have not ended\n" + account.text);
  json.add_raw("kernels", account.kernels.text()).add_raw("waves", account.waves.text());
  return json.text();
}

void report_hang(std::span<KernelRun* const> kernels) {
  const Account account(kernels, Verdict::Deadlock);
  JsonObject json;
  json.add("kind", "hang").add("stuck_waves", account.total);
  json.add_raw("kernels", account.kernels.text()).add_raw("waves", account.waves.text());
  publish_report("emulated device: deadlock: " + count(account.total, "wave") + " of " +
                     count(kernels.size(), "kernel") + " can never proceed\n" + account.text,
                 json.text());
}

}  // namespace hipgraph::emu
