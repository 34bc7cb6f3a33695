#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/image_bytes.h"
#include "runtime/target_id.h"

namespace hipgraph::emu {

/// Device code in a bundle, and the target that the bundle says it is for.
struct BundleEntry {
  std::string id;  ///< as the bundle spells it
  TargetId target;
  Bytes code;
};

/// The device code of one or several bundles, plain or compressed. Host entries are left out.
/// Entries of compressed bundles point into memory that this object owns.
class Bundle {
 public:
  /// Whether the image begins as a plain or compressed bundle does.
  static bool recognises(Bytes image);
  /// Reads the bundle at the start of the image and, when the image ends where its file does
  /// (`exact`), all that follow it. Throws LoadError.
  Bundle(Bytes image, bool exact);

  const std::vector<BundleEntry>& entries() const { return entries_; }
  /// The entry that fits the device best; throws LoadError that lists what there is.
  const BundleEntry& choose(const TargetId& device) const;

 private:
  std::uint64_t read_plain(Bytes image);
  std::uint64_t read_compressed(Bytes image);

  std::vector<BundleEntry> entries_;
  std::vector<std::vector<std::uint8_t>> unpacked_;
};

}  // namespace hipgraph::emu
