#include <cstring>

#include "api/api.h"
#include "runtime/node_params.h"

using namespace hipgraph::emu;

namespace {

using Attribute = std::optional<KernelAttribute>;

Attribute& attribute_of(hipGraphNode_t node) {
  return work_as<KernelWork>(required_node(node).work).attribute;
}

/// The largest window of any target here is none at all.
bool is_allowed(const hipAccessPolicyWindow& window) {
  const bool ratio = window.hitRatio >= 0 && window.hitRatio <= 1;
  return ratio && window.missProp != hipAccessPropertyPersisting && window.num_bytes == 0;
}

bool is_known(hipLaunchAttributeID id) {
  return id == hipLaunchAttributeAccessPolicyWindow || id == hipLaunchAttributeCooperative ||
         id == hipLaunchAttributeClusterDimension || id == hipLaunchAttributePriority;
}

/// What an attribute's value may be read and written up to: programs from before HIP 7 have no more
/// there than the largest of its members.
constexpr std::size_t value_bytes = sizeof(hipAccessPolicyWindow);
static_assert(value_bytes == 32);

/// HIP's test of a priority is the wrong way round, so that none passes.
bool is_allowed(hipLaunchAttributeID id, const hipLaunchAttributeValue& value) {
  if (id == hipLaunchAttributeAccessPolicyWindow) return is_allowed(value.accessPolicyWindow);
  return is_known(id) && id != hipLaunchAttributePriority;
}

}  // namespace

HIPGRAPH_API hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t node, hipLaunchAttributeID id,
                                                       const hipLaunchAttributeValue* value) {
  return entry([&] {
    const ApiLock lock;
    Attribute& attribute = attribute_of(node);
    require(is_allowed(id, *required(value)), hipErrorInvalidValue);
    attribute = {id, {}};
    std::memcpy(&attribute->value, value, value_bytes);
  });
}

HIPGRAPH_API hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t node, hipLaunchAttributeID id,
                                                       hipLaunchAttributeValue* value) {
  return entry([&] {
    const ApiLock lock;
    const Attribute& attribute = attribute_of(node);
    require(is_known(id) && value != nullptr, hipErrorInvalidValue);
    require(!attribute || attribute->id == id, hipErrorInvalidValue);
    const hipLaunchAttributeValue shown = attribute ? attribute->value : hipLaunchAttributeValue{};
    std::memcpy(value, &shown, value_bytes);
  });
}

HIPGRAPH_API hipError_t hipGraphKernelNodeCopyAttributes(hipGraphNode_t from, hipGraphNode_t to) {
  return entry([&] {
    const ApiLock lock;
    const Attribute& source = attribute_of(from);
    Attribute& target = attribute_of(to);
    const bool fits = !target || (source && source->id == target->id);
    require(fits, hipErrorInvalidContext);
    target = source;
  });
}
