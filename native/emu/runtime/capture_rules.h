#pragma once
#include <string_view>

#include "hip_abi.h"
#include "runtime/event.h"
#include "runtime/stream.h"

namespace hipgraph::emu {

/// What capture does to a call. Which calls are legal depends on the calling thread's exchange
/// mode, not on the mode a capture was begun with; that one decides which captures count.
enum class CaptureClass : std::uint8_t {
  AllocLike,     ///< refused by the thread's own captures, in global mode by any global one
  BlockingCopy,  ///< refused by every capture of the process, which all become invalid
  DeviceSync,    ///< as BlockingCopy, with another code
  StreamSync,    ///< refused on a capturing stream, else as AllocLike
  EventSync,     ///< refused on a captured event, else as AllocLike
  Callback,      ///< refused on a capturing stream, on the null stream beside any blocking one
  Capturable,    ///< becomes a node on a capturing stream
  Loading,       ///< legal, although CUDA refuses it beside captures that are not relaxed
  Eager,         ///< runs at once, even on a capturing stream
  Unaffected,    ///< legal, and no work for a stream: every call without a row
};

/// The class of an entry point.
CaptureClass capture_class(std::string_view call);

/// What becomes of a call on a stream.
enum class Admission : bool { Execute, Record };

/// Refuses the call, by its class and the thread's exchange mode, when captures are open.
void permit(std::string_view call);
/// The same for callers that do not hold the API lock.
void permit_now(std::string_view call);
/// The same for a call on a stream; says whether a capturable call is to be recorded.
Admission permit(std::string_view call, Stream& stream);
/// The same for a call on an event.
void permit(std::string_view call, const Event& event);

}  // namespace hipgraph::emu
