#pragma once
#include "api/api.h"

/// A HIP function that this device does not have: it says NotSupported, whatever its arguments.
#define NOT_SUPPORTED(name)                                           \
  HIPGRAPH_API hipError_t name() {                                    \
    return hipgraph::emu::entry([] { return hipErrorNotSupported; }); \
  }

/// The same for one that returns text.
#define NO_TEXT(name)                                          \
  HIPGRAPH_API const char* name() {                            \
    hipgraph::emu::entry([] { return hipErrorNotSupported; }); \
    return nullptr;                                            \
  }
