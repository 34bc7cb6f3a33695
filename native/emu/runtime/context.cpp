#include "runtime/context.h"

#include <map>
#include <vector>

#include "entry.h"
#include "runtime/api_lock.h"
#include "runtime/device.h"

/// What callers hold a pointer to.
struct ihipCtx_t {
  int device;
};

namespace hipgraph::emu {
namespace {

std::vector<ihipCtx_t>& contexts() {
  static auto& all = *[] {
    auto* made = new std::vector<ihipCtx_t>;
    for (int device = 0; device < device_model().devices; ++device) made->push_back({device});
    return made;
  }();
  return all;
}

/// Stacks of the threads that have one, by the threads' numbers.
std::map<std::uint64_t, std::vector<int>>& stacks() {
  static auto& all = *new std::map<std::uint64_t, std::vector<int>>;
  return all;
}

}  // namespace

hipCtx_t context_of(int device) { return &contexts()[static_cast<std::size_t>(device)]; }

int device_of(hipCtx_t context) {
  for (const ihipCtx_t& known : contexts()) {
    if (&known == context) return known.device;
  }
  throw abi::Failure{hipErrorInvalidContext};
}

void push_context(int device) { stacks()[this_thread().number].push_back(device); }

int pop_context() {
  const int top = top_context();
  if (top < 0) return top;
  const auto stack = stacks().find(this_thread().number);
  stack->second.pop_back();
  if (stack->second.empty()) stacks().erase(stack);
  return top;
}

int top_context() {
  const auto stack = stacks().find(this_thread().number);
  return stack == stacks().end() ? -1 : stack->second.back();
}

}  // namespace hipgraph::emu
