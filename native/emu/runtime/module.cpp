#include "runtime/module.h"

#include "entry.h"
#include "runtime/api_lock.h"
#include "runtime/handle_table.h"
#include "runtime/json.h"
#include "runtime/registered_code.h"
#include "runtime/report.h"

namespace hipgraph::emu {
namespace {

struct Modules {
  HandleTable<hipModule_t, Module> loaded{"modules"};
  HandleTable<hipFunction_t, Function> functions{"functions"};
};

Modules& modules() {
  static Modules& all = *new Modules;
  return all;
}

}  // namespace

std::shared_ptr<CodeObject> load_code(const void* image, std::size_t bytes, int device) {
  try {
    return CodeObject::load(image, bytes, device);
  } catch (const LoadError& error) {
    const JsonObject json =
        JsonObject().add("kind", "load").add("status", error.status).add("text", error.text);
    publish_report("code object refused: " + error.text + "\n", json.text());
    throw abi::Failure{static_cast<hipError_t>(error.status)};
  }
}

ModulePtr load_module(const void* image, std::size_t bytes, int device) {
  /// The memory lives as long as the code, which a launch in flight keeps.
  struct Loaded {
    std::shared_ptr<CodeObject> code;
    ManagedVariables managed;
  };
  const auto loaded = std::make_shared<Loaded>();
  loaded->code = load_code(image, bytes, device);
  loaded->managed.add_all(*loaded->code);
  loaded->managed.connect(*loaded->code);
  auto module = std::make_shared<Module>();
  module->code = {loaded, loaded->code.get()};
  module->managed = {loaded, &loaded->managed};
  return module;
}

hipModule_t add_module(const ModulePtr& module) { return modules().loaded.insert(module); }

ModulePtr find_module(hipModule_t handle) {
  abi::require(handle != nullptr, hipErrorInvalidHandle);
  ModulePtr module = modules().loaded.find(handle);
  abi::require(module != nullptr, hipErrorNotFound);
  return module;
}

void unload_module(const ModulePtr& module) {
  for (const auto& [name, function] : module->functions) {
    function->live = false;
    modules().functions.erase(function->handle);
  }
  modules().loaded.erase(module->handle);
}

FunctionPtr function_of(Module& module, const char* name) {
  const auto known = module.functions.find(name);
  if (known != module.functions.end()) return known->second;
  const Kernel* kernel = module.code->kernel(name);
  abi::require(kernel != nullptr, hipErrorNotFound);
  auto function = std::make_shared<Function>();
  function->kernel = kernel;
  function->code = module.code;
  modules().functions.insert(function);
  module.functions.emplace(name, function);
  return function;
}

FunctionPtr find_function(const void* handle) {
  FunctionPtr function =
      modules().functions.find(reinterpret_cast<hipFunction_t>(const_cast<void*>(handle)));
  return function ? function : find_host_function(handle, this_thread().device);
}

}  // namespace hipgraph::emu
