#include <cstdio>
#include <cstring>

#include "atomics.h"
#include "failure.h"
#include "symbols.h"
#include "world.h"

using namespace hipgraph::shmem;

namespace {

constexpr int kThreadMultiple = 4;  // rocSHMEM's number
constexpr int kVersion[] = {0, 1, 0};

void copy_text(const char* from, char* text, std::size_t capacity) {
  if (text != nullptr && capacity != 0) std::snprintf(text, capacity, "%s", from);
}

}  // namespace

int hgs_error(char* text, size_t capacity) {
  copy_text(last_text(), text, capacity);
  return HGS_OK;
}

int hgs_attach(const char* hip_library, const char* kernels) {
  return entry([&] {
    if (hip_library == nullptr) fail(HGS_INVALID, "hip_library is null: pass its path");
    if (kernels == nullptr) fail(HGS_INVALID, "kernels is null: pass the path of the bundle");
    if (has_world()) fail(HGS_INVALID, "this process is a PE: call hgs_finalize first");
    attach_kernels(kernels);
    attach_hip(hip_library);
  });
}

int hgs_name(char* text, size_t capacity) {
  return entry([&] { copy_text("local", text, capacity); });
}

int hgs_version(int* major, int* minor, int* patch) {
  return entry([&] {
    result_of(major, "major") = kVersion[0];
    result_of(minor, "minor") = kVersion[1];
    result_of(patch, "patch") = kVersion[2];
  });
}

int hgs_get_uniqueid(unsigned char* id) {
  return entry([&] {
    unsigned char& bytes = result_of(id, "id");
    const UniqueId made = open_bootstrap();
    std::memcpy(&bytes, &made, sizeof made);
  });
}

int hgs_init(int pe, int n_pes, const unsigned char* id, size_t heap_bytes, double timeout) {
  return entry([&] { enter_world(pe, n_pes, id, heap_bytes, timeout); });
}

int hgs_finalize(void) {
  return entry([] { leave_world(); });
}

int hgs_my_pe(int* pe) {
  return entry([&] { result_of(pe, "pe") = world()->pe(); });
}

int hgs_n_pes(int* n_pes) {
  return entry([&] { result_of(n_pes, "n_pes") = world()->n_pes(); });
}

int hgs_query_thread(int* provided) {
  return entry([&] { result_of(provided, "provided") = kThreadMultiple; });
}

int hgs_check(void) {
  return entry([] { check_failure(*world()); });
}

int hgs_hipmodule_init(void*, void*) {
  return entry([] { fail(HGS_INVALID, "the local provider has none: use module_init"); });
}

int hgs_get_device_ctx(void** context) {
  return entry(
      [&] { result_of(context, "context") = has_world() ? &world()->page()->state : nullptr; });
}

int hgs_symbol_bytes(const char* symbol, void* bytes, size_t capacity, size_t* size) {
  return entry([&] {
    if (symbol == nullptr) fail(HGS_INVALID, "symbol is null: pass a name");
    result_of(size, "size") = symbol_bytes(*world(), symbol, bytes, capacity);
  });
}
