#include "runtime/msgpack.h"

namespace hipgraph::emu {
namespace {

constexpr int max_depth = 32;
constexpr const char* what = "metadata";

/// Walks over MessagePack bytes.
class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}

  MsgpackValue value(int depth);

 private:
  std::uint64_t big_endian(std::size_t count);
  std::string string(std::uint64_t count);
  MsgpackValue array(std::uint64_t count, int depth);
  MsgpackValue map(std::uint64_t count, int depth);
  MsgpackValue tagged(std::uint8_t tag, int depth);
  MsgpackValue signed_number(std::size_t count);

  Bytes bytes_;
  std::uint64_t at_ = 0;
};

std::uint64_t Reader::big_endian(std::size_t count) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : part(bytes_, at_, count, what)) value = value << 8 | byte;
  at_ += count;
  return value;
}

std::string Reader::string(std::uint64_t count) {
  const Bytes text = part(bytes_, at_, count, what);
  at_ += count;
  return text_of(text, what);
}

MsgpackValue Reader::array(std::uint64_t count, int depth) {
  MsgpackValue::Array elements;
  for (std::uint64_t i = 0; i < count; ++i) elements.push_back(value(depth + 1));
  return {std::move(elements)};
}

MsgpackValue Reader::map(std::uint64_t count, int depth) {
  MsgpackValue::Map members;
  for (std::uint64_t i = 0; i < count; ++i) {
    MsgpackValue key = value(depth + 1);
    std::string* name = std::get_if<std::string>(&key.value);
    if (name == nullptr) refuse_image("metadata has a key that is no string");
    members.emplace_back(std::move(*name), value(depth + 1));
  }
  return {std::move(members)};
}

MsgpackValue Reader::signed_number(std::size_t count) {
  const unsigned unused = static_cast<unsigned>(64 - 8 * count);
  return {static_cast<std::int64_t>(big_endian(count) << unused) >> unused};
}

/// The types whose first byte holds nothing but the type.
MsgpackValue Reader::tagged(std::uint8_t tag, int depth) {
  switch (tag) {
    case 0xc0: return {};
    case 0xc2: return {false};
    case 0xc3: return {true};
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: return {static_cast<std::int64_t>(big_endian(std::size_t{1} << (tag - 0xcc)))};
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: return signed_number(std::size_t{1} << (tag - 0xd0));
    case 0xd9:
    case 0xda:
    case 0xdb: return {string(big_endian(std::size_t{1} << (tag - 0xd9)))};
    case 0xdc:
    case 0xdd: return array(big_endian(std::size_t{2} << (tag - 0xdc)), depth);
    case 0xde:
    case 0xdf: return map(big_endian(std::size_t{2} << (tag - 0xde)), depth);
    default:
      refuse_image("metadata has a value of type " + std::to_string(tag) +
                   ", which metadata never uses");
  }
}

MsgpackValue Reader::value(int depth) {
  if (depth > max_depth) refuse_image("metadata is nested too deeply");
  const auto tag = static_cast<std::uint8_t>(big_endian(1));
  if (tag < 0x80) return {std::int64_t{tag}};
  if (tag < 0x90) return map(tag & 15, depth);
  if (tag < 0xa0) return array(tag & 15, depth);
  if (tag < 0xc0) return {string(tag & 31)};
  if (tag >= 0xe0) return {std::int64_t{tag} - 256};
  return tagged(tag, depth);
}

}  // namespace

const MsgpackValue* MsgpackValue::find(std::string_view key) const {
  const Map* map = std::get_if<Map>(&value);
  if (map == nullptr) return nullptr;
  for (const auto& [name, member] : *map) {
    if (name == key) return &member;
  }
  return nullptr;
}

const MsgpackValue::Array& MsgpackValue::elements() const {
  static const Array none;
  const Array* array = std::get_if<Array>(&value);
  return array == nullptr ? none : *array;
}

std::int64_t MsgpackValue::number(std::string_view key, std::int64_t otherwise) const {
  const MsgpackValue* member = find(key);
  if (member == nullptr) return otherwise;
  if (const bool* flag = std::get_if<bool>(&member->value)) return *flag ? 1 : 0;
  const std::int64_t* number = std::get_if<std::int64_t>(&member->value);
  return number == nullptr ? otherwise : *number;
}

std::string MsgpackValue::text(std::string_view key) const {
  const MsgpackValue* member = find(key);
  const std::string* text = member == nullptr ? nullptr : std::get_if<std::string>(&member->value);
  return text == nullptr ? std::string{} : *text;
}

MsgpackValue read_msgpack(Bytes bytes) { return Reader(bytes).value(0); }

}  // namespace hipgraph::emu
