#pragma once
#include <cstdint>

#include "hip_abi.h"

namespace hipgraph::emu {

/// What HIP silently does where CUDA refuses, or does something else: a program that relies on it
/// is not portable, and mostly wrong.
enum class Divergence : std::uint8_t {
  NullStreamWork,       ///< work on the null stream while a blocking stream captures
  NullStreamSync,       ///< synchronising the null stream meanwhile
  RunsAtOnce,           ///< a call that is never recorded, on a capturing stream
  UncapturedEvent,      ///< a capturing stream waits for an event of a stream that does not capture
  ModuleLoad,           ///< loading code beside a capture that is not relaxed
  EmptyCopy,            ///< recording a copy of no bytes, which HIP refuses and CUDA takes
  RestartedCapture,     ///< beginning a capture over one that became invalid
  PartialGraph,         ///< ending a capture of which only a joined stream became invalid
  OverlappingLaunches,  ///< launching a graph exec that is in flight, with nothing to order the two
  CallFromCallback,     ///< calling HIP from a host function or stream callback
};

/// Says so as HIPGRAPH_EMU_DIVERGENCE asks: not at all, once a kind on stderr, or by failing with
/// the code that CUDA (or a later HIP) gives. Kinds without such a code only warn.
void diverge(Divergence kind);
/// The same, with that code as result instead of a failure.
hipError_t divergence(Divergence kind);

}  // namespace hipgraph::emu
