#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "graph_abi.h"

namespace hipgraph::emu {

/// A caller's object that is destroyed, by the caller's own function, when nobody refers to it any
/// more: neither a caller nor a graph nor an exec.
struct UserObject {
  hipUserObject_t handle = nullptr;
  void* object = nullptr;
  hipHostFn_t destroy = nullptr;
  std::uint64_t references = 0;  ///< of callers, graphs and execs together
};
using UserObjectPtr = std::shared_ptr<UserObject>;

/// The live user object behind a handle, or null.
UserObjectPtr find_user_object(hipUserObject_t handle);
/// A new user object.
hipUserObject_t add_user_object(const UserObject& object);
/// Gives references up. The last one ends the object's handle; its destructor is called when the
/// API lock is let go.
void release_user_object(UserObject& object, std::uint64_t count);
/// Takes the destructors that are due; whoever lets go of the API lock calls them.
std::vector<UserObject> take_due_destructors();

/// The references that one graph or exec holds; given up with it.
class UserReferences {
 public:
  UserReferences() = default;
  UserReferences(UserReferences&& other) noexcept : counts_(std::move(other.counts_)) {
    other.counts_.clear();
  }
  UserReferences(const UserReferences&) = delete;
  UserReferences& operator=(const UserReferences&) = delete;
  ~UserReferences();

  /// Takes over references that are already counted in the object.
  void take(const UserObjectPtr& object, std::uint64_t count) { counts_[object] += count; }
  /// Holds one more reference to each object that `others` holds.
  void keep_each_of(const UserReferences& others);
  /// Gives references up; false, and nothing happens, when so many are not held.
  bool release(const UserObjectPtr& object, std::uint64_t count);
  bool empty() const { return counts_.empty(); }

 private:
  /// Destructors are called in the order the objects were created.
  struct Older {
    bool operator()(const UserObjectPtr& one, const UserObjectPtr& other) const {
      return one->handle < other->handle;
    }
  };

  std::map<UserObjectPtr, std::uint64_t, Older> counts_;
};

}  // namespace hipgraph::emu
