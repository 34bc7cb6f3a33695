#pragma once
#include "entry.h"
#include "hip_abi.h"
#include "runtime/api_lock.h"

/// What every file of entry points needs. Each function is one expression inside `entry`; those
/// that capture matters to ask `permit` with their own name, which has its class in
/// runtime/capture_rules.cpp.
namespace hipgraph::emu {

using abi::entry;
using abi::require;
using abi::required;

/// Makes an out handle null before anything can fail: no refused call leaves an old value there.
template <class T>
void clear(T* out) {
  if (out != nullptr) *out = nullptr;
}

}  // namespace hipgraph::emu
