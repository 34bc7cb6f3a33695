#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/image_bytes.h"

namespace hipgraph::emu {

/// A MessagePack value, as far as code object metadata uses the format.
struct MsgpackValue {
  using Array = std::vector<MsgpackValue>;
  using Map = std::vector<std::pair<std::string, MsgpackValue>>;
  std::variant<std::monostate, bool, std::int64_t, std::string, Array, Map> value;

  /// The member of a map, or null when this is no map or lacks it.
  const MsgpackValue* find(std::string_view key) const;
  /// The elements; empty when this is no array.
  const Array& elements() const;
  /// The member as a number or text; `otherwise` when it is missing or of another type.
  std::int64_t number(std::string_view key, std::int64_t otherwise) const;
  std::string text(std::string_view key) const;
};

/// Reads one value; throws LoadError when the bytes are no such thing. Keys of maps are strings.
MsgpackValue read_msgpack(Bytes bytes);

}  // namespace hipgraph::emu
