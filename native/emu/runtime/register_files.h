#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "machine/wave.h"

namespace hipgraph::emu {

/// Vector registers and scratch of waves, recycled from wave to wave. Used on the executor's thread
/// only.
class RegisterFiles {
 public:
  static RegisterFiles& instance();
  /// 512 rows; the rows that the launch allocates hold poison, the others anything.
  VectorRegister* take(const LaunchFacts& launch);
  void give_back(VectorRegister* rows) { free_.push_back(rows); }

 private:
  std::vector<VectorRegister*> free_;
};

/// What unwritten registers hold: no useful number, float or address.
constexpr std::uint32_t register_poison = 0xbad0bad0;

}  // namespace hipgraph::emu
