#include <cstring>

#include "runtime/address_space.h"
#include "runtime/executor.h"
#include "runtime/json.h"
#include "runtime/report.h"
#include "runtime/status.h"

namespace hipgraph::emu {
namespace {

void note(const std::byte* to, std::size_t bytes) {
  AddressSpace::instance().note_host_write(reinterpret_cast<std::uint64_t>(to), bytes);
}

/// Whether these bytes are there to be copied. A copy that a graph recorded may outlive the memory
/// that it names; that is reported.
bool check_alive(const std::byte* bytes, std::size_t count, const char* what) {
  const auto address = reinterpret_cast<std::uint64_t>(bytes);
  const AddressSpace& space = AddressSpace::instance();
  if (space.may_copy(address, count)) return true;
  const std::string text = std::string(what) + ": " + space.describe(address, count);
  publish_report("emulated device: memory fault in a " + text + "\n",
                 JsonObject().add("kind", "copy").add("text", text).text());
  return false;
}

/// Writes `count` elements of type T; `to` may have any alignment.
template <typename T>
void fill_elements(std::byte* to, std::uint32_t value, std::size_t count) {
  const T element = static_cast<T>(value);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * sizeof(T), &element, sizeof(T));
}

void fill_row(std::byte* to, const FillRegion& region) {
  switch (region.element_size) {
    case 1: return fill_elements<std::uint8_t>(to, region.value, region.width);
    case 2: return fill_elements<std::uint16_t>(to, region.value, region.width);
    default: return fill_elements<std::uint32_t>(to, region.value, region.width);
  }
}

class Marker final : public Command {
 public:
  Progress start() override { return Progress::Complete; }
};

class Action final : public Command {
 public:
  Action(void (*action)(void*), std::shared_ptr<void> state)
      : action_(action), state_(std::move(state)) {}

  Progress start() override {
    action_(state_.get());
    state_.reset();
    return Progress::Complete;
  }

 private:
  void (*action_)(void*);
  std::shared_ptr<void> state_;
};

class CopyRows final : public Command {
 public:
  explicit CopyRows(const CopyRegion& region) : region_(region) {}

  std::string what() const override { return "copy"; }

  Progress start() override {
    const CopyRegion& r = region_;
    for (std::size_t z = 0; z < r.depth; ++z) {
      for (std::size_t y = 0; y < r.height; ++y) {
        status_ = copy_row(r.to + z * r.to_slice + y * r.to_pitch,
                           r.from + z * r.from_slice + y * r.from_pitch);
        if (status_ != status::success) return Progress::Complete;
      }
    }
    return Progress::Complete;
  }

 private:
  Status copy_row(std::byte* to, const std::byte* from) {
    const std::size_t bytes = region_.width;
    if (!check_alive(from, bytes, "copy from") || !check_alive(to, bytes, "copy to")) {
      return status::illegal_address;
    }
    touch(from, bytes, Touch::Read);
    touch(to, bytes, Touch::Write);
    std::memmove(to, from, bytes);
    note(to, bytes);
    return status::success;
  }

  CopyRegion region_;
};

class Fill final : public Command {
 public:
  explicit Fill(const FillRegion& region) : region_(region) {}

  std::string what() const override { return "memset"; }

  Progress start() override {
    const FillRegion& r = region_;
    for (std::size_t z = 0; z < r.depth; ++z) {
      for (std::size_t y = 0; y < r.height; ++y) {
        status_ = fill(r.to + z * r.slice + y * r.pitch);
        if (status_ != status::success) return Progress::Complete;
      }
    }
    return Progress::Complete;
  }

 private:
  Status fill(std::byte* to) {
    const std::size_t bytes = region_.width * region_.element_size;
    if (!check_alive(to, bytes, "fill of")) return status::illegal_address;
    touch(to, bytes, Touch::Write);
    fill_row(to, region_);
    note(to, bytes);
    return status::success;
  }

  FillRegion region_;
};

}  // namespace

CommandPtr make_marker() { return std::make_shared<Marker>(); }

CommandPtr make_action(void (*action)(void*), std::shared_ptr<void> state) {
  return std::make_shared<Action>(action, std::move(state));
}

CommandPtr make_copy(void* to, const void* from, std::size_t bytes) {
  return make_copy_region({.to = static_cast<std::byte*>(to),
                           .from = static_cast<const std::byte*>(from),
                           .width = bytes,
                           .height = 1,
                           .depth = 1,
                           .to_pitch = 0,
                           .from_pitch = 0,
                           .to_slice = 0,
                           .from_slice = 0});
}

CommandPtr make_copy_region(const CopyRegion& region) { return std::make_shared<CopyRows>(region); }

CommandPtr make_fill(const FillRegion& region) { return std::make_shared<Fill>(region); }

}  // namespace hipgraph::emu
