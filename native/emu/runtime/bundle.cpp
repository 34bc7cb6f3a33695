#include "runtime/bundle.h"

#include <algorithm>

#include "runtime/decompress.h"

namespace hipgraph::emu {
namespace {

constexpr std::string_view plain_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view compressed_magic = "CCOB";
constexpr std::uint64_t most_entries = 4096;
constexpr std::uint64_t longest_id = 4096;

/// Fields of a compressed bundle's header, by its version.
struct CompressedHeader {
  std::uint64_t bytes = 0;  ///< of the header
  std::uint64_t total = 0;  ///< header and payload; 0: up to the end of the image
  std::uint64_t unpacked = 0;
};

CompressedHeader read_header(Bytes image, std::uint16_t version) {
  constexpr const char* what = "compressed bundle header";
  constexpr std::uint64_t fields = 8;  // behind magic, version and method
  const auto word = [image](std::uint64_t at) { return read<std::uint32_t>(image, at, what); };
  const auto wide = [image](std::uint64_t at) { return read<std::uint64_t>(image, at, what); };
  switch (version) {
    case 1: return {20, 0, word(fields)};
    case 2: return {24, word(fields), word(fields + 4)};
    case 3: return {32, wide(fields), wide(fields + 8)};
    default:
      refuse_image("compressed bundle of version " + std::to_string(version) +
                   "; versions 1 to 3 are known: rebuild with an older compiler or "
                   "--no-offload-compress");
  }
}

/// The target of an entry id such as "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-"; nullopt for a host
/// entry.
std::optional<TargetId> target_of(std::string_view id) {
  constexpr std::string_view triple = "amdgcn-amd-amdhsa";
  const std::size_t at = id.find(triple);
  if (at == std::string_view::npos) return std::nullopt;
  id.remove_prefix(at + triple.size());
  id.remove_prefix(std::min(id.find_first_not_of('-'), id.size()));
  return parse_target_id(id);
}

}  // namespace

bool Bundle::recognises(Bytes image) {
  return begins_with(image, plain_magic) || begins_with(image, compressed_magic);
}

Bundle::Bundle(Bytes image, bool exact) {
  do {
    const bool plain = begins_with(image, plain_magic);
    image = image.subspan(plain ? read_plain(image) : read_compressed(image));
  } while (exact && recognises(image));
}

/// Reads the bundle at the start of `image`; returns its length.
std::uint64_t Bundle::read_plain(Bytes image) {
  constexpr const char* what = "bundle header";
  std::uint64_t at = plain_magic.size();
  const auto count = read<std::uint64_t>(image, at, what);
  at += sizeof count;
  if (count > most_entries)
    refuse_image("bundle of " + std::to_string(count) + " entries: damaged");
  std::uint64_t length = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto offset = read<std::uint64_t>(image, at, what);
    const auto bytes = read<std::uint64_t>(image, at + 8, what);
    const auto id_bytes = read<std::uint64_t>(image, at + 16, what);
    if (id_bytes > longest_id) refuse_image("bundle entry with an endless id: damaged");
    const Bytes text = part(image, at + 24, id_bytes, what);
    const std::string id = text_of(text, what);
    const Bytes code = part(image, offset, bytes, "bundle entry");
    at += 24 + id_bytes;
    length = std::max({length, at, offset + bytes});
    if (std::optional<TargetId> target = target_of(id); target.has_value()) {
      entries_.push_back({id, *target, code});
    }
  }
  return std::max(length, at);
}

/// Reads the compressed bundle at the start of `image`; returns its length.
std::uint64_t Bundle::read_compressed(Bytes image) {
  const auto version = read<std::uint16_t>(image, 4, "compressed bundle header");
  const auto method = read<std::uint16_t>(image, 6, "compressed bundle header");
  const CompressedHeader header = read_header(image, version);
  if (method > 1) {
    refuse_image("compressed bundle with method " + std::to_string(method) +
                 "; 0 (zlib) and 1 (zstd) are known");
  }
  const std::uint64_t total = header.total == 0 ? image.size() : header.total;
  if (total < header.bytes) refuse_image("compressed bundle is shorter than its header: damaged");
  const Bytes payload = part(image, 0, total, "compressed bundle").subspan(header.bytes);
  unpacked_.push_back(decompress(static_cast<Compression>(method), payload, header.unpacked));
  const Bytes inner(unpacked_.back());
  if (!begins_with(inner, plain_magic)) refuse_image("compressed bundle holds no bundle: damaged");
  read_plain(inner);
  return total;
}

const BundleEntry& Bundle::choose(const TargetId& device) const {
  const BundleEntry* best = nullptr;
  std::string found;
  for (const BundleEntry& entry : entries_) {
    if (best == nullptr ? fit(entry.target, device) > 0
                        : fit(entry.target, device) > fit(best->target, device)) {
      best = &entry;
    }
    found += (found.empty() ? "" : ", ") + to_text(entry.target);
  }
  if (best != nullptr) return *best;
  throw LoadError{status::no_binary_for_gpu,
                  "code object: the bundle holds " +
                      (found.empty() ? "no device code at all" : "code for " + found) +
                      "; this device is " + to_text(device) +
                      ": compile with --offload-arch=" + device.processor};
}

}  // namespace hipgraph::emu
