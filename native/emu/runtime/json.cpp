#include "runtime/json.h"

#include <cstdio>

namespace hipgraph::emu {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(byte));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + '"';
}

JsonObject& JsonObject::add_raw(std::string_view key, std::string_view json) {
  if (!members_.empty()) members_ += ", ";
  members_ += json_string(key) + ": ";
  members_ += json;
  return *this;
}

void JsonArray::add_raw(std::string_view json) {
  if (!elements_.empty()) elements_ += ", ";
  elements_ += json;
}

}  // namespace hipgraph::emu
