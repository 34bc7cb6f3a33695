#pragma once
#include "runtime/command.h"

/// The hipError_t numbers that the device itself ends commands and loads with.
namespace hipgraph::emu::status {

constexpr Status success = 0;
constexpr Status out_of_memory = 2;
constexpr Status deinitialized = 4;
constexpr Status invalid_configuration = 9;
constexpr Status invalid_image = 200;
constexpr Status no_binary_for_gpu = 209;
constexpr Status illegal_address = 700;
constexpr Status launch_failure = 719;

}  // namespace hipgraph::emu::status
