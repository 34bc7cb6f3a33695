#include "runtime/registered_code.h"

#include <memory>
#include <unordered_map>
#include <vector>

#include "entry.h"
#include "runtime/managed_variables.h"

namespace hipgraph::emu {

class FatBinary {
 public:
  explicit FatBinary(const void* image) : image_(image) {}

  /// The code on a device, loaded by the first call.
  Module& on(int device);
  /// The kernel `name` on a device, with the address `host` as its handle.
  FunctionPtr function(const void* host, const std::string& name, int device);
  /// Unloads the code from every device.
  void unload();

  ManagedVariables managed;

 private:
  const void* image_;
  std::map<int, ModulePtr> loaded_;
  std::map<std::pair<const void*, int>, FunctionPtr> functions_;
};

namespace {

/// What a host address stands for.
struct Registered {
  FatBinary* binary;
  std::string name;
};

/// What the program registered. The compiler makes one object for each host function and variable,
/// so that their addresses name them.
struct Registry {
  std::unordered_map<FatBinary*, std::unique_ptr<FatBinary>> binaries;
  std::unordered_map<const void*, Registered> functions;
  std::unordered_map<const void*, Registered> variables;
  bool used = false;
};

Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

/// The binary behind what registration calls get back; another pointer is none of ours.
FatBinary& known(FatBinary* binary) {
  abi::require(registry().binaries.contains(binary), hipErrorInvalidValue);
  return *binary;
}

}  // namespace

Module& FatBinary::on(int device) {
  ModulePtr& module = loaded_[device];
  if (module == nullptr) {
    const auto made = std::make_shared<Module>();
    made->code = load_code(image_, 0, device);
    managed.connect(*made->code);
    add_module(made);
    module = made;
    registry().used = true;
  }
  return *module;
}

FunctionPtr FatBinary::function(const void* host, const std::string& name, int device) {
  const auto made = functions_.find({host, device});
  if (made != functions_.end()) return made->second;
  auto function = std::make_shared<Function>(*function_of(on(device), name.c_str()));
  function->handle = reinterpret_cast<hipFunction_t>(const_cast<void*>(host));
  functions_.emplace(std::pair{host, device}, function);
  return function;
}

void FatBinary::unload() {
  for (const auto& [key, function] : functions_) function->live = false;
  for (const auto& [device, module] : loaded_) {
    if (module != nullptr) unload_module(module);
  }
}

FatBinary* register_fat_binary(const void* image) {
  auto binary = std::make_unique<FatBinary>(image);
  FatBinary* const handle = binary.get();
  registry().binaries.emplace(handle, std::move(binary));
  return handle;
}

void unregister_fat_binary(FatBinary* binary) {
  known(binary);
  const auto own = [binary](const auto& entry) { return entry.second.binary == binary; };
  std::erase_if(registry().functions, own);
  std::erase_if(registry().variables, own);
  binary->unload();
  registry().binaries.erase(binary);
}

void register_function(FatBinary* binary, const void* host, const char* name) {
  registry().functions.emplace(host, Registered{&known(binary), name});
}

void register_variable(FatBinary* binary, const void* host, const char* name) {
  registry().variables.emplace(host, Registered{&known(binary), name});
}

void register_managed_variable(FatBinary* binary, void** host, const void* initial,
                               const char* name, std::size_t bytes) {
  *host = known(binary).managed.add(name, initial, bytes);
}

bool registered_code_used() { return registry().used; }

FunctionPtr find_host_function(const void* host, int device) {
  const auto found = registry().functions.find(host);
  if (found == registry().functions.end()) return nullptr;
  try {
    return found->second.binary->function(host, found->second.name, device);
  } catch (const abi::Failure& failure) {
    const bool other_target = failure.code == hipErrorNoBinaryForGpu;
    throw abi::Failure{other_target ? failure.code : hipErrorInvalidDeviceFunction};
  }
}

FunctionPtr function_by_symbol(const void* host, int device) {
  const auto found = registry().functions.find(host);
  abi::require(found != registry().functions.end(), hipErrorInvalidDeviceFunction);
  return function_of(found->second.binary->on(device), found->second.name.c_str());
}

bool is_symbol(const void* host) { return registry().variables.contains(host); }

const Variable& find_symbol(const void* host, int device) {
  const auto found = registry().variables.find(host);
  abi::require(found != registry().variables.end(), hipErrorInvalidSymbol);
  const Module& module = found->second.binary->on(device);
  const Variable* variable = module.code->variable(found->second.name);
  abi::require(variable != nullptr, hipErrorInvalidSymbol);
  return *variable;
}

}  // namespace hipgraph::emu
