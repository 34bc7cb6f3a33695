#pragma once
#include <string>
#include <vector>

#include "runtime/code_object.h"
#include "runtime/msgpack.h"

namespace hipgraph::emu {

/// A kernel as the metadata describes it; registers and addresses are not known here.
struct KernelMetadata {
  Kernel kernel;
  std::string symbol;  ///< of its descriptor
};

/// The kernels of a code object's metadata; throws LoadError for one that this device cannot run.
std::vector<KernelMetadata> read_kernel_metadata(const MsgpackValue& root);

}  // namespace hipgraph::emu
