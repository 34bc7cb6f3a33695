#include "api/api.h"
#include "runtime/stream.h"

using namespace hipgraph::emu;

// Functions whose result is no error code.

HIPGRAPH_API hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}

HIPGRAPH_API int hipGetStreamDeviceId(hipStream_t stream) {
  int device = -1;
  entry([&] {
    const ApiLock lock;
    device = find_stream(stream)->device;
  });
  return device;
}
