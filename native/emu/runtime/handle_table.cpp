#include "runtime/handle_table.h"

#include <atomic>

namespace hipgraph::emu {

std::uintptr_t new_handle_value() {
  static std::atomic<std::uintptr_t> next{0x10000};
  return next.fetch_add(16);
}

}  // namespace hipgraph::emu
