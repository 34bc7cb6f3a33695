#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "runtime/code_object.h"
#include "runtime/status.h"

namespace hipgraph::emu {

using Bytes = std::span<const std::uint8_t>;

/// Refuses an image as damaged.
[[noreturn]] inline void refuse_image(const std::string& text) {
  throw LoadError{status::invalid_image, "code object: " + text};
}

/// The part [offset, offset + count) of an image; refuses when it is not all there.
inline Bytes part(Bytes image, std::uint64_t offset, std::uint64_t count, const char* what) {
  if (offset > image.size() || count > image.size() - offset) {
    refuse_image(std::string(what) + " (" + std::to_string(count) + " bytes at offset " +
                 std::to_string(offset) + ") lies beyond the image's " +
                 std::to_string(image.size()) + " bytes: truncated or damaged");
  }
  return image.subspan(offset, count);
}

/// Reads a little-endian value; refuses when the image ends before it does.
template <typename T>
T read(Bytes image, std::uint64_t offset, const char* what) {
  T value;
  std::memcpy(&value, part(image, offset, sizeof(T), what).data(), sizeof(T));
  return value;
}

/// Whether the image begins with these characters.
inline bool begins_with(Bytes image, std::string_view magic) {
  return image.size() >= magic.size() && std::memcmp(image.data(), magic.data(), magic.size()) == 0;
}

/// The bytes as text; refuses what is no UTF-8, so that every message about an image is.
std::string text_of(Bytes bytes, const char* what);

/// Bytes that can be read from `start` on without a fault: what bounds an image whose caller did
/// not say how long it is.
std::size_t readable_bytes(const void* start);

}  // namespace hipgraph::emu
