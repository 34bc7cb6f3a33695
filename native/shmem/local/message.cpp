#include "message.h"

#include <cstring>
#include <type_traits>

#include "error.h"

namespace hipgraph::shmem {
namespace {

constexpr std::uint32_t kLargest = 1u << 24;  ///< what is longer was not written by a PE

class Writer {
 public:
  template <class Value>
  void value(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void string(std::string_view string) {
    value(static_cast<std::uint32_t>(string.size()));
    bytes_ += string;
  }
  std::string framed() const {
    Writer whole;
    whole.string(bytes_);
    return whole.bytes_;
  }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class Value>
  Value value() {
    static_assert(std::is_trivially_copyable_v<Value>);
    Value value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string string() { return std::string(take(value<std::uint32_t>())); }

 private:
  std::string_view take(std::size_t count) {
    if (count > rest_.size()) fail(HGS_FAILED, "a message of the bootstrap is cut short");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
};

Message decode(std::string_view bytes) {
  Reader in(bytes);
  Message message;
  message.kind = in.value<MessageKind>();
  message.hello = in.value<Hello>();
  message.key = in.value<CallKey>();
  message.milliseconds = in.value<std::int64_t>();
  message.status = in.value<hgs_status>();
  message.pes = in.value<PeMask>();
  message.text = in.string();
  for (auto count = in.value<std::uint32_t>(); count > 0; --count) {
    std::string label = in.string();
    message.contributions.push_back({std::move(label), in.string()});
  }
  return message;
}

}  // namespace

std::string encode(const Message& message) {
  Writer out;
  out.value(message.kind);
  out.value(message.hello);
  out.value(message.key);
  out.value(message.milliseconds);
  out.value(message.status);
  out.value(message.pes);
  out.string(message.text);
  out.value(static_cast<std::uint32_t>(message.contributions.size()));
  for (const Contribution& contribution : message.contributions) {
    out.string(contribution.label);
    out.string(contribution.data);
  }
  return out.framed();
}

std::optional<Message> take_message(std::string& received) {
  std::uint32_t size;
  if (received.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, received.data(), sizeof size);
  if (size > kLargest) fail(HGS_FAILED, "a message of the bootstrap is too long");
  if (received.size() - sizeof size < size) return std::nullopt;
  Message message = decode(std::string_view(received).substr(sizeof size, size));
  received.erase(0, sizeof size + size);
  return message;
}

}  // namespace hipgraph::shmem
