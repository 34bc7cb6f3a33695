#include "api/api.h"
#include "runtime/submission.h"

using namespace hipgraph::emu;

namespace {

/// A stream callback on its way to the callback thread; it goes when it has run.
struct StreamCallback {
  hipStream_t stream;
  hipStreamCallback_t callback;
  void* user_data;

  static void run(void* state) {
    const std::unique_ptr<StreamCallback> call(static_cast<StreamCallback*>(state));
    call->callback(call->stream, hipSuccess, call->user_data);
  }
};

}  // namespace

HIPGRAPH_API hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback,
                                             void* user_data, unsigned flags) {
  return entry([&, call = __func__] {
    require(callback != nullptr && flags == 0, hipErrorInvalidValue);
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    const Admission admission = permit(call, *found);
    auto state = std::make_unique<StreamCallback>(StreamCallback{stream, callback, user_data});
    submit(*found, admission, HostWork{{StreamCallback::run, state.release()}}, stream);
  });
}
