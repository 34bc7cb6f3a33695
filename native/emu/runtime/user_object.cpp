#include "runtime/user_object.h"

#include <algorithm>
#include <utility>

#include "runtime/handle_table.h"

namespace hipgraph::emu {
namespace {

HandleTable<hipUserObject_t, UserObject>& user_objects() {
  static auto& all = *new HandleTable<hipUserObject_t, UserObject>("user objects");
  return all;
}

std::vector<UserObject>& due_destructors() {
  static auto& all = *new std::vector<UserObject>;
  return all;
}

}  // namespace

UserObjectPtr find_user_object(hipUserObject_t handle) { return user_objects().find(handle); }

hipUserObject_t add_user_object(const UserObject& object) {
  return user_objects().insert(std::make_shared<UserObject>(object));
}

void release_user_object(UserObject& object, std::uint64_t count) {
  // A caller may have given up more than its own: what a graph holds is then gone already.
  if (object.references == 0) return;
  object.references -= std::min(count, object.references);
  if (object.references != 0) return;
  due_destructors().push_back(object);
  user_objects().erase(object.handle);
}

std::vector<UserObject> take_due_destructors() { return std::exchange(due_destructors(), {}); }

UserReferences::~UserReferences() {
  for (const auto& [object, count] : counts_) release_user_object(*object, count);
}

void UserReferences::keep_each_of(const UserReferences& others) {
  for (const auto& [object, count] : others.counts_) {
    ++object->references;
    take(object, 1);
  }
}

bool UserReferences::release(const UserObjectPtr& object, std::uint64_t count) {
  const auto held = counts_.find(object);
  if (held == counts_.end() || held->second < count) return false;
  held->second -= count;
  if (held->second == 0) counts_.erase(held);
  release_user_object(*object, count);
  return true;
}

}  // namespace hipgraph::emu
