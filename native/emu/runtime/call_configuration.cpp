#include "runtime/call_configuration.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "entry.h"

namespace hipgraph::emu {
namespace {

constexpr std::size_t max_argument_block = 1 << 16;

/// Exists only while it holds something, so that a thread which ends has nothing to destroy, and
/// static destructors may still launch.
thread_local std::vector<CallConfiguration>* stack = nullptr;

CallConfiguration& top() {
  abi::require(stack != nullptr, hipErrorMissingConfiguration);
  return stack->back();
}

}  // namespace

void push_configuration(CallConfiguration configuration) {
  if (stack == nullptr) stack = new std::vector<CallConfiguration>;
  stack->push_back(std::move(configuration));
}

CallConfiguration pop_configuration() {
  CallConfiguration configuration = std::move(top());
  stack->pop_back();
  if (stack->empty()) delete std::exchange(stack, nullptr);
  return configuration;
}

void set_argument(const void* argument, std::size_t bytes, std::size_t offset) {
  std::vector<std::uint8_t>& block = top().arguments;
  abi::require(argument != nullptr && bytes <= max_argument_block, hipErrorInvalidValue);
  abi::require(offset <= max_argument_block - bytes, hipErrorInvalidValue);
  block.resize(std::max(block.size(), offset + bytes));
  std::memcpy(block.data() + offset, argument, bytes);
}

}  // namespace hipgraph::emu
