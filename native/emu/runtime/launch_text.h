#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "runtime/json.h"
#include "runtime/kernel_run.h"

/// How reports spell launches and places in them.
namespace hipgraph::emu {

/// "(3,0,1)".
std::string triple(const std::array<std::uint32_t, 3>& values);
/// "kernel spin(int*), launch 7, graph exec 1 node 2, grid (33,1,7), block (256,1,1)".
std::string launch_text(const LaunchRequest& request, std::uint64_t launch);
/// The same as JSON members.
JsonObject launch_json(const LaunchRequest& request, std::uint64_t launch);
/// The values as a JSON array.
std::string triple_json(const std::array<std::uint32_t, 3>& values);

}  // namespace hipgraph::emu
