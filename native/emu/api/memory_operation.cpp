#include <array>
#include <span>

#include "api/api.h"
#include "runtime/memory_operations.h"
#include "runtime/submission.h"

using namespace hipgraph::emu;

namespace {

constexpr unsigned max_batch = 256;
constexpr std::uint64_t every_bit = ~std::uint64_t{0};

MemoryOperation wait_operation(void* address, std::uint64_t value, unsigned flags,
                               std::uint64_t mask, unsigned bytes) {
  constexpr std::array kinds{MemoryOperationKind::WaitGreaterEqual, MemoryOperationKind::WaitEqual,
                             MemoryOperationKind::WaitAnd, MemoryOperationKind::WaitNor};
  require(address != nullptr && flags < kinds.size(), hipErrorInvalidValue);
  return {kinds[flags], address, value, mask, bytes};
}

MemoryOperation write_operation(void* address, std::uint64_t value, unsigned bytes) {
  return {MemoryOperationKind::Write, address, value, every_bit, bytes};
}

MemoryOperation operation_of(const hipStreamBatchMemOpParams& params) {
  constexpr unsigned half = sizeof(std::uint32_t), whole = sizeof(std::uint64_t);
  const auto& wait = params.valueOperation;
  const auto low = static_cast<std::uint32_t>(wait.value);
  switch (params.operation) {
    case hipStreamMemOpWaitValue32:
      return wait_operation(wait.address, low, wait.flags, UINT32_MAX, half);
    case hipStreamMemOpWaitValue64:
      return wait_operation(wait.address, wait.value, wait.flags, every_bit, whole);
    case hipStreamMemOpWriteValue32: return write_operation(wait.address, low, half);
    case hipStreamMemOpWriteValue64: return write_operation(wait.address, wait.value, whole);
    default: throw hipgraph::abi::Failure{hipErrorInvalidValue};
  }
}

void operate(const char* call, hipStream_t stream, std::vector<MemoryOperation> operations) {
  const ApiLock lock;
  const StreamPtr found = find_stream(stream);
  const Admission admission = permit(call, *found);
  for (MemoryOperation& operation : operations) {
    check_memory_operation(operation);
    if (admission == Admission::Record) operation.mask = every_bit;  // a node has no mask in HIP
  }
  submit(*found, admission, MemoryWork{std::move(operations)}, stream);
}

}  // namespace

HIPGRAPH_API hipError_t hipStreamWaitValue32(hipStream_t stream, void* address, std::uint32_t value,
                                             unsigned flags, std::uint32_t mask) {
  return entry([&, call = __func__] {
    operate(call, stream, {wait_operation(address, value, flags, mask, sizeof value)});
  });
}

HIPGRAPH_API hipError_t hipStreamWaitValue64(hipStream_t stream, void* address, std::uint64_t value,
                                             unsigned flags, std::uint64_t mask) {
  return entry([&, call = __func__] {
    operate(call, stream, {wait_operation(address, value, flags, mask, sizeof value)});
  });
}

HIPGRAPH_API hipError_t hipStreamWriteValue32(hipStream_t stream, void* address,
                                              std::uint32_t value, unsigned) {
  return entry([&, call = __func__] {
    operate(call, stream, {write_operation(address, value, sizeof value)});
  });
}

HIPGRAPH_API hipError_t hipStreamWriteValue64(hipStream_t stream, void* address,
                                              std::uint64_t value, unsigned) {
  return entry([&, call = __func__] {
    operate(call, stream, {write_operation(address, value, sizeof value)});
  });
}

HIPGRAPH_API hipError_t hipStreamBatchMemOp(hipStream_t stream, unsigned count,
                                            const hipStreamBatchMemOpParams* params,
                                            unsigned flags) {
  return entry([&, call = __func__] {
    const bool valid = params != nullptr && count != 0 && count <= max_batch && flags == 0;
    require(valid, hipErrorInvalidValue);
    std::vector<MemoryOperation> operations;
    for (const auto& each : std::span(params, count)) operations.push_back(operation_of(each));
    operate(call, stream, std::move(operations));
  });
}
