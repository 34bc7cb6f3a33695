#include "kernels.h"

#include <cstdio>
#include <memory>

namespace hipgraph::shmem {
namespace {

/// The bundle's bytes; HIP may read them as long as the module lives.
std::string& bundle() {
  static std::string& bytes = *new std::string;
  return bytes;
}

std::string read_file(const char* path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "rbe"), std::fclose);
  std::string bytes;
  char part[65536];
  while (file != nullptr) {
    const std::size_t count = std::fread(part, 1, sizeof part, file.get());
    if (count == 0) break;
    bytes.append(part, count);
  }
  return bytes;
}

}  // namespace

void attach_kernels(const char* path) {
  std::string bytes = read_file(path);
  if (bytes.empty()) fail(HGS_INVALID, "kernels: ", path, " cannot be read, or is empty");
  bundle() = std::move(bytes);
}

Kernels::Kernels() {
  std::size_t count = 0;
  for (const char* name : {"barrier", "signal", "wait_until", "fence", "atomic32", "atomic64"}) {
    names_[count++] = text("shmem_", name);
  }
  for (const char* reduction : {"sum", "min", "max", "prod"}) {
    for (const char* element : {"float", "double", "int", "long", "bfloat16"}) {
      names_[count++] = text("shmem_", reduction, "_", element);
    }
  }
  hip().module_load(&module_, bundle().data());
  for (std::size_t i = 0; i < kCount; ++i) {
    const hipError_t code = hip().function.code(&functions_[i], module_, names_[i].c_str());
    if (code == hipSuccess) continue;
    hip().module_unload.code(module_);
    throw Error{HGS_HIP, text(names_[i], ": ", hip_text(hip().function.name, code))};
  }
}

Kernels::~Kernels() { hip().module_unload.code(module_); }

void Kernels::launch_with(Kernel kernel, unsigned blocks, unsigned threads, hipStream_t stream,
                          void** arguments) const {
  const auto index = static_cast<std::size_t>(kernel);
  const hipError_t code = hip().launch.code(functions_[index], blocks, 1, 1, threads, 1, 1, 0,
                                            stream, arguments, nullptr);
  if (code == hipSuccess) return;
  throw Error{HGS_HIP, text(names_[index], ": ", hip_text(hip().launch.name, code))};
}

}  // namespace hipgraph::shmem
