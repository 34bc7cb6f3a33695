#include "runtime/submission.h"

#include "runtime/capture.h"
#include "runtime/node_commands.h"

namespace hipgraph::emu {

void submit(Stream& stream, Admission admission, const NodeWork& work, hipStream_t handle) {
  if (admission == Admission::Record) {
    record(stream, work);
  } else {
    enqueue(stream, make_command(work, stream.device, origin_of_stream(handle)));
  }
}

}  // namespace hipgraph::emu
