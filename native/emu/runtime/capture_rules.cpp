#include "runtime/capture_rules.h"

#include <algorithm>
#include <array>

#include "entry.h"
#include "runtime/api_lock.h"
#include "runtime/capture.h"
#include "runtime/divergence.h"

namespace hipgraph::emu {
namespace {

struct Rule {
  std::string_view call;
  CaptureClass kind;
};

using enum CaptureClass;

/// One row an entry point that captures matter to, in alphabetical order.
constexpr std::array rules{
    Rule{"hipDeviceSetCacheConfig", AllocLike},
    Rule{"hipDeviceSetMemPool", AllocLike},
    Rule{"hipDeviceSetSharedMemConfig", AllocLike},
    Rule{"hipDeviceSynchronize", DeviceSync},
    Rule{"hipDrvMemcpy2DUnaligned", BlockingCopy},
    Rule{"hipDrvMemcpy3D", BlockingCopy},
    Rule{"hipDrvMemcpy3DAsync", Capturable},
    Rule{"hipEventQuery", EventSync},
    Rule{"hipEventRecord", Capturable},
    Rule{"hipEventRecordWithFlags", Capturable},
    Rule{"hipEventSynchronize", EventSync},
    Rule{"hipExtHostAlloc", AllocLike},
    Rule{"hipExtLaunchKernel", Capturable},
    Rule{"hipExtModuleLaunchKernel", Capturable},
    Rule{"hipFree", AllocLike},
    Rule{"hipFreeAsync", Capturable},
    Rule{"hipFreeHost", AllocLike},
    Rule{"hipGraphLaunch", Eager},
    Rule{"hipGraphLaunch_spt", Eager},
    Rule{"hipHostAlloc", AllocLike},
    Rule{"hipHostFree", AllocLike},
    Rule{"hipHostMalloc", AllocLike},
    Rule{"hipHostRegister", AllocLike},
    Rule{"hipHostUnregister", AllocLike},
    Rule{"hipLaunchByPtr", Capturable},
    Rule{"hipLaunchCooperativeKernel", Capturable},
    Rule{"hipLaunchHostFunc", Capturable},
    Rule{"hipLaunchKernel", Capturable},
    Rule{"hipMalloc", AllocLike},
    Rule{"hipMalloc3D", AllocLike},
    Rule{"hipMallocAsync", Capturable},
    Rule{"hipMallocFromPoolAsync", Capturable},
    Rule{"hipMallocHost", AllocLike},
    Rule{"hipMallocManaged", AllocLike},
    Rule{"hipMallocPitch", AllocLike},
    Rule{"hipMemAdvise", AllocLike},
    Rule{"hipMemAdvise_v2", AllocLike},
    Rule{"hipMemAllocHost", AllocLike},
    Rule{"hipMemAllocPitch", AllocLike},
    Rule{"hipMemPoolCreate", AllocLike},
    Rule{"hipMemPoolDestroy", AllocLike},
    Rule{"hipMemPrefetchAsync", AllocLike},
    Rule{"hipMemPrefetchAsync_v2", AllocLike},
    Rule{"hipMemcpy", BlockingCopy},
    Rule{"hipMemcpy2D", BlockingCopy},
    Rule{"hipMemcpy2DAsync", Capturable},
    Rule{"hipMemcpy3D", BlockingCopy},
    Rule{"hipMemcpy3DAsync", Capturable},
    Rule{"hipMemcpy3DPeer", BlockingCopy},
    Rule{"hipMemcpy3DPeerAsync", Eager},
    Rule{"hipMemcpyAsync", Capturable},
    Rule{"hipMemcpyDtoD", BlockingCopy},
    Rule{"hipMemcpyDtoDAsync", Capturable},
    Rule{"hipMemcpyDtoH", BlockingCopy},
    Rule{"hipMemcpyDtoHAsync", Capturable},
    Rule{"hipMemcpyFromSymbol", BlockingCopy},
    Rule{"hipMemcpyFromSymbolAsync", Capturable},
    Rule{"hipMemcpyHtoD", BlockingCopy},
    Rule{"hipMemcpyHtoDAsync", Capturable},
    Rule{"hipMemcpyParam2D", BlockingCopy},
    Rule{"hipMemcpyParam2DAsync", Capturable},
    Rule{"hipMemcpyPeer", BlockingCopy},
    Rule{"hipMemcpyPeerAsync", Eager},
    Rule{"hipMemcpyToSymbol", BlockingCopy},
    Rule{"hipMemcpyToSymbolAsync", Capturable},
    Rule{"hipMemcpyWithStream", StreamSync},
    Rule{"hipMemset", BlockingCopy},
    Rule{"hipMemset2D", BlockingCopy},
    Rule{"hipMemset2DAsync", Capturable},
    Rule{"hipMemset3D", BlockingCopy},
    Rule{"hipMemset3DAsync", Capturable},
    Rule{"hipMemsetAsync", Capturable},
    Rule{"hipMemsetD16", BlockingCopy},
    Rule{"hipMemsetD16Async", Capturable},
    Rule{"hipMemsetD2D16", BlockingCopy},
    Rule{"hipMemsetD2D16Async", Capturable},
    Rule{"hipMemsetD2D32", BlockingCopy},
    Rule{"hipMemsetD2D32Async", Capturable},
    Rule{"hipMemsetD2D8", BlockingCopy},
    Rule{"hipMemsetD2D8Async", Capturable},
    Rule{"hipMemsetD32", BlockingCopy},
    Rule{"hipMemsetD32Async", Capturable},
    Rule{"hipMemsetD8", BlockingCopy},
    Rule{"hipMemsetD8Async", Capturable},
    Rule{"hipModuleLaunchCooperativeKernel", Capturable},
    Rule{"hipModuleLaunchKernel", Capturable},
    Rule{"hipModuleLoad", Loading},
    Rule{"hipModuleLoadData", Loading},
    Rule{"hipModuleLoadDataEx", Loading},
    Rule{"hipModuleUnload", AllocLike},
    Rule{"hipStreamAddCallback", Callback},
    Rule{"hipStreamAttachMemAsync", Eager},
    Rule{"hipStreamBatchMemOp", Capturable},
    Rule{"hipStreamQuery", StreamSync},
    Rule{"hipStreamSetAttribute", StreamSync},
    Rule{"hipStreamSynchronize", StreamSync},
    Rule{"hipStreamWaitEvent", Capturable},
    Rule{"hipStreamWaitValue32", Capturable},
    Rule{"hipStreamWaitValue64", Capturable},
    Rule{"hipStreamWriteValue32", Capturable},
    Rule{"hipStreamWriteValue64", Capturable},
};
static_assert(std::ranges::is_sorted(rules, {}, &Rule::call));

/// Makes every capture that `counts` invalid and refuses, if there is one.
template <class Counts>
void refuse_if_any(std::string_view call, Counts&& counts, hipError_t code) {
  bool any = false;
  for (const CapturePtr& capture : open_captures()) {
    if (!counts(*capture)) continue;
    any = true;
    capture->invalidate(call, code);
  }
  abi::require(!any, code);
}

/// The rule that the exchange mode rules: relaxed threads may; others not beside captures of their
/// own; in global mode not beside anybody's global capture. `first` says which of the two is looked
/// at first, since that one's captures become invalid.
enum class First : bool { Own, Global };

void refuse_by_exchange_mode(std::string_view call, First first) {
  const ThreadState& thread = this_thread();
  if (thread.exchange_mode == hipStreamCaptureModeRelaxed) return;
  const auto own = [&](const Capture& capture) {
    return capture.thread == thread.number && capture.mode != hipStreamCaptureModeRelaxed;
  };
  const auto global = [&](const Capture& capture) {
    return thread.exchange_mode == hipStreamCaptureModeGlobal &&
           capture.mode == hipStreamCaptureModeGlobal;
  };
  if (first == First::Global) refuse_if_any(call, global, hipErrorStreamCaptureUnsupported);
  refuse_if_any(call, own, hipErrorStreamCaptureUnsupported);
  refuse_if_any(call, global, hipErrorStreamCaptureUnsupported);
}

void permit_stream_sync(std::string_view call, Stream& stream) {
  if (stream.is_null()) return;
  if (stream.recording.status != hipStreamCaptureStatusNone) {
    stream.recording.capture->invalidate(stream, call, hipErrorStreamCaptureUnsupported);
    throw abi::Failure{hipErrorStreamCaptureUnsupported};
  }
  refuse_by_exchange_mode(call, First::Global);
}

/// A callback is never recorded.
void permit_callback(std::string_view call, Stream& stream) {
  if (stream.recording.capture != nullptr) {
    stream.recording.capture->invalidate(call, hipErrorStreamCaptureUnsupported);
    throw abi::Failure{hipErrorStreamCaptureUnsupported};
  }
  const bool implicit = stream.is_null() && blocking_stream_captures();
  const auto every = [](const Capture&) { return true; };
  if (implicit) refuse_if_any(call, every, hipErrorStreamCaptureImplicit);
}

/// What HIP takes silently although a capture does not see it.
void note_divergence(CaptureClass kind, const Stream& stream) {
  if (kind == Eager && stream.capturing()) diverge(Divergence::RunsAtOnce);
  const bool beside_capture = stream.is_null() && blocking_stream_captures();
  if (kind == StreamSync && beside_capture) diverge(Divergence::NullStreamSync);
  const bool work = kind == Capturable || kind == Eager;
  if (work && beside_capture) diverge(Divergence::NullStreamWork);
}

/// Code that is loaded beside a capture which is not relaxed, by a thread which is not.
void note_loading() {
  if (this_thread().exchange_mode == hipStreamCaptureModeRelaxed) return;
  const bool concerned = std::ranges::any_of(open_captures(), [](const CapturePtr& capture) {
    const bool own = capture->thread == this_thread().number;
    return capture->mode == hipStreamCaptureModeGlobal ||
           (own && capture->mode == hipStreamCaptureModeThreadLocal);
  });
  if (concerned) diverge(Divergence::ModuleLoad);
}

}  // namespace

CaptureClass capture_class(std::string_view call) {
  const auto row = std::ranges::lower_bound(rules, call, {}, &Rule::call);
  return row != rules.end() && row->call == call ? row->kind : Unaffected;
}

void permit(std::string_view call) {
  const auto every = [](const Capture&) { return true; };
  const CaptureClass kind = capture_class(call);
  if (kind == Loading) note_loading();
  if (kind == AllocLike) refuse_by_exchange_mode(call, First::Own);
  if (kind == BlockingCopy) refuse_if_any(call, every, hipErrorStreamCaptureImplicit);
  if (kind == DeviceSync) refuse_if_any(call, every, hipErrorStreamCaptureUnsupported);
}

void permit_now(std::string_view call) {
  const ApiLock lock;
  permit(call);
}

Admission permit(std::string_view call, Stream& stream) {
  const CaptureClass kind = capture_class(call);
  if (kind == StreamSync) permit_stream_sync(call, stream);
  if (kind == Callback) permit_callback(call, stream);
  note_divergence(kind, stream);
  if (kind != Capturable) return Admission::Execute;
  abi::require(stream.recording.status != hipStreamCaptureStatusInvalidated,
               hipErrorStreamCaptureInvalidated);
  return stream.capturing() ? Admission::Record : Admission::Execute;
}

void permit(std::string_view call, const Event& event) {
  if (capture_class(call) != EventSync) return;
  if (event.captured() && event.capture->origin->capturing()) {
    event.capture->invalidate(call, hipErrorCapturedEvent);
    throw abi::Failure{hipErrorCapturedEvent};
  }
  const StreamPtr stream = event.stream.lock();
  const bool on_null_stream = stream != nullptr && stream->is_null();
  const bool harmless = !event.captured() && (event.command == nullptr || on_null_stream);
  if (!harmless) refuse_by_exchange_mode(call, First::Global);
}

}  // namespace hipgraph::emu
