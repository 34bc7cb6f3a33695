#include "api/api.h"
#include "runtime/stream.h"

// The forms for code that was compiled with the per-thread stream as its default one. Each is the
// plain call on the stream that the handle then means.

extern "C" {
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipLaunchCooperativeKernel(const void* host, dim3 grid, dim3 block, void** parameters,
                                      unsigned dynamic_lds_bytes, hipStream_t stream);
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* user_data);
hipError_t hipLaunchKernel(const void* host, dim3 grid, dim3 block, void** parameters,
                           std::size_t dynamic_lds_bytes, hipStream_t stream);
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* user_data,
                                unsigned flags);
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph);
hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status,
                                   unsigned long long* number);
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus* status,
                                      unsigned long long* number, hipGraph_t* graph,
                                      const hipGraphNode_t** frontier, std::size_t* frontier_size);
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags);
hipError_t hipStreamGetPriority(hipStream_t stream, int* priority);
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags);
}

using namespace hipgraph::emu;

namespace {

hipStream_t per_thread(hipStream_t stream) {
  return stream == nullptr || stream == stream_legacy ? stream_per_thread : stream;
}

}  // namespace

HIPGRAPH_API hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream) {
  return entry([&] { return hipEventRecord(event, per_thread(stream)); });
}

HIPGRAPH_API hipError_t hipLaunchCooperativeKernel_spt(const void* host, dim3 grid, dim3 block,
                                                       void** parameters,
                                                       unsigned dynamic_lds_bytes,
                                                       hipStream_t stream) {
  return entry([&] {
    return hipLaunchCooperativeKernel(host, grid, block, parameters, dynamic_lds_bytes,
                                      per_thread(stream));
  });
}

HIPGRAPH_API hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t function,
                                              void* user_data) {
  return entry([&] { return hipLaunchHostFunc(per_thread(stream), function, user_data); });
}

HIPGRAPH_API hipError_t hipLaunchKernel_spt(const void* host, dim3 grid, dim3 block,
                                            void** parameters, std::size_t dynamic_lds_bytes,
                                            hipStream_t stream) {
  return entry([&] {
    return hipLaunchKernel(host, grid, block, parameters, dynamic_lds_bytes, per_thread(stream));
  });
}

HIPGRAPH_API hipError_t hipStreamAddCallback_spt(hipStream_t stream, hipStreamCallback_t callback,
                                                 void* user_data, unsigned flags) {
  return entry(
      [&] { return hipStreamAddCallback(per_thread(stream), callback, user_data, flags); });
}

HIPGRAPH_API hipError_t hipStreamBeginCapture_spt(hipStream_t stream, hipStreamCaptureMode mode) {
  return entry([&] { return hipStreamBeginCapture(per_thread(stream), mode); });
}

HIPGRAPH_API hipError_t hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t* graph) {
  return entry([&] { return hipStreamEndCapture(per_thread(stream), graph); });
}

HIPGRAPH_API hipError_t hipStreamGetCaptureInfo_spt(hipStream_t stream,
                                                    hipStreamCaptureStatus* status,
                                                    unsigned long long* number) {
  return entry([&] { return hipStreamGetCaptureInfo(per_thread(stream), status, number); });
}

HIPGRAPH_API hipError_t hipStreamGetCaptureInfo_v2_spt(
    hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* number,
    hipGraph_t* graph, const hipGraphNode_t** frontier, std::size_t* frontier_size) {
  return entry([&] {
    return hipStreamGetCaptureInfo_v2(per_thread(stream), status, number, graph, frontier,
                                      frontier_size);
  });
}

HIPGRAPH_API hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned* flags) {
  return entry([&] { return hipStreamGetFlags(per_thread(stream), flags); });
}

HIPGRAPH_API hipError_t hipStreamGetPriority_spt(hipStream_t stream, int* priority) {
  return entry([&] { return hipStreamGetPriority(per_thread(stream), priority); });
}

HIPGRAPH_API hipError_t hipStreamIsCapturing_spt(hipStream_t stream,
                                                 hipStreamCaptureStatus* status) {
  return entry([&] { return hipStreamIsCapturing(per_thread(stream), status); });
}

HIPGRAPH_API hipError_t hipStreamQuery_spt(hipStream_t stream) {
  return entry([&] { return hipStreamQuery(per_thread(stream)); });
}

HIPGRAPH_API hipError_t hipStreamSynchronize_spt(hipStream_t stream) {
  return entry([&] { return hipStreamSynchronize(per_thread(stream)); });
}

HIPGRAPH_API hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event,
                                               unsigned flags) {
  return entry([&] { return hipStreamWaitEvent(per_thread(stream), event, flags); });
}
