#pragma once
#include <cstdint>
#include <vector>

#include "runtime/image_bytes.h"

namespace hipgraph::emu {

/// How the payload of a compressed bundle is packed (its method field).
enum class Compression : std::uint16_t { Zlib = 0, Zstd = 1 };

/// Unpacks exactly `unpacked` bytes with the system's libz or libzstd, loaded when first needed.
/// `packed` may go on behind the payload. Throws LoadError, which says what to install when the
/// library is absent.
std::vector<std::uint8_t> decompress(Compression method, Bytes packed, std::uint64_t unpacked);

}  // namespace hipgraph::emu
