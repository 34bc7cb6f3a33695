// rocSHMEM's device API on the local provider: a kernel that includes <rocshmem/rocshmem.hpp>
// compiles against this header or against AMD's. Nothing is linked; the module's symbols must be
// initialised before its first launch.
//
// A PE or an address that is wrong, and a wait that takes too long, are written to the failure
// record; the call then does nothing more, and the kernel goes on.
#pragma once
#include "amo.hpp"
#include "constants.hpp"
#include "order.hpp"
#include "pe.hpp"
#include "rma.hpp"
#include "signal.hpp"
#include "wait.hpp"

#undef HGS_RMA_TYPES
#undef HGS_BITWISE_TYPES
#undef HGS_INTEGER_TYPES
#undef HGS_ATOMIC_TYPES
