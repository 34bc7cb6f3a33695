#include <array>
#include <cstring>

#include "api/api.h"
#include "runtime/capture_rules.h"
#include "runtime/stream.h"

using namespace hipgraph::emu;

namespace {

/// The attributes that streams have in HIP: access policy, synchronization policy and priority.
bool is_attribute(int attribute) {
  constexpr std::array known{1, 3, 8};
  return std::ranges::find(known, attribute) != known.end();
}

constexpr int attribute_priority = 8;

}  // namespace

HIPGRAPH_API hipError_t hipStreamSetAttribute(hipStream_t stream, int attribute,
                                              const hipLaunchAttributeValue* value) {
  return entry([&, call = __func__] {
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    permit(call, *found);
    const bool valid = value != nullptr && is_attribute(attribute);
    require(valid, hipErrorInvalidValue);
    found->attributes[attribute] = *value;
  });
}

HIPGRAPH_API hipError_t hipStreamGetAttribute(hipStream_t stream, int attribute,
                                              hipLaunchAttributeValue* value) {
  return entry([&] {
    require(value != nullptr && is_attribute(attribute), hipErrorInvalidValue);
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    const auto set = found->attributes.find(attribute);
    *value = set == found->attributes.end() ? hipLaunchAttributeValue{} : set->second;
    const bool own = attribute == attribute_priority && set == found->attributes.end();
    if (own) std::memcpy(value, &found->priority, sizeof found->priority);
  });
}

HIPGRAPH_API hipError_t hipStreamCopyAttributes(hipStream_t to, hipStream_t from) {
  return entry([&] {
    const ApiLock lock;
    const StreamPtr source = find_stream(from);
    find_stream(to)->attributes = source->attributes;
  });
}

// The number of a stream never belongs to another one, like the handle that it is.
HIPGRAPH_API hipError_t hipStreamGetId(hipStream_t stream, unsigned long long* number) {
  return entry([&] {
    required(number);
    const ApiLock lock;
    const StreamPtr found = find_stream(stream);
    const bool unique = !found->is_null() && found->handle != stream_per_thread;
    *number = unique ? reinterpret_cast<std::uintptr_t>(found->handle)
                     : reinterpret_cast<std::uintptr_t>(found.get());
  });
}
