#pragma once
#include <string_view>

#include "hip_abi.h"

namespace hipgraph::emu {

/// A call that captures forbid and that a capture became invalid by: the first one, since later
/// refusals follow from it.
struct CaptureRefusal {
  std::string_view call;  ///< an entry point's own name, which is never freed; empty: none
  hipError_t code = hipSuccess;
  bool other_thread = false;  ///< than the one that began the capture
};

/// As JSON, null for none. The text is never freed. Expects the API lock to be held.
const char* json_of(const CaptureRefusal& refusal);

}  // namespace hipgraph::emu
