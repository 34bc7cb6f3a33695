#include "runtime/capture.h"

#include <algorithm>

#include "entry.h"
#include "runtime/api_lock.h"
#include "runtime/divergence.h"

namespace hipgraph::emu {
namespace {

std::vector<CapturePtr>& captures() {
  static auto& all = *new std::vector<CapturePtr>;
  return all;
}

template <class T>
bool contains(const std::vector<T>& values, const T& value) {
  return std::ranges::find(values, value) != values.end();
}

/// Adds the nodes that are not there yet.
void merge(std::vector<hipGraphNode_t>& into, std::span<const hipGraphNode_t> nodes) {
  for (hipGraphNode_t node : nodes) {
    if (!contains(into, node)) into.push_back(node);
  }
}

void join(Stream& stream, const CapturePtr& capture, hipStream_t through) {
  stream.recording = {};
  stream.recording.status = hipStreamCaptureStatusActive;
  stream.recording.capture = capture;
  stream.recording.joined_through = through;
  capture->participants.push_back(&stream);
}

/// Every stream of the capture is idle again, and the capture is none of the open ones. It lets go
/// of its graph, since events that were recorded in it may live on.
GraphPtr close(const CapturePtr& capture) {
  capture->open = false;
  capture->graph->capturing = false;
  const std::vector<Stream*> participants = capture->participants;
  for (Stream* stream : participants) stream->recording = {};
  std::erase(captures(), capture);
  return std::move(capture->graph);
}

/// The unjoined test: with a sink behind the origin's frontier, no leaf may be left but that sink.
bool has_unjoined_work(const Capture& capture) {
  const Recording& origin = capture.origin->recording;
  bool unjoined = false;
  for (const auto& node : capture.graph->nodes()) {
    const bool leaf = node->dependents.empty() && !contains(origin.frontier, node->handle);
    if (!leaf) continue;
    if (contains(origin.removed, node->handle)) return false;
    unjoined |= !node->manual;
  }
  return unjoined;
}

/// HIP lets a capture end well when only a joined stream became invalid.
bool refused_as_partial(const Capture& capture) {
  const bool partial = std::ranges::any_of(
      capture.participants, [](const Stream* stream) { return !stream->capturing(); });
  return partial && divergence(Divergence::PartialGraph) != hipSuccess;
}

void leave(Stream& stream, Capture& capture) {
  const hipStream_t handle = stream.handle;
  std::erase(capture.participants, &stream);
  stream.recording = {};
  const std::vector<Stream*> others = capture.participants;
  for (Stream* other : others) {
    if (other->recording.joined_through == handle) leave(*other, capture);
  }
}

}  // namespace

void Capture::invalidate(std::string_view call, hipError_t code) {
  for (Stream* stream : participants) invalidate(*stream, call, code);
}

void Capture::invalidate(Stream& stream, std::string_view call, hipError_t code) {
  stream.recording.status = hipStreamCaptureStatusInvalidated;
  if (refusal.call.empty()) refusal = {call, code, this_thread().number != thread};
}

const std::vector<CapturePtr>& open_captures() { return captures(); }

void begin_capture(Stream& stream, hipStreamCaptureMode mode) {
  const auto graph = std::make_shared<Graph>(stream.device);
  add_graph(graph);
  begin_capture_to(stream, graph, mode);
  stream.recording.capture->borrowed = false;
}

void begin_capture_to(Stream& stream, const GraphPtr& graph, hipStreamCaptureMode mode) {
  static std::uint64_t captures_begun = 0;
  if (stream.recording.capture) {
    diverge(Divergence::RestartedCapture);
    leave_capture(stream);
  }
  for (const auto& node : graph->nodes()) node->manual = true;
  auto capture = std::make_shared<Capture>();
  capture->number = ++captures_begun;
  capture->mode = mode;
  capture->thread = this_thread().number;
  capture->graph = graph;
  capture->graph->capturing = true;
  capture->borrowed = true;
  capture->origin = &stream;
  join(stream, capture, nullptr);
  captures().push_back(capture);
}

GraphPtr end_capture(Stream& stream) {
  const CapturePtr capture = stream.recording.capture;
  abi::require(capture != nullptr, hipErrorIllegalState);
  abi::require(capture->origin == &stream, hipErrorStreamCaptureUnmatched);
  const bool own =
      capture->mode == hipStreamCaptureModeRelaxed || capture->thread == this_thread().number;
  abi::require(own, hipErrorStreamCaptureWrongThread);
  this_thread().ended_capture = capture->refusal;
  const bool invalid = !stream.capturing() || refused_as_partial(*capture);
  const bool unjoined = !invalid && has_unjoined_work(*capture);
  GraphPtr graph = close(capture);
  if (!invalid && !unjoined) return graph;
  if (!capture->borrowed) destroy_graph(graph->handle);
  throw abi::Failure{invalid ? hipErrorStreamCaptureInvalidated : hipErrorStreamCaptureUnjoined};
}

void leave_capture(Stream& stream) {
  const CapturePtr capture = stream.recording.capture;
  if (!capture) return;
  if (capture->origin != &stream) {
    leave(stream, *capture);
    return;
  }
  const GraphPtr graph = close(capture);
  if (!capture->borrowed) destroy_graph(graph->handle);
}

Node& record(Stream& stream, NodeWork work) {
  Recording& recording = stream.recording;
  std::vector<Node*> dependencies;
  for (hipGraphNode_t handle : recording.frontier) {
    if (Node* node = find_node(handle)) dependencies.push_back(node);
  }
  Node& node = recording.capture->graph->add(std::move(work), dependencies);
  recording.frontier = {node.handle};
  return node;
}

void record_event(Event& event, const StreamPtr& stream) {
  event.stream = stream;
  event.capture = stream->recording.capture;
  event.nodes = stream->recording.frontier;
}

void wait_captured_event(std::string_view call, Stream& stream, const Event& event) {
  abi::require(!stream.is_null(), hipErrorInvalidHandle);
  const CapturePtr& capture = event.capture;
  if (!stream.recording.capture) {
    abi::require(capture->origin->capturing(), hipErrorInvalidValue);
    const StreamPtr through = event.stream.lock();
    join(stream, capture, through ? through->handle : nullptr);
  } else if (stream.recording.capture != capture) {
    stream.recording.capture->invalidate(call, hipErrorStreamCaptureMerge);
    capture->invalidate(call, hipErrorStreamCaptureMerge);
    throw abi::Failure{hipErrorStreamCaptureMerge};
  }
  merge(stream.recording.frontier, event.nodes);
}

void update_frontier(Stream& stream, std::span<const hipGraphNode_t> nodes, bool replace) {
  Recording& recording = stream.recording;
  for (hipGraphNode_t handle : nodes) {
    const Node* node = find_node(handle);
    abi::require(node != nullptr && node->graph == recording.capture->graph.get(),
                 hipErrorInvalidValue);
  }
  if (replace) {
    merge(recording.removed, recording.frontier);
    recording.frontier.clear();
  }
  merge(recording.frontier, nodes);
}

bool blocking_stream_captures() {
  return std::ranges::any_of(captures(), [](const CapturePtr& capture) {
    return std::ranges::any_of(capture->participants, [](const Stream* stream) {
      return stream->blocking() && stream->capturing();
    });
  });
}

}  // namespace hipgraph::emu
