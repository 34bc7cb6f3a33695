#pragma once
#include "entry.h"
#include "hip_abi.h"
#include "runtime/api_lock.h"

/// What every file of entry points needs. Each function is one expression inside `entry`; those that
/// capture matters to ask `permit` with their own name, whose class is in runtime/capture_rules.cpp.
namespace hipgraph::emu {

using abi::entry;
using abi::require;
using abi::required;

}  // namespace hipgraph::emu
