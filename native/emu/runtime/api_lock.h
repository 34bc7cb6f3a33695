#pragma once
#include <cstdint>
#include <mutex>

#include "hip_abi.h"
#include "runtime/capture_refusal.h"

namespace hipgraph::emu {

/// The one lock of everything the entry points share: streams, events, captures, modules, graphs,
/// execs, reported failures. The discipline, in full:
///  - an entry point takes it before it touches such state, and everything declared in stream.h,
///    event.h, capture.h, module.h, graph.h and graph_exec.h expects it to be held;
///  - it is never held while waiting for the device (`Failures::wait` is called without it), and
///    never while a caller's function runs (destructors of user objects run when it is let go);
///  - the executor's and the address space's own locks are taken inside it, never the other way:
///    nothing that runs on the executor's thread takes it.
/// All state behind it is created on first use and never destroyed, so a process may exit with work
/// in flight and with threads inside the library.
class ApiLock {
 public:
  /// Whose code it is that runs: HIP forbids its functions to the user's callbacks, not to itself.
  enum class Caller : std::uint8_t { User, Library };

  explicit ApiLock(Caller caller = Caller::User);
  ~ApiLock();
  ApiLock(const ApiLock&) = delete;
  ApiLock& operator=(const ApiLock&) = delete;

 private:
  std::unique_lock<std::mutex> held_;
};

/// What HIP keeps per host thread. Plain values: nothing to destroy when a thread ends.
struct ThreadState {
  int device = 0;
  hipStreamCaptureMode exchange_mode = hipStreamCaptureModeGlobal;
  std::uint64_t number = 0;      ///< of this thread, from 1, never used again
  CaptureRefusal ended_capture;  ///< what made the capture invalid that the thread ended last
};

/// The calling thread's state.
ThreadState& this_thread();

}  // namespace hipgraph::emu
