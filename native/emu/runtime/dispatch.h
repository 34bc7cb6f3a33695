#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/code_object.h"
#include "runtime/command.h"

namespace hipgraph::emu {

/// One kernel launch, arguments already packed into the kernarg layout.
struct LaunchRequest {
  const Kernel* kernel = nullptr;
  std::array<std::uint32_t, 3> grid{1, 1, 1};   ///< workgroups
  std::array<std::uint32_t, 3> block{1, 1, 1};  ///< work-items
  std::array<std::uint32_t, 3> rest{};          ///< work-items of an axis' last block, 0: all
  std::uint32_t dynamic_lds_bytes = 0;
  std::vector<std::uint8_t> kernarg;  ///< explicit arguments; hidden ones are filled in here
  std::string origin;                 ///< "stream 0x..", "graph exec 3 node 5": for reports
  int device = 0;
  std::shared_ptr<const void> keeps;  ///< whatever must live until the launch ends
};

/// Work-items along each axis of the workgroup at a position of the grid.
std::array<std::uint32_t, 3> block_at(const LaunchRequest& request,
                                      const std::array<std::uint32_t, 3>& position);

/// A command that runs a kernel on the emulated device.
CommandPtr make_dispatch(LaunchRequest request);

/// Workgroups of this kernel that fit on one compute unit at a time (what the scheduler uses, and
/// what hipModuleOccupancyMaxActiveBlocksPerMultiprocessor returns).
std::uint32_t workgroups_per_compute_unit(const Kernel& kernel, std::uint32_t block_items,
                                          std::uint32_t dynamic_lds_bytes);

}  // namespace hipgraph::emu
