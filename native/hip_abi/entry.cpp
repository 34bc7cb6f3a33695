#include "entry.h"

#include <cstdio>
#include <exception>
#include <new>

namespace hipgraph::abi {
namespace {

// Plain values: a thread that ends while the process exits runs no destructor of ours.
thread_local hipError_t last = hipSuccess;
thread_local hipError_t previous = hipSuccess;

}  // namespace

hipError_t code_of_exception() noexcept {
  try {
    throw;
  } catch (const Failure& failure) {
    return failure.code;
  } catch (const std::bad_alloc&) {
    return hipErrorOutOfMemory;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hipgraph: %s\n", error.what());
    return hipErrorUnknown;
  } catch (...) {
    return hipErrorUnknown;
  }
}

hipError_t finish_call(hipError_t code, LastError last_error) noexcept {
  if (last_error == LastError::Leave) return code;
  previous = code;
  if (code != hipSuccess && code != hipErrorNotReady) last = code;
  return code;
}

hipError_t take_last_error() noexcept { return std::exchange(last, hipSuccess); }
hipError_t peek_last_error() noexcept { return last; }
hipError_t previous_code() noexcept { return previous; }

}  // namespace hipgraph::abi
