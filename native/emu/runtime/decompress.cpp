#include "runtime/decompress.h"

#include <dlfcn.h>

#include <algorithm>
#include <limits>

namespace hipgraph::emu {
namespace {

// More than any code object; a damaged size field beyond it is refused before memory is taken.
constexpr std::uint64_t most_unpacked = std::uint64_t{4} << 30;

/// A function of a system library; refuses with `cure` when the library is not installed.
template <typename Function>
Function system_function(const char* library, const char* name, const char* cure) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void* function = handle == nullptr ? nullptr : dlsym(handle, name);
  if (function == nullptr) {
    refuse_image(std::string("this bundle is compressed and needs ") + library +
                 ", which is not installed: " + cure + ", or build it with --no-offload-compress");
  }
  return reinterpret_cast<Function>(function);
}

std::uint64_t unpack_zlib(Bytes packed, std::vector<std::uint8_t>& to) {
  using Uncompress = int (*)(std::uint8_t*, unsigned long*, const std::uint8_t*, unsigned long);
  const auto uncompress = system_function<Uncompress>(
      "libz.so.1", "uncompress", "install zlib (Debian: zlib1g; Fedora: zlib)");
  unsigned long count = to.size();
  return uncompress(to.data(), &count, packed.data(), packed.size()) == 0 ? count : 0;
}

std::uint64_t unpack_zstd(Bytes packed, std::vector<std::uint8_t>& to) {
  constexpr const char* library = "libzstd.so.1";
  constexpr const char* cure = "install zstd (Debian: libzstd1; Fedora: libzstd)";
  using FrameSize = std::size_t (*)(const void*, std::size_t);
  using IsError = unsigned (*)(std::size_t);
  using Decompress = std::size_t (*)(void*, std::size_t, const void*, std::size_t);
  const auto frame_size = system_function<FrameSize>(library, "ZSTD_findFrameCompressedSize", cure);
  const auto is_error = system_function<IsError>(library, "ZSTD_isError", cure);
  const auto unpack = system_function<Decompress>(library, "ZSTD_decompress", cure);
  const std::size_t frame = frame_size(packed.data(), packed.size());
  if (is_error(frame) != 0) return 0;
  const std::size_t count = unpack(to.data(), to.size(), packed.data(), frame);
  return is_error(count) != 0 ? 0 : count;
}

/// Whether the payload could unpack to that many bytes at all.
bool plausible(Compression method, Bytes packed, std::uint64_t unpacked) {
  constexpr std::uint64_t most_zlib_ratio = 1032;
  if (unpacked == 0 || unpacked > most_unpacked) return false;
  if (method == Compression::Zlib) return unpacked / most_zlib_ratio <= packed.size();
  using ContentSize = unsigned long long (*)(const void*, std::size_t);
  const auto content_size = system_function<ContentSize>("libzstd.so.1", "ZSTD_getFrameContentSize",
                                                         "install zstd (Debian: libzstd1)");
  constexpr unsigned long long unknown = std::numeric_limits<unsigned long long>::max();
  const unsigned long long content = content_size(packed.data(), packed.size());
  return content == unpacked || content == unknown;
}

}  // namespace

std::vector<std::uint8_t> decompress(Compression method, Bytes packed, std::uint64_t unpacked) {
  if (!plausible(method, packed, unpacked)) {
    refuse_image("compressed bundle claims to hold " + std::to_string(unpacked) +
                 " bytes, which its payload cannot: damaged");
  }
  std::vector<std::uint8_t> bytes(unpacked);
  const std::uint64_t count =
      method == Compression::Zlib ? unpack_zlib(packed, bytes) : unpack_zstd(packed, bytes);
  if (count != unpacked) refuse_image("compressed bundle is damaged: its payload does not unpack");
  return bytes;
}

}  // namespace hipgraph::emu
