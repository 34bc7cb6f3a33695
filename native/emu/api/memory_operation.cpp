#include "api/api.h"
#include "runtime/memory_operations.h"
#include "runtime/submission.h"

using namespace hipgraph::emu;

namespace {

void operate(const char* call, hipStream_t stream, std::vector<MemoryOperation> operations) {
  const ApiLock lock;
  const StreamPtr found = find_stream(stream);
  const Admission admission = permit(call, *found);
  for (MemoryOperation& operation : operations) {
    check_memory_operation(operation);
    // A node has no mask in HIP.
    if (admission == Admission::Record) operation.mask = ~std::uint64_t{0};
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
  return entry(
      [&, call = __func__] { operate(call, stream, operations_of(params, count, flags)); });
}
