#pragma once
#include <string>

#include "runtime/graph.h"

namespace hipgraph::emu {

/// A graph in the DOT language: a cluster each for it and every graph inside it, nodes named as HIP
/// names them. `flags` are hipGraphDebugDotFlags: whose parameters the labels tell.
std::string dot_of(const Graph& graph, unsigned flags);

}  // namespace hipgraph::emu
