#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "hip_abi.h"
#include "runtime/code_object.h"
#include "runtime/managed_variables.h"

namespace hipgraph::emu {

struct Module;

/// A kernel of a loaded module as callers name it. Launches and graph nodes keep it, and with it
/// the code, beyond the module's end; `live` says whether the module is still loaded.
struct Function {
  hipFunction_t handle = nullptr;
  const Kernel* kernel = nullptr;
  std::shared_ptr<CodeObject> code;
  bool live = true;
};
using FunctionPtr = std::shared_ptr<Function>;

/// A loaded code object.
struct Module {
  hipModule_t handle = nullptr;
  std::shared_ptr<CodeObject> code;
  std::shared_ptr<const ManagedVariables> managed;  ///< of code that describes its own
  std::map<std::string, FunctionPtr, std::less<>> functions;
};
using ModulePtr = std::shared_ptr<Module>;

/// Loads an image for a device; `bytes` may be 0 when only the image itself tells. Needs no lock; a
/// refused image is reported and fails with the loader's code.
std::shared_ptr<CodeObject> load_code(const void* image, std::size_t bytes, int device);
/// The same as a module, with memory for the managed variables that the code describes.
ModulePtr load_module(const void* image, std::size_t bytes, int device);
/// Gives a module its handle.
hipModule_t add_module(const ModulePtr& module);
/// The live module: null fails with InvalidHandle, an unknown one with NotFound.
ModulePtr find_module(hipModule_t handle);
/// Ends a module and the handles of its kernels.
void unload_module(const ModulePtr& module);
/// The handle of a kernel in a module: the same one every time; NotFound when there is none.
FunctionPtr function_of(Module& module, const char* name);
/// The live function behind a handle, or behind a host function of the program on the current
/// device; null when it is neither.
FunctionPtr find_function(const void* handle);

}  // namespace hipgraph::emu
