#pragma once
#include <cstdint>
#include <vector>

#include "hip_abi.h"

namespace hipgraph::emu {

/// What stands between <<< and >>>, on its way to the launch in the function's stub.
struct CallConfiguration {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_lds_bytes = 0;
  hipStream_t stream = nullptr;
  std::vector<std::uint8_t> arguments;  ///< set one by one, by the older launch calls only
};

/// Puts a configuration on the calling thread's stack: a launch among the arguments of another
/// launch nests.
void push_configuration(CallConfiguration configuration);
/// Takes the top of the stack; MissingConfiguration when it is empty.
CallConfiguration pop_configuration();
/// Copies one argument into the block of the top configuration.
void set_argument(const void* argument, std::size_t bytes, std::size_t offset);

}  // namespace hipgraph::emu
