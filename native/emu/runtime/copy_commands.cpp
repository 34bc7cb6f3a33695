#include <cstring>

#include "runtime/address_space.h"
#include "runtime/executor.h"

namespace hipgraph::emu {
namespace {

void note(const std::byte* to, std::size_t bytes) {
  AddressSpace::instance().note_host_write(reinterpret_cast<std::uint64_t>(to), bytes);
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

  Progress start() override {
    const CopyRegion& r = region_;
    for (std::size_t z = 0; z < r.depth; ++z) {
      for (std::size_t y = 0; y < r.height; ++y) {
        std::byte* to = r.to + z * r.to_slice + y * r.to_pitch;
        std::memmove(to, r.from + z * r.from_slice + y * r.from_pitch, r.width);
        note(to, r.width);
      }
    }
    return Progress::Complete;
  }

 private:
  CopyRegion region_;
};

class Fill final : public Command {
 public:
  explicit Fill(const FillRegion& region) : region_(region) {}

  Progress start() override {
    const FillRegion& r = region_;
    const std::size_t row_bytes = r.width * r.element_size;
    for (std::size_t y = 0; y < r.height; ++y) {
      std::byte* to = r.to + y * r.pitch;
      for (std::size_t x = 0; x < r.width; ++x) {
        std::memcpy(to + x * r.element_size, &r.value, r.element_size);
      }
      note(to, row_bytes);
    }
    return Progress::Complete;
  }

 private:
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
                           .width = bytes, .height = 1, .depth = 1,
                           .to_pitch = 0, .from_pitch = 0, .to_slice = 0, .from_slice = 0});
}

CommandPtr make_copy_region(const CopyRegion& region) {
  return std::make_shared<CopyRows>(region);
}

CommandPtr make_fill(const FillRegion& region) { return std::make_shared<Fill>(region); }

}  // namespace hipgraph::emu
