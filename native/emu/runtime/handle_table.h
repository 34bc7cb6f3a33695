#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace hipgraph::emu {

/// A handle value that no object of the process had before, so that a stale handle is always found
/// out. Values start above the two stream handles that HIP reserves (1 and 2).
std::uintptr_t new_handle_value();

/// The live objects of one kind by their handle.
template <class Handle, class Object>
class HandleTable {
 public:
  /// Puts `object` under its new handle.
  Handle insert(std::shared_ptr<Object> object) {
    const Handle handle = reinterpret_cast<Handle>(new_handle_value());
    object->handle = handle;
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  /// The live object, or null.
  std::shared_ptr<Object> find(Handle handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  /// Forgets the handle; whoever still uses the object keeps it.
  void erase(Handle handle) { objects_.erase(handle); }
  /// Every live object.
  const std::unordered_map<Handle, std::shared_ptr<Object>>& all() const { return objects_; }

 private:
  std::unordered_map<Handle, std::shared_ptr<Object>> objects_;
};

}  // namespace hipgraph::emu
