#pragma once
#include <cstdint>
#include <optional>

#include "machine/memory.h"

namespace hipgraph::emu {

/// What is kept of the writers of one dword of the arena: 32 bytes, all zero when nobody wrote.
struct WriterNote {
  std::uint64_t wave_and_pc = 0;  ///< wave + 1 above bit 48, pc below; 0: nobody wrote
  std::uint32_t launch = 0;
  std::uint32_t workgroup = 0;
  std::uint32_t before = 0;  ///< launch + 1 of the latest writer of another launch; 0: nobody
  std::uint32_t unused[3]{};

  /// Notes that `writer` wrote after whoever did so before.
  void take(const Writer& writer);
  /// The latest writer, if any.
  std::optional<Writer> writer() const;
};
static_assert(sizeof(WriterNote) == 32);

}  // namespace hipgraph::emu
