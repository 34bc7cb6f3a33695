#include "api/api.h"
#include "runtime/capture_rules.h"
#include "runtime/failures.h"
#include "runtime/memory_checks.h"
#include "runtime/node_commands.h"
#include "runtime/registered_code.h"
#include "runtime/submission.h"

using namespace hipgraph::emu;

namespace {

/// A symbol is the address of a host variable that compiled HIP code registered. Variables of
/// loaded modules have no such address: hipModuleGetGlobal finds them.
struct SymbolCopy {
  const void* symbol;
  const void* host;
  std::size_t bytes;
  std::size_t offset;
  hipMemcpyKind kind;
  bool to_symbol;

  /// The bytes in question of the variable on a device, after all that HIP checks first.
  void* place(int device) const {
    const hipMemcpyKind wanted = to_symbol ? hipMemcpyHostToDevice : hipMemcpyDeviceToHost;
    const bool known =
        kind == wanted || kind == hipMemcpyDeviceToDevice || kind == hipMemcpyDeviceToDeviceNoCU;
    require(known, hipErrorInvalidMemcpyDirection);
    require(host != nullptr, hipErrorInvalidValue);
    const Variable& variable = find_symbol(symbol, device);
    const bool inside = offset <= variable.bytes && bytes <= variable.bytes - offset;
    require(inside, hipErrorInvalidValue);
    return reinterpret_cast<void*>(variable.address + offset);
  }

  CheckedCopy checked(int device) const {
    void* const variable = place(device);
    return to_symbol ? check_copy(variable, host, bytes, kind)
                     : check_copy(const_cast<void*>(host), variable, bytes, kind);
  }

  /// A recorded copy of no bytes is a node too.
  MemcpyWork node(int device) const {
    void* const variable = place(device);
    MemcpyWork work;
    work.one_dimensional = true;
    work.to_symbol = to_symbol;
    work.parms.kind = kind;
    work.parms.extent = {bytes, 1, 1};
    work.parms.dstPtr.ptr = to_symbol ? variable : const_cast<void*>(host);
    work.parms.srcPtr.ptr = to_symbol ? const_cast<void*>(host) : variable;
    return work;
  }
};

hipError_t copy_blocking(const char* call, const SymbolCopy& copy) {
  CommandPtr command;
  {
    const ApiLock lock;
    permit(call);
    const CheckedCopy checked = copy.checked(this_thread().device);
    if (checked.bytes == 0) return hipSuccess;
    command = make_eager_copy(checked);
    enqueue(*find_stream(nullptr), command);
  }
  return Failures::instance().wait({&command, 1});
}

void copy_on_stream(const char* call, const SymbolCopy& copy, hipStream_t stream) {
  const ApiLock lock;
  const StreamPtr found = find_stream(stream);
  if (permit(call, *found) == Admission::Record) {
    submit(*found, Admission::Record, copy.node(found->device), stream);
    return;
  }
  const CheckedCopy checked = copy.checked(found->device);
  if (checked.bytes != 0) enqueue(*found, make_eager_copy(checked));
}

}  // namespace

HIPGRAPH_API hipError_t hipMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                          std::size_t offset, hipMemcpyKind kind) {
  return entry([&, call = __func__] {
    return copy_blocking(call, {symbol, from, bytes, offset, kind, true});
  });
}

HIPGRAPH_API hipError_t hipMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                            std::size_t offset, hipMemcpyKind kind) {
  return entry([&, call = __func__] {
    return copy_blocking(call, {symbol, to, bytes, offset, kind, false});
  });
}

HIPGRAPH_API hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* from,
                                               std::size_t bytes, std::size_t offset,
                                               hipMemcpyKind kind, hipStream_t stream) {
  return entry([&, call = __func__] {
    copy_on_stream(call, {symbol, from, bytes, offset, kind, true}, stream);
  });
}

HIPGRAPH_API hipError_t hipMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                                 std::size_t offset, hipMemcpyKind kind,
                                                 hipStream_t stream) {
  return entry([&, call = __func__] {
    copy_on_stream(call, {symbol, to, bytes, offset, kind, false}, stream);
  });
}

HIPGRAPH_API hipError_t hipGetSymbolAddress(void** address, const void* symbol) {
  return entry([&] {
    clear(required(address));
    const ApiLock lock;
    *address = reinterpret_cast<void*>(find_symbol(symbol, this_thread().device).address);
  });
}

HIPGRAPH_API hipError_t hipGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return entry([&] {
    required(bytes);
    const ApiLock lock;
    *bytes = find_symbol(symbol, this_thread().device).bytes;
  });
}
