#include <algorithm>
#include <array>
#include <span>

#include "entry.h"
#include "runtime/memory_operations.h"

namespace hipgraph::emu {
namespace {

using abi::require;

constexpr unsigned max_batch = 256;
constexpr std::uint64_t every_bit = ~std::uint64_t{0};
constexpr unsigned half = sizeof(std::uint32_t), whole = sizeof(std::uint64_t);

/// The kinds of waits by the flags that ask for them.
constexpr std::array wait_kinds{MemoryOperationKind::WaitGreaterEqual,
                                MemoryOperationKind::WaitEqual, MemoryOperationKind::WaitAnd,
                                MemoryOperationKind::WaitNor};

MemoryOperation operation_of(const hipStreamBatchMemOpParams& params) {
  const auto& given = params.valueOperation;
  const auto low = static_cast<std::uint32_t>(given.value);
  switch (params.operation) {
    case hipStreamMemOpWaitValue32:
      return wait_operation(given.address, low, given.flags, UINT32_MAX, half);
    case hipStreamMemOpWaitValue64:
      return wait_operation(given.address, given.value, given.flags, every_bit, whole);
    case hipStreamMemOpWriteValue32: return write_operation(given.address, low, half);
    case hipStreamMemOpWriteValue64: return write_operation(given.address, given.value, whole);
    default: throw abi::Failure{hipErrorInvalidValue};
  }
}

}  // namespace

MemoryOperation wait_operation(void* address, std::uint64_t value, unsigned flags,
                               std::uint64_t mask, unsigned bytes) {
  require(address != nullptr && flags < wait_kinds.size(), hipErrorInvalidValue);
  return {wait_kinds[flags], address, value, mask, bytes};
}

MemoryOperation write_operation(void* address, std::uint64_t value, unsigned bytes) {
  return {MemoryOperationKind::Write, address, value, every_bit, bytes};
}

std::vector<MemoryOperation> operations_of(const hipStreamBatchMemOpParams* params, unsigned count,
                                           unsigned flags) {
  const bool valid = params != nullptr && count != 0 && count <= max_batch && flags == 0;
  require(valid, hipErrorInvalidValue);
  std::vector<MemoryOperation> operations;
  for (const auto& each : std::span(params, count)) operations.push_back(operation_of(each));
  return operations;
}

hipStreamBatchMemOpParams params_of(const MemoryOperation& operation) {
  hipStreamBatchMemOpParams params{};
  auto& shown = params.valueOperation;
  shown.address = operation.address;
  shown.value = operation.value;
  const bool wide = operation.bytes == whole;
  if (operation.kind == MemoryOperationKind::Write) {
    shown.operation = wide ? hipStreamMemOpWriteValue64 : hipStreamMemOpWriteValue32;
    return params;
  }
  shown.operation = wide ? hipStreamMemOpWaitValue64 : hipStreamMemOpWaitValue32;
  shown.flags =
      static_cast<unsigned>(std::ranges::find(wait_kinds, operation.kind) - wait_kinds.begin());
  return params;
}

}  // namespace hipgraph::emu
