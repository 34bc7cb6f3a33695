#pragma once
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "hip_abi.h"
#include "runtime/command.h"

namespace hipgraph::emu {

class Capture;
struct Stream;
using StreamPtr = std::shared_ptr<Stream>;

/// A stream's part in a capture.
struct Recording {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  std::shared_ptr<Capture> capture;      ///< null when the status is None
  std::vector<hipGraphNode_t> frontier;  ///< nodes that the next recorded one depends on
  std::vector<hipGraphNode_t> removed;   ///< taken out of the frontier by the caller
  std::vector<hipGraphNode_t> shown;     ///< storage behind the pointer that callers get
  hipStream_t joined_through = nullptr;  ///< the stream whose event brought this one in
};

/// An order of work. It keeps the last command handed over; the executor does the rest.
struct Stream {
  hipStream_t handle = nullptr;  ///< null for a device's null stream
  int device = 0;
  unsigned flags = hipStreamDefault;
  int priority = 0;
  CommandPtr tail;
  bool looks_on = false;  ///< it reads what other work is changing, and means to
  Recording recording;
  std::map<int, hipLaunchAttributeValue> attributes;  ///< as callers set them

  bool is_null() const { return handle == nullptr; }
  bool blocking() const { return flags == hipStreamDefault; }
  bool capturing() const { return recording.status == hipStreamCaptureStatusActive; }
};

/// Handles that HIP reserves.
inline const hipStream_t stream_legacy = reinterpret_cast<hipStream_t>(1);
inline const hipStream_t stream_per_thread = reinterpret_cast<hipStream_t>(2);

/// The stream behind a handle: null and legacy are the current device's null stream, the per-thread
/// handle is the calling thread's own. An unknown one fails with `unknown`.
StreamPtr find_stream(hipStream_t handle, hipError_t unknown = hipErrorContextIsDestroyed);
/// Whether the handle is that of a stream some caller created and has not destroyed.
bool stream_exists(hipStream_t handle);
/// A new stream of the current device.
StreamPtr create_stream(unsigned flags, int priority);
/// Forgets a created stream; its pending work still completes.
void destroy_stream(const StreamPtr& stream);

/// The streams of a device that callers or threads have, the null stream excepted.
std::vector<StreamPtr> streams_of(int device);

/// What the next command of `stream` waits for: its own tail, and by the implicit rule the null
/// stream's tail, or for the null stream every blocking stream's.
std::vector<CommandPtr> predecessors(const Stream& stream);
/// Hands `command` over behind everything `stream` waits for, and behind `also`.
void enqueue(Stream& stream, const CommandPtr& command, std::span<const CommandPtr> also = {});
/// Makes the next command of `stream` wait for a command of another one.
void wait_for_command(Stream& stream, const CommandPtr& command);

/// What synchronising with `handle` waits for; the null handle includes all blocking streams.
std::vector<CommandPtr> work_of(hipStream_t handle, const Stream& stream);
/// All work of a device, that of destroyed streams too.
std::vector<CommandPtr> work_of_device(int device);
/// Waits for all work of a device. Takes the API lock: the only one here to be called without it.
void wait_for_device(int device);

}  // namespace hipgraph::emu
