#include "runtime/register_files.h"

#include "runtime/arena.h"

namespace hipgraph::emu {
namespace {

constexpr std::size_t file_rows = 512;
constexpr std::size_t first_accvgpr = 256;
// Rows between files, so that one row of all waves does not fall into one set of the host's caches.
constexpr std::size_t stagger = 17;
constexpr std::size_t files_at_a_time = 64;

}  // namespace

RegisterFiles& RegisterFiles::instance() {
  static RegisterFiles& files = *new RegisterFiles();
  return files;
}

VectorRegister* RegisterFiles::take(const LaunchFacts& launch) {
  if (free_.empty()) {
    constexpr std::size_t pitch = file_rows + stagger;
    auto* start = static_cast<VectorRegister*>(
        reserve_table(files_at_a_time * pitch * sizeof(VectorRegister)));
    for (std::size_t i = files_at_a_time; i > 0; --i) free_.push_back(start + (i - 1) * pitch);
  }
  VectorRegister* file = free_.back();
  free_.pop_back();
  for (std::size_t i = 0; i < launch.vgpr_rows; ++i) file[i].fill(register_poison);
  for (std::size_t i = 0; i < launch.accvgpr_rows; ++i) {
    file[first_accvgpr + i].fill(register_poison);
  }
  return file;
}

}  // namespace hipgraph::emu
