#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

namespace hipgraph::emu {

/// A handle value that no object of the process had before, so that a stale handle is always found
/// out. Values start above the two stream handles that HIP reserves (1 and 2).
std::uintptr_t new_handle_value();

/// How many objects of a kind live in the process; `kind` is a plural, as in "streams".
std::atomic<std::uint64_t>& live_count(const char* kind);
/// All of these counts as JSON.
std::string live_counts();

/// The live objects of one kind by their handle.
template <class Handle, class Object>
class HandleTable {
 public:
  explicit HandleTable(const char* kind) : live_(live_count(kind)) {}
  /// Puts `object` under its new handle.
  Handle insert(std::shared_ptr<Object> object) {
    const Handle handle = reinterpret_cast<Handle>(new_handle_value());
    object->handle = handle;
    objects_.emplace(handle, std::move(object));
    ++live_;
    return handle;
  }
  /// The live object, or null.
  std::shared_ptr<Object> find(Handle handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  /// Forgets the handle; whoever still uses the object keeps it.
  void erase(Handle handle) { live_ -= objects_.erase(handle); }
  /// Every live object.
  const std::unordered_map<Handle, std::shared_ptr<Object>>& all() const { return objects_; }

 private:
  std::unordered_map<Handle, std::shared_ptr<Object>> objects_;
  std::atomic<std::uint64_t>& live_;
};

}  // namespace hipgraph::emu
