#pragma once
#include <cstddef>

#include "runtime/module.h"

namespace hipgraph::emu {

/// Device code inside the program itself, as compiled HIP code hands it over from its static
/// constructors: nothing is loaded, and no device needed, before a device first uses it.
class FatBinary;

/// Notes a fat binary; it stays where the program put it.
FatBinary* register_fat_binary(const void* image);
/// Forgets a fat binary with its functions and variables, and unloads it from every device. Kernels
/// in flight keep their code.
void unregister_fat_binary(FatBinary* binary);
/// Notes that `host` stands for the kernel `name`; the first such note counts.
void register_function(FatBinary* binary, const void* host, const char* name);
/// Notes that the address `host` stands for the device variable `name`.
void register_variable(FatBinary* binary, const void* host, const char* name);
/// Gives the managed variable `name` memory with its first value and puts the address at `host`;
/// each device's code learns it when it is loaded.
void register_managed_variable(FatBinary* binary, void** host, const void* initial,
                               const char* name, std::size_t bytes);
/// Whether any fat binary was ever loaded on a device.
bool registered_code_used();

/// The kernel behind a host function on `device`, under the host function as its handle. Null when
/// none is registered; NoBinaryForGpu when the program holds no code for the device.
FunctionPtr find_host_function(const void* host, int device);
/// The same kernel under a handle of its own, as those of modules have; InvalidDeviceFunction when
/// there is none.
FunctionPtr function_by_symbol(const void* host, int device);
/// The device variable behind a host variable; any other address is an invalid symbol.
const Variable& find_symbol(const void* host, int device);
/// Whether a host address stands for a device variable.
bool is_symbol(const void* host);

}  // namespace hipgraph::emu
