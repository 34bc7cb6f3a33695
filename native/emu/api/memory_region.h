#pragma once
#include <functional>

#include "api/api.h"

namespace hipgraph::emu {

/// Checks a call's arguments; asked after capture was, whose refusal comes first.
using MakeRegion = std::function<hipMemcpy3DParms()>;

/// A pitched copy on the null stream that the host waits for.
hipError_t copy_region_blocking(const char* call, const MakeRegion& make);
/// A pitched copy on a stream, or its node on a capturing one.
void copy_region_on_stream(const char* call, const MakeRegion& make, hipStream_t stream);

}  // namespace hipgraph::emu
