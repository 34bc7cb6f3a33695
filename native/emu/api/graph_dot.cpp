#include "runtime/graph_dot.h"

#include <fstream>

#include "api/api.h"

using namespace hipgraph::emu;

HIPGRAPH_API hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned flags) {
  return entry([&] {
    require(path != nullptr, hipErrorInvalidValue);
    const auto text = [&] {
      const ApiLock lock;
      return dot_of(*find_graph(graph), flags);
    }();
    std::ofstream file(path);
    require(file.is_open(), hipErrorOperatingSystem);
    file << text;
  });
}
