#include "runtime/capture.h"

#include <utility>

#include "api/api.h"

using namespace hipgraph::emu;

namespace {

/// Where hipStreamGetCaptureInfo and its second version put what they find; any may be null.
struct CaptureInfo {
  hipStreamCaptureStatus* status = nullptr;
  unsigned long long* number = nullptr;
  hipGraph_t* graph = nullptr;
  const hipGraphNode_t** frontier = nullptr;
  std::size_t* frontier_size = nullptr;
};

template <class T>
void put(T* out, T value) {
  if (out != nullptr) *out = value;
}

void get_info(hipStream_t stream, const CaptureInfo& out) {
  require(out.status != nullptr, hipErrorInvalidValue);
  const ApiLock lock;
  const StreamPtr found = find_stream(stream);
  const bool implicit = found->is_null() && blocking_stream_captures();
  require(!implicit, hipErrorStreamCaptureImplicit);
  Recording& recording = found->recording;
  *out.status = recording.status;
  if (!found->capturing()) return;
  recording.shown = recording.frontier;
  put<unsigned long long>(out.number, recording.capture->number);
  put(out.graph, recording.capture->graph->handle);
  put<const hipGraphNode_t*>(out.frontier, recording.shown.data());
  put(out.frontier_size, recording.shown.size());
}

bool is_mode(hipStreamCaptureMode mode) {
  return mode >= hipStreamCaptureModeGlobal && mode <= hipStreamCaptureModeRelaxed;
}

/// A stream that may begin a capture now.
Stream& stream_to_capture(hipStream_t stream, hipStreamCaptureMode mode) {
  const bool default_stream = stream == nullptr || stream == stream_legacy;
  require(!default_stream, hipErrorStreamCaptureUnsupported);
  require(is_mode(mode), hipErrorInvalidValue);
  const StreamPtr found = find_stream(stream);
  require(!found->capturing(), hipErrorIllegalState);
  return *found;
}

}  // namespace

HIPGRAPH_API hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return entry([&] {
    const ApiLock lock;
    begin_capture(stream_to_capture(stream, mode), mode);
  });
}

// HIP has begun the capture when it finds out that a dependency is not in the graph.
HIPGRAPH_API hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph,
                                                     const hipGraphNode_t* nodes,
                                                     const void* edge_data, std::size_t count,
                                                     hipStreamCaptureMode mode) {
  return entry([&] {
    require(edge_data == nullptr, hipErrorNotSupported);
    require((nodes == nullptr) == (count == 0), hipErrorInvalidValue);
    const ApiLock lock;
    const GraphPtr into = find_graph(graph);
    require(!into->capturing, hipErrorInvalidValue);
    begin_capture_to(stream_to_capture(stream, mode), into, mode);
    update_frontier(*find_stream(stream), {nodes, count}, false);
  });
}

HIPGRAPH_API hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return entry([&] {
    clear(graph);
    const bool default_stream = stream == nullptr || stream == stream_legacy;
    require(!default_stream, hipErrorIllegalState);
    const ApiLock lock;
    const GraphPtr recorded = end_capture(*find_stream(stream));
    put(graph, recorded->handle);
  });
}

HIPGRAPH_API hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return entry([&] { get_info(stream, {.status = status}); });
}

HIPGRAPH_API hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status,
                                                unsigned long long* number) {
  return entry([&] { get_info(stream, {.status = status, .number = number}); });
}

HIPGRAPH_API hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream,
                                                   hipStreamCaptureStatus* status,
                                                   unsigned long long* number, hipGraph_t* graph,
                                                   const hipGraphNode_t** frontier,
                                                   std::size_t* frontier_size) {
  return entry([&] { get_info(stream, {status, number, graph, frontier, frontier_size}); });
}

HIPGRAPH_API hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream,
                                                           hipGraphNode_t* nodes, std::size_t count,
                                                           unsigned flags) {
  return entry([&] {
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    const Recording& recording = found->recording;
    require(recording.capture != nullptr, hipErrorIllegalState);
    require(found->capturing(), hipErrorStreamCaptureInvalidated);
    require(count <= recording.capture->graph->nodes().size(), hipErrorInvalidValue);
    require(nodes != nullptr || count == 0, hipErrorInvalidValue);
    const bool known =
        flags == hipStreamAddCaptureDependencies || flags == hipStreamSetCaptureDependencies;
    require(known, hipErrorInvalidValue);
    update_frontier(*found, {nodes, count}, flags == hipStreamSetCaptureDependencies);
  });
}

HIPGRAPH_API hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return entry([&] {
    require(is_mode(*required(mode)), hipErrorInvalidValue);
    *mode = std::exchange(this_thread().exchange_mode, *mode);
  });
}
