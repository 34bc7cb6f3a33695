#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hip_abi.h"
#include "runtime/capture_refusal.h"
#include "runtime/event.h"
#include "runtime/graph.h"
#include "runtime/stream.h"

namespace hipgraph::emu {

/// One recording, from BeginCapture to EndCapture of the origin stream.
class Capture {
 public:
  std::uint64_t number = 0;  ///< process-unique
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  std::uint64_t thread = 0;  ///< that began it
  GraphPtr graph;
  bool borrowed = false;  ///< the graph was there before, and stays when the capture fails
  Stream* origin = nullptr;
  std::vector<Stream*> participants;  ///< the origin first
  bool open = true;
  CaptureRefusal refusal;  ///< the first call by which a stream of it became invalid

  /// Makes the origin and every participant invalid, because `call` is refused with `code`.
  void invalidate(std::string_view call, hipError_t code);
  /// The same for one participant.
  void invalidate(Stream& stream, std::string_view call, hipError_t code);
};
using CapturePtr = std::shared_ptr<Capture>;

/// Every open capture of the process.
const std::vector<CapturePtr>& open_captures();

/// Starts recording `stream` into a new graph.
void begin_capture(Stream& stream, hipStreamCaptureMode mode);
/// Starts recording `stream` into a graph of the caller's. Its nodes so far count as added by hand.
void begin_capture_to(Stream& stream, const GraphPtr& graph, hipStreamCaptureMode mode);
/// Ends the capture of which `stream` is the origin; the graph, or why there is none. What made it
/// invalid stays with the thread.
GraphPtr end_capture(Stream& stream);
/// Takes a stream that is being destroyed out of its capture: the origin ends it, a participant
/// leaves with those that joined through it.
void leave_capture(Stream& stream);

/// Adds a node at the frontier of a capturing stream and makes it the frontier.
Node& record(Stream& stream, NodeWork work);
/// Notes a capturing stream's frontier in `event`.
void record_event(Event& event, const StreamPtr& stream);
/// Makes `stream` depend on a captured event, joining its capture if need be. `call` asks for it.
void wait_captured_event(std::string_view call, Stream& stream, const Event& event);
/// Adds to (or replaces) the frontier of a capturing stream.
void update_frontier(Stream& stream, std::span<const hipGraphNode_t> nodes, bool replace);
/// Whether a blocking stream captures, which concerns the null stream.
bool blocking_stream_captures();

}  // namespace hipgraph::emu
