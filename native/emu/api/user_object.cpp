#include "runtime/user_object.h"

#include <climits>

#include "api/api.h"
#include "runtime/graph.h"

using namespace hipgraph::emu;

namespace {

void check_count(unsigned count) { require(count != 0 && count <= INT_MAX, hipErrorInvalidValue); }

/// The live object, or null for one that is gone: HIP ignores calls on those.
UserObjectPtr known_object(hipUserObject_t object) {
  require(object != nullptr, hipErrorInvalidValue);
  return find_user_object(object);
}

}  // namespace

HIPGRAPH_API hipError_t hipUserObjectCreate(hipUserObject_t* object, void* wrapped,
                                            hipHostFn_t destroy, unsigned references,
                                            unsigned flags) {
  return entry([&] {
    clear(required(object));
    require(destroy != nullptr, hipErrorInvalidValue);
    check_count(references);
    require(flags == hipUserObjectNoDestructorSync, hipErrorInvalidValue);
    const ApiLock lock;
    *object = add_user_object({nullptr, wrapped, destroy, references});
  });
}

HIPGRAPH_API hipError_t hipUserObjectRetain(hipUserObject_t object, unsigned count) {
  return entry([&] {
    const ApiLock lock;
    const UserObjectPtr found = known_object(object);
    check_count(count);
    if (found) found->references += count;
  });
}

HIPGRAPH_API hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned count) {
  return entry([&] {
    const ApiLock lock;
    const UserObjectPtr found = known_object(object);
    check_count(count);
    if (found && count <= found->references) release_user_object(*found, count);
  });
}

HIPGRAPH_API hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object,
                                                 unsigned count, unsigned flags) {
  return entry([&] {
    const ApiLock lock;
    const GraphPtr owner = find_graph(graph);
    const UserObjectPtr found = known_object(object);
    check_count(count);
    const bool known = flags == 0 || flags == hipGraphUserObjectMove;
    require(known, hipErrorInvalidValue);
    if (!found) return;
    if (flags != hipGraphUserObjectMove) found->references += count;
    owner->references.take(found, count);
  });
}

HIPGRAPH_API hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object,
                                                  unsigned count) {
  return entry([&] {
    const ApiLock lock;
    const GraphPtr owner = find_graph(graph);
    const UserObjectPtr found = known_object(object);
    check_count(count);
    if (found) owner->references.release(found, count);
  });
}
