#include "runtime/stream.h"

#include <algorithm>
#include <map>
#include <utility>

#include "entry.h"
#include "runtime/api_lock.h"
#include "runtime/capture.h"
#include "runtime/device.h"
#include "runtime/executor.h"
#include "runtime/failures.h"
#include "runtime/handle_table.h"
#include "runtime/node_commands.h"
#include "runtime/race_check.h"

namespace hipgraph::emu {
namespace {

struct Streams {
  HandleTable<hipStream_t, Stream> created{"streams"};
  std::vector<StreamPtr> null_streams;                            ///< one a device
  std::map<std::pair<std::uint64_t, int>, StreamPtr> per_thread;  ///< by thread and device
  std::vector<Stream> orphans;  ///< what was left in flight of destroyed ones
};

Streams& streams() {
  static Streams& all = *[] {
    auto* made = new Streams;
    for (int device = 0; device < device_model().devices; ++device) {
      made->null_streams.push_back(std::make_shared<Stream>());
      made->null_streams.back()->device = device;
    }
    return made;
  }();
  return all;
}

Stream& null_stream(int device) {
  return *streams().null_streams[static_cast<std::size_t>(device)];
}

void abandon(const Stream& stream) {
  std::vector<Stream>& orphans = streams().orphans;
  std::erase_if(orphans, [](const Stream& orphan) {
    return Executor::instance().complete(orphan.tail) && orphan.tail->failure() == 0;
  });
  if (stream.tail == nullptr) return;
  orphans.emplace_back();
  orphans.back().device = stream.device;
  orphans.back().flags = stream.flags;
  orphans.back().tail = stream.tail;
}

/// Ends a thread's streams with it.
struct PerThreadOwner {
  std::uint64_t thread;

  explicit PerThreadOwner(std::uint64_t number) : thread(number) {}
  PerThreadOwner(const PerThreadOwner&) = delete;
  PerThreadOwner& operator=(const PerThreadOwner&) = delete;
  ~PerThreadOwner() {
    const ApiLock lock;
    std::erase_if(streams().per_thread, [this](const auto& entry) {
      const bool own = entry.first.first == thread;
      if (own) leave_capture(*entry.second);
      if (own) abandon(*entry.second);
      return own;
    });
  }
};

StreamPtr per_thread_stream() {
  const ThreadState& thread = this_thread();
  static thread_local const PerThreadOwner owner(thread.number);
  StreamPtr& stream = streams().per_thread[{thread.number, thread.device}];
  if (!stream) {
    stream = std::make_shared<Stream>();
    stream->handle = stream_per_thread;
    stream->device = thread.device;
  }
  return stream;
}

void append(std::vector<CommandPtr>& commands, const CommandPtr& command) {
  if (Failures::instance().orders(command)) {
    commands.push_back(command);
  } else if (RaceCheck* check = RaceCheck::active(); check != nullptr && command != nullptr) {
    check->host_learns(*command);  // it failed, and the host was told
  }
}

/// Appends the tails of a device's streams, the null stream's excepted.
void append_others(std::vector<CommandPtr>& commands, int device, bool blocking_only) {
  const auto visit = [&](const Stream& stream) {
    const bool wanted = stream.device == device && (stream.blocking() || !blocking_only);
    if (wanted) append(commands, stream.tail);
  };
  for (const auto& [handle, stream] : streams().created.all()) visit(*stream);
  for (const auto& [owner, stream] : streams().per_thread) visit(*stream);
  for (const Stream& stream : streams().orphans) visit(stream);
}

}  // namespace

StreamPtr find_stream(hipStream_t handle, hipError_t unknown) {
  if (handle == nullptr || handle == stream_legacy) {
    return streams().null_streams[static_cast<std::size_t>(this_thread().device)];
  }
  if (handle == stream_per_thread) return per_thread_stream();
  StreamPtr stream = streams().created.find(handle);
  abi::require(stream != nullptr, unknown);
  return stream;
}

bool stream_exists(hipStream_t handle) { return streams().created.find(handle) != nullptr; }

StreamPtr create_stream(unsigned flags, int priority) {
  auto stream = std::make_shared<Stream>();
  stream->device = this_thread().device;
  stream->flags = flags;
  stream->priority = priority;
  streams().created.insert(stream);
  return stream;
}

void destroy_stream(const StreamPtr& stream) {
  abandon(*stream);
  streams().created.erase(stream->handle);
}

std::vector<StreamPtr> streams_of(int device) {
  std::vector<StreamPtr> found;
  const auto add = [&](const StreamPtr& stream) {
    if (stream->device == device) found.push_back(stream);
  };
  for (const auto& [handle, stream] : streams().created.all()) add(stream);
  for (const auto& [owner, stream] : streams().per_thread) add(stream);
  return found;
}

std::vector<CommandPtr> predecessors(const Stream& stream) {
  std::vector<CommandPtr> commands;
  append(commands, stream.tail);
  if (stream.is_null()) {
    append_others(commands, stream.device, true);
  } else if (stream.blocking()) {
    append(commands, null_stream(stream.device).tail);
  }
  return commands;
}

void enqueue(Stream& stream, const CommandPtr& command, std::span<const CommandPtr> also) {
  std::vector<CommandPtr> after = predecessors(stream);
  for (const CommandPtr& other : also) append(after, other);
  if (RaceCheck* check = RaceCheck::active(); check != nullptr && !stream.looks_on) {
    check->follow(*command, after, origin_of_stream(stream.handle));
  }
  Executor::instance().submit(command, after);
  stream.tail = command;
}

void wait_for_command(Stream& stream, const CommandPtr& command) {
  // The race check wants to know of the order even where nothing is left to wait for.
  const bool done = RaceCheck::active() == nullptr && Executor::instance().complete(command) &&
                    command->failure() == 0;
  if (done || !Failures::instance().orders(command)) return;
  enqueue(stream, make_marker(), {&command, 1});
}

std::vector<CommandPtr> work_of(hipStream_t handle, const Stream& stream) {
  std::vector<CommandPtr> commands;
  append(commands, stream.tail);
  if (handle == nullptr) append_others(commands, stream.device, true);
  return commands;
}

std::vector<CommandPtr> work_of_device(int device) {
  std::vector<CommandPtr> commands;
  append(commands, null_stream(device).tail);
  append_others(commands, device, false);
  return commands;
}

void wait_for_device(int device) {
  const auto work = [device] {
    const ApiLock lock;
    return work_of_device(device);
  }();
  for (const CommandPtr& command : work) Executor::instance().wait(command);
}

}  // namespace hipgraph::emu
