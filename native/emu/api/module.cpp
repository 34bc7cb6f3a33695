#include "runtime/module.h"

#include <array>
#include <fstream>
#include <iterator>

#include "api/api.h"
#include "machine/target.h"
#include "runtime/capture_rules.h"
#include "runtime/device.h"

using namespace hipgraph::emu;

namespace {

void load(const char* call, hipModule_t* module, const void* image, std::size_t bytes) {
  permit_now(call);
  const ModulePtr made = load_module(image, bytes, this_thread().device);
  const ApiLock lock;
  *module = add_module(made);
}

void load_image(const char* call, hipModule_t* module, const void* image) {
  clear(required(module));
  require(image != nullptr, hipErrorInvalidValue);
  load(call, module, image, 0);
}

void load_file(const char* call, hipModule_t* module, const char* path) {
  clear(required(module));
  require(path != nullptr && *path != '\0', hipErrorInvalidValue);
  std::ifstream file(path, std::ios::binary);
  require(file.is_open(), hipErrorFileNotFound);
  const std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
  require(!image.empty(), hipErrorInvalidImage);
  load(call, module, image.data(), image.size());
}

bool is_name(const char* name) { return name != nullptr && *name != '\0'; }

FunctionPtr required_function(hipFunction_t handle) {
  FunctionPtr function = find_function(handle);
  require(function != nullptr, hipErrorInvalidHandle);
  return function;
}

struct AttributeRow {
  hipFunction_attribute attribute;
  int (*value)(const Kernel& kernel);
};

constexpr std::array attribute_rows{
    AttributeRow{HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                 [](const Kernel& kernel) { return static_cast<int>(kernel.max_block); }},
    AttributeRow{HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                 [](const Kernel& kernel) { return static_cast<int>(kernel.lds_bytes); }},
    AttributeRow{HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, [](const Kernel&) { return 0; }},
    AttributeRow{HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
                 [](const Kernel& kernel) { return static_cast<int>(kernel.scratch_bytes); }},
    AttributeRow{HIP_FUNC_ATTRIBUTE_NUM_REGS,
                 [](const Kernel& kernel) { return static_cast<int>(kernel.vgprs); }},
    AttributeRow{HIP_FUNC_ATTRIBUTE_PTX_VERSION, [](const Kernel&) { return 30; }},
    AttributeRow{HIP_FUNC_ATTRIBUTE_BINARY_VERSION, [](const Kernel&) { return 30; }},
    AttributeRow{HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA, [](const Kernel&) { return 0; }},
    AttributeRow{HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                 [](const Kernel& kernel) {
                   const auto lds = facts(device_model().target).lds_bytes;
                   return static_cast<int>(lds - kernel.lds_bytes);
                 }},
    AttributeRow{HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                 [](const Kernel&) { return 0; }},
};

}  // namespace

HIPGRAPH_API hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
  return entry([&, call = __func__] { load_file(call, module, path); });
}

HIPGRAPH_API hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return entry([&, call = __func__] { load_image(call, module, image); });
}

// The options tune a compiler that is not needed here; HIP ignores them too.
HIPGRAPH_API hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned, int*,
                                            void**) {
  return entry([&, call = __func__] { load_image(call, module, image); });
}

HIPGRAPH_API hipError_t hipModuleUnload(hipModule_t module) {
  return entry([&, call = __func__] {
    const ApiLock lock;
    permit(call);
    unload_module(find_module(module));
  });
}

HIPGRAPH_API hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module,
                                             const char* name) {
  return entry([&] {
    clear(required(function));
    require(is_name(name), hipErrorInvalidValue);
    const ApiLock lock;
    *function = function_of(*find_module(module), name)->handle;
  });
}

HIPGRAPH_API hipError_t hipModuleGetFunctionCount(unsigned* count, hipModule_t module) {
  return entry([&] {
    const ApiLock lock;
    const ModulePtr found = find_module(module);
    *required(count) = static_cast<unsigned>(found->code->kernels().size());
  });
}

HIPGRAPH_API hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, std::size_t* bytes,
                                           hipModule_t module, const char* name) {
  return entry([&] {
    clear(address);
    require((address != nullptr || bytes != nullptr) && is_name(name), hipErrorInvalidValue);
    const ApiLock lock;
    const ModulePtr found = find_module(module);
    const Variable* variable = found->managed->find(name);
    if (variable == nullptr) variable = found->code->variable(name);
    require(variable != nullptr, hipErrorNotFound);
    if (address != nullptr) *address = reinterpret_cast<void*>(variable->address);
    if (bytes != nullptr) *bytes = variable->bytes;
  });
}

HIPGRAPH_API hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute,
                                            hipFunction_t function) {
  return entry([&] {
    require(value != nullptr, hipErrorInvalidValue);
    const ApiLock lock;
    const FunctionPtr found = required_function(function);
    const auto index = static_cast<std::size_t>(attribute);
    require(index < attribute_rows.size(), hipErrorInvalidValue);
    *value = attribute_rows[index].value(*found->kernel);
  });
}
