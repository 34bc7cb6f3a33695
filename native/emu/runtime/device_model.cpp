#include "runtime/device_model.h"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "runtime/target_id.h"

namespace hipgraph::emu {
namespace {

constexpr std::size_t gibibyte = std::size_t{1} << 30;
constexpr std::uint64_t max_compute_units = 1024;
constexpr std::uint64_t max_devices = 16;

/// What a product of each target is called and how much memory it has.
struct Product {
  Target target;
  const char* name;
  std::size_t memory_bytes;
};
constexpr Product model_products[] = {
    {Target::gfx90a, "Emulated AMD Instinct MI250X", 64 * gibibyte},
    {Target::gfx942, "Emulated AMD Instinct MI300X", 192 * gibibyte},
    {Target::gfx950, "Emulated AMD Instinct MI355X", 288 * gibibyte},
};

[[noreturn]] void refuse(const char* variable, std::string_view value, const std::string& wanted) {
  throw ModelError(std::string(variable) + "='" + std::string(value) + "' is not " + wanted);
}

std::string_view value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

/// The number in `variable`, or `otherwise` when it is unset or empty.
std::uint64_t number(const char* variable, std::uint64_t least, std::uint64_t most,
                     std::uint64_t otherwise) {
  const std::string_view text = value_of(variable);
  if (text.empty()) return otherwise;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (!whole || value < least || value > most) {
    refuse(variable, text,
           "a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
               "; correct it or unset it");
  }
  return value;
}

/// The product and the target id that HIPGRAPH_EMU_TARGET asks for.
const Product& chosen_product(std::string& target_id) {
  constexpr const char* variable = "HIPGRAPH_EMU_TARGET";
  const std::string_view text = value_of(variable);
  std::optional<TargetId> id = parse_target_id(text.empty() ? "gfx942" : text);
  if (id.has_value()) {
    if (id->sramecc == Feature::Any) id->sramecc = Feature::On;
    if (id->xnack == Feature::Any) id->xnack = Feature::Off;
    target_id = to_text(*id);
    for (const Product& product : model_products) {
      if (facts(product.target).processor == id->processor) return product;
    }
  }
  refuse(variable, text,
         "an emulated target: use gfx90a, gfx942 or gfx950, with :xnack+ or :sramecc- after it "
         "to change a feature");
}

DivergencePolicy divergence_policy() {
  constexpr const char* variable = "HIPGRAPH_EMU_DIVERGENCE";
  const std::string_view text = value_of(variable);
  if (text.empty() || text == "warn") return DivergencePolicy::Warn;
  if (text == "off") return DivergencePolicy::Off;
  if (text == "error") return DivergencePolicy::Error;
  refuse(variable, text, "off, warn or error; correct it or unset it");
}

Check wanted_check() {
  constexpr const char* variable = "HIPGRAPH_EMU_CHECK";
  const std::string_view text = value_of(variable);
  if (text.empty() || text == "off") return Check::Off;
  if (text == "race") return Check::Race;
  refuse(variable, text, "off or race; correct it or unset it");
}

DeviceModel read_environment() {
  DeviceModel model;
  const Product& product = chosen_product(model.target_id);
  model.target = product.target;
  model.name = product.name;
  model.memory_bytes = product.memory_bytes;
  model.compute_units = static_cast<std::uint32_t>(number(
      "HIPGRAPH_EMU_CUS", 1, max_compute_units, facts(product.target).default_compute_units));
  model.devices = static_cast<int>(number("HIPGRAPH_EMU_DEVICES", 1, max_devices, 1));
  model.seed = number("HIPGRAPH_EMU_SEED", 0, std::numeric_limits<std::uint64_t>::max(), 0);
  model.divergence = divergence_policy();
  model.check = wanted_check();
  return model;
}

}  // namespace

const DeviceModel& DeviceModel::instance() {
  static const DeviceModel& model = *new DeviceModel(read_environment());
  return model;
}

}  // namespace hipgraph::emu
