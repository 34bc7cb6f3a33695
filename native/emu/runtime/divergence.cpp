#include "runtime/divergence.h"

#include <array>
#include <atomic>
#include <cstdio>

#include "entry.h"
#include "runtime/device.h"

namespace hipgraph::emu {
namespace {

struct DivergenceRow {
  Divergence kind;
  hipError_t code;  ///< in mode "error"; success: only warns
  const char* text;
};

using enum Divergence;

constexpr std::array divergence_rows{
    DivergenceRow{NullStreamWork, hipErrorStreamCaptureImplicit,
                  "work on the null stream while a blocking stream captures runs now, unordered"},
    DivergenceRow{NullStreamSync, hipErrorStreamCaptureImplicit,
                  "the null stream was synchronised or queried while a blocking stream captures"},
    DivergenceRow{RunsAtOnce, hipErrorStreamCaptureUnsupported,
                  "a call on a capturing stream ran at once and is no part of the graph"},
    DivergenceRow{
        UncapturedEvent, hipErrorStreamCaptureIsolation,
        "a capturing stream waits for an event recorded outside its capture: the graph has no "
        "such edge"},
    DivergenceRow{ModuleLoad, hipErrorStreamCaptureUnsupported, "code was loaded during a capture"},
    DivergenceRow{EmptyCopy, hipErrorInvalidValue,
                  "a copy of no bytes cannot be recorded, although it can be made"},
    DivergenceRow{RestartedCapture, hipErrorIllegalState,
                  "a capture was begun on a stream whose last capture is invalid and not ended"},
    DivergenceRow{
        PartialGraph, hipErrorStreamCaptureInvalidated,
        "a capture ended well although one of its streams is invalid: the graph is partial"},
    DivergenceRow{
        OverlappingLaunches, hipSuccess,
        "a graph exec was launched while in flight, with nothing to order the two; HIP lets such "
        "launches overlap, this device does not"},
    DivergenceRow{CallFromCallback, hipSuccess,
                  "HIP was called from a host function or stream callback, which can deadlock"},
};

constexpr bool divergences_in_order() {
  for (std::size_t i = 0; i < divergence_rows.size(); ++i) {
    if (static_cast<std::size_t>(divergence_rows[i].kind) != i) return false;
  }
  return true;
}
static_assert(divergences_in_order());

void warn_once(const DivergenceRow& row) {
  static std::array<std::atomic<bool>, divergence_rows.size()> told{};
  if (told[static_cast<std::size_t>(row.kind)].exchange(true)) return;
  std::fprintf(stderr, "hipgraph emu: divergence: %s (HIPGRAPH_EMU_DIVERGENCE=off hides this)\n",
               row.text);
}

}  // namespace

hipError_t divergence(Divergence kind) {
  const DivergencePolicy policy = device_model().divergence;
  if (policy == DivergencePolicy::Off) return hipSuccess;
  const DivergenceRow& row = divergence_rows[static_cast<std::size_t>(kind)];
  warn_once(row);
  return policy == DivergencePolicy::Error ? row.code : hipSuccess;
}

void diverge(Divergence kind) {
  const hipError_t code = divergence(kind);
  abi::require(code == hipSuccess, code);
}

}  // namespace hipgraph::emu
