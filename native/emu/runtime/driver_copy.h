#pragma once
#include "graph_abi.h"

namespace hipgraph::emu {

/// A copy as the driver calls describe it, in the terms of all others. A pitch or height of 0 is
/// that of what is copied; arrays are not supported, other kinds of memory are invalid values.
hipMemcpy3DParms region_of(const HIP_MEMCPY3D& copy);
/// The way back.
HIP_MEMCPY3D driver_copy_of(const hipMemcpy3DParms& parms);

}  // namespace hipgraph::emu
