#pragma once
#include <string>
#include <utility>

#include "rocshmem_c.h"
#include "text.h"

namespace hipgraph::shmem {

/// A refusal on its way to the C boundary.
struct Error {
  hgs_status status;
  std::string text;
};

template <class... Parts>
[[noreturn]] void fail(hgs_status status, const Parts&... parts) {
  throw Error{status, text(parts...)};
}

/// Keeps what the exception being handled says as this thread's text; its status.
int note_exception() noexcept;
/// This thread's text; empty before its first failure.
const char* last_text() noexcept;

/// The boundary of every exported function: runs `body` and turns what leaves it into a status.
template <class Body>
int entry(Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return HGS_OK;
  } catch (...) {
    return note_exception();
  }
}

/// The out argument itself, which must not be null.
template <class T>
T& result_of(T* out, const char* name) {
  if (out == nullptr) fail(HGS_INVALID, name, " is null: pass the address of the result");
  return *out;
}

}  // namespace hipgraph::shmem
