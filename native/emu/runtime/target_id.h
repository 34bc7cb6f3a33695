#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hipgraph::emu {

/// What a target id says of a feature; code that names none runs with either setting.
enum class Feature : std::uint8_t { Any, Off, On };

/// A processor with its features: "gfx942:sramecc+:xnack-".
struct TargetId {
  std::string processor;
  Feature sramecc = Feature::Any;
  Feature xnack = Feature::Any;
};

/// Reads "processor[:feature+|:feature-]..." in any order of features; nullopt when it is no such
/// thing.
std::optional<TargetId> parse_target_id(std::string_view text);

/// The canonical spelling (features in alphabetical order).
std::string to_text(const TargetId& id);

/// How well code for `code` fits `device`: 0 it does not run; otherwise the more specific, the
/// higher.
int fit(const TargetId& code, const TargetId& device);

}  // namespace hipgraph::emu
