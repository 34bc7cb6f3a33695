#pragma once
#include "hip_abi.h"
#include "runtime/graph.h"
#include "runtime/node_work.h"

namespace hipgraph::emu {

/// A launch as a caller describes it: sizes, dynamic LDS, and arguments in one of two forms.
struct LaunchCall {
  dim3 grid;
  dim3 block;
  unsigned dynamic_lds_bytes = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
};

/// A kernel node's parameters as such a description.
LaunchCall launch_of(const hipKernelNodeParams& params);
/// Checks and packs an eager launch of `function` (null: an unknown handle).
KernelWork check_launch(const FunctionPtr& function, const LaunchCall& call);
/// Checks and packs a launch that becomes a node.
KernelWork check_launch_node(const FunctionPtr& function, const LaunchCall& call);
/// A node's arguments in the form they came in, as pointers into the node.
void show_arguments(Node& node, KernelWork& work);

}  // namespace hipgraph::emu
