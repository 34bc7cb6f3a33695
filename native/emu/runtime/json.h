#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace hipgraph::emu {

/// `text` as a JSON string.
std::string json_string(std::string_view text);

/// Builds one JSON object, member by member.
class JsonObject {
 public:
  JsonObject& add(std::string_view key, std::string_view text) {
    return add_raw(key, json_string(text));
  }
  JsonObject& add(std::string_view key, std::integral auto number) {
    return add_raw(key, std::to_string(number));
  }
  /// Adds a member whose value is JSON already.
  JsonObject& add_raw(std::string_view key, std::string_view json);
  std::string text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

/// Builds one JSON array of values that are JSON already.
class JsonArray {
 public:
  void add_raw(std::string_view json);
  std::string text() const { return "[" + elements_ + "]"; }

 private:
  std::string elements_;
};

}  // namespace hipgraph::emu
