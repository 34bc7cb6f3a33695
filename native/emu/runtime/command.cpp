#include "runtime/command.h"

#include "runtime/race_check.h"

namespace hipgraph::emu {

void Command::touch(const void* begin, std::size_t bytes, Touch how) {
  if (track_ != nullptr) track_->touch(reinterpret_cast<std::uint64_t>(begin), bytes, how);
}

}  // namespace hipgraph::emu
