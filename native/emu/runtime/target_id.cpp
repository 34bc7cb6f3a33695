#include "runtime/target_id.h"

namespace hipgraph::emu {
namespace {

std::string suffix(std::string_view feature, Feature setting) {
  if (setting == Feature::Any) return {};
  return ":" + std::string(feature) + (setting == Feature::On ? "+" : "-");
}

bool runs_with(Feature code, Feature device) { return code == Feature::Any || code == device; }

/// The generic processor whose code a device of `processor` also runs; empty when there is none.
/// (gfx90a is in no generic family: its register tuples are aligned, those of gfx9-generic not.)
std::string_view generic_of(std::string_view processor) {
  return processor == "gfx942" || processor == "gfx950" ? "gfx9-4-generic" : std::string_view{};
}

int processor_fit(std::string_view code, std::string_view device) {
  if (code == device) return 2;
  return !code.empty() && code == generic_of(device) ? 1 : 0;
}

/// Notes one "feature+" or "feature-" in `id`; false when it is unknown or named before.
bool take_feature(std::string_view text, TargetId& id) {
  if (text.empty()) return false;
  const char sign = text.back();
  if (sign != '+' && sign != '-') return false;
  text.remove_suffix(1);
  Feature* feature = text == "sramecc" ? &id.sramecc : text == "xnack" ? &id.xnack : nullptr;
  if (feature == nullptr || *feature != Feature::Any) return false;
  *feature = sign == '+' ? Feature::On : Feature::Off;
  return true;
}

}  // namespace

std::optional<TargetId> parse_target_id(std::string_view text) {
  TargetId id;
  std::size_t colon = text.find(':');
  id.processor = text.substr(0, colon);
  if (id.processor.empty()) return std::nullopt;
  while (colon != std::string_view::npos) {
    text.remove_prefix(colon + 1);
    colon = text.find(':');
    if (!take_feature(text.substr(0, colon), id)) return std::nullopt;
  }
  return id;
}

std::string to_text(const TargetId& id) {
  return id.processor + suffix("sramecc", id.sramecc) + suffix("xnack", id.xnack);
}

int fit(const TargetId& code, const TargetId& device) {
  const int processor = processor_fit(code.processor, device.processor);
  if (processor == 0) return 0;
  if (!runs_with(code.sramecc, device.sramecc) || !runs_with(code.xnack, device.xnack)) return 0;
  const int named = (code.sramecc != Feature::Any ? 1 : 0) + (code.xnack != Feature::Any ? 1 : 0);
  return processor * 3 + named;
}

}  // namespace hipgraph::emu
