#include "runtime/launch_text.h"

#include "runtime/launch_names.h"

namespace hipgraph::emu {
namespace {

std::string joined(const std::array<std::uint32_t, 3>& values, const char* separator) {
  return std::to_string(values[0]) + separator + std::to_string(values[1]) + separator +
         std::to_string(values[2]);
}

}  // namespace

std::string triple(const std::array<std::uint32_t, 3>& values) {
  return "(" + joined(values, ",") + ")";
}

std::string triple_json(const std::array<std::uint32_t, 3>& values) {
  return "[" + joined(values, ", ") + "]";
}

std::string launch_text(const LaunchRequest& request, std::uint64_t launch) {
  const std::string origin = request.origin.empty() ? "" : ", " + request.origin;
  return "kernel " + demangled(request.kernel->name) + ", launch " + std::to_string(launch) +
         origin + ", grid " + triple(request.grid) + ", block " + triple(request.block);
}

JsonObject launch_json(const LaunchRequest& request, std::uint64_t launch) {
  JsonObject json;
  json.add("kernel", request.kernel->name).add("launch", launch).add("origin", request.origin);
  json.add_raw("grid", triple_json(request.grid)).add_raw("block", triple_json(request.block));
  return json;
}

}  // namespace hipgraph::emu
