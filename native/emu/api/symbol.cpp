#include "api/api.h"
#include "runtime/capture_rules.h"

using namespace hipgraph::emu;

namespace {

/// A symbol is the address of a host variable that compiled HIP code registers with the library.
/// Nothing can register one here, so every symbol is unknown, after all that HIP checks first.
/// Variables of loaded modules have no such address: hipModuleGetGlobal finds them.
[[noreturn]] void refuse_symbol() { throw hipgraph::abi::Failure{hipErrorInvalidSymbol}; }

void check_copy_call(const void* host, hipMemcpyKind kind, hipMemcpyKind wanted) {
  const bool known =
      kind == wanted || kind == hipMemcpyDeviceToDevice || kind == hipMemcpyDeviceToDeviceNoCU;
  require(known, hipErrorInvalidMemcpyDirection);
  require(host != nullptr, hipErrorInvalidValue);
}

void copy_blocking(const char* call, const void* host, hipMemcpyKind kind, hipMemcpyKind wanted) {
  const ApiLock lock;
  permit(call);
  check_copy_call(host, kind, wanted);
  refuse_symbol();
}

void copy_on_stream(const char* call, const void* host, hipMemcpyKind kind, hipMemcpyKind wanted,
                    hipStream_t stream) {
  const ApiLock lock;
  permit(call, *find_stream(stream));
  check_copy_call(host, kind, wanted);
  refuse_symbol();
}

}  // namespace

HIPGRAPH_API hipError_t hipMemcpyToSymbol(const void*, const void* from, std::size_t, std::size_t,
                                          hipMemcpyKind kind) {
  return entry([&, call = __func__] { copy_blocking(call, from, kind, hipMemcpyHostToDevice); });
}

HIPGRAPH_API hipError_t hipMemcpyFromSymbol(void* to, const void*, std::size_t, std::size_t,
                                            hipMemcpyKind kind) {
  return entry([&, call = __func__] { copy_blocking(call, to, kind, hipMemcpyDeviceToHost); });
}

HIPGRAPH_API hipError_t hipMemcpyToSymbolAsync(const void*, const void* from, std::size_t,
                                               std::size_t, hipMemcpyKind kind,
                                               hipStream_t stream) {
  return entry(
      [&, call = __func__] { copy_on_stream(call, from, kind, hipMemcpyHostToDevice, stream); });
}

HIPGRAPH_API hipError_t hipMemcpyFromSymbolAsync(void* to, const void*, std::size_t, std::size_t,
                                                 hipMemcpyKind kind, hipStream_t stream) {
  return entry(
      [&, call = __func__] { copy_on_stream(call, to, kind, hipMemcpyDeviceToHost, stream); });
}

HIPGRAPH_API hipError_t hipGetSymbolAddress(void** address, const void*) {
  return entry([&] {
    clear(required(address));
    refuse_symbol();
  });
}

HIPGRAPH_API hipError_t hipGetSymbolSize(std::size_t* bytes, const void*) {
  return entry([&] {
    required(bytes);
    refuse_symbol();
  });
}
