#pragma once
#include <type_traits>
#include <utility>

#include "hip_abi.h"

namespace hipgraph::abi {

/// A refusal on its way to the boundary: the code that the caller gets.
struct Failure {
  hipError_t code;
};

/// Leaves the entry point with `code` unless `holds`.
inline void require(bool holds, hipError_t code) {
  if (!holds) throw Failure{code};
}

/// The out argument itself; a null one is an invalid value.
template <class T>
T* required(T* out) {
  require(out != nullptr, hipErrorInvalidValue);
  return out;
}

/// Whether a call's code becomes the thread's last error.
enum class LastError : bool { Record, Leave };

/// The code for the exception being handled: ours, out of memory, or unknown.
hipError_t code_of_exception() noexcept;
/// Notes how a call ended; NotReady and success never replace the thread's last error.
hipError_t finish_call(hipError_t code, LastError last_error) noexcept;
/// The thread's last error, which becomes success.
hipError_t take_last_error() noexcept;
/// The thread's last error.
hipError_t peek_last_error() noexcept;
/// The code of the thread's previous call, whatever it was.
hipError_t previous_code() noexcept;

/// The boundary of every exported function: runs `body` and turns whatever leaves it into a code.
/// The body returns nothing (success) or a code.
template <LastError last_error = LastError::Record, class Body>
hipError_t entry(Body&& body) noexcept {
  hipError_t code = hipSuccess;
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      std::forward<Body>(body)();
    } else {
      code = std::forward<Body>(body)();
    }
  } catch (...) {
    code = code_of_exception();
  }
  return finish_call(code, last_error);
}

}  // namespace hipgraph::abi
