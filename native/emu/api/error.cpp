#include <algorithm>
#include <array>

#include "api/api.h"

using namespace hipgraph::emu;
using hipgraph::abi::LastError;

namespace {

struct ErrorRow {
  hipError_t code;
  const char* name;
  const char* sentence;
};

constexpr std::array error_rows{
#define HIPGRAPH_ERROR_ROW(number, name, sentence) ErrorRow{name, #name, sentence},
    HIPGRAPH_ERROR_ROWS(HIPGRAPH_ERROR_ROW)
#undef HIPGRAPH_ERROR_ROW
};
static_assert(std::ranges::is_sorted(error_rows, {}, &ErrorRow::code));

const ErrorRow* find_row(hipError_t code) {
  const auto* row = std::ranges::lower_bound(error_rows, code, {}, &ErrorRow::code);
  return row != error_rows.end() && row->code == code ? row : nullptr;
}

}  // namespace

// The two that name codes change nothing and cannot fail, so they stay outside the boundary.
HIPGRAPH_API const char* hipGetErrorName(hipError_t code) {
  const ErrorRow* row = find_row(code);
  return row != nullptr ? row->name : "hipErrorUnknown";
}

HIPGRAPH_API const char* hipGetErrorString(hipError_t code) {
  const ErrorRow* row = find_row(code);
  return row != nullptr ? row->sentence : "unknown error";
}

HIPGRAPH_API hipError_t hipDrvGetErrorName(hipError_t code, const char** name) {
  return entry([&] {
    const ErrorRow* row = find_row(code);
    *required(name) = row != nullptr ? row->name : nullptr;
    require(row != nullptr, hipErrorInvalidValue);
  });
}

HIPGRAPH_API hipError_t hipDrvGetErrorString(hipError_t code, const char** sentence) {
  return entry([&] {
    const ErrorRow* row = find_row(code);
    *required(sentence) = row != nullptr ? row->sentence : nullptr;
    require(row != nullptr, hipErrorInvalidValue);
  });
}

HIPGRAPH_API hipError_t hipGetLastError() {
  return entry<LastError::Leave>([] { return hipgraph::abi::take_last_error(); });
}

HIPGRAPH_API hipError_t hipPeekAtLastError() {
  return entry<LastError::Leave>([] { return hipgraph::abi::peek_last_error(); });
}

HIPGRAPH_API hipError_t hipExtGetLastError() {
  return entry<LastError::Leave>([] { return hipgraph::abi::previous_code(); });
}
