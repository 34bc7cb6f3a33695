#include "symmetric_memory.h"

using namespace hipgraph::shmem;

namespace {

[[noreturn]] void refuse_registration() {
  fail(HGS_INVALID, "the local provider registers no buffers, and needs none: ",
       "sources and targets of this PE may lie anywhere");
}

}  // namespace

int hgs_malloc(size_t bytes, void** address) {
  return entry([&] {
    result_of(address, "address") = allocate(*world(), text("hgs_malloc(bytes=", bytes, ")"), bytes,
                                             Heap::kAlignment, Contents::Any);
  });
}

int hgs_align(size_t alignment, size_t bytes, void** address) {
  return entry([&] {
    const std::string label = text("hgs_align(alignment=", alignment, ", bytes=", bytes, ")");
    result_of(address, "address") = allocate(*world(), label, bytes, alignment, Contents::Any);
  });
}

int hgs_calloc(size_t count, size_t bytes, void** address) {
  return entry([&] {
    const std::string label = text("hgs_calloc(count=", count, ", bytes=", bytes, ")");
    std::size_t whole = 0;
    if (__builtin_mul_overflow(count, bytes, &whole)) whole = SIZE_MAX;
    result_of(address, "address") =
        allocate(*world(), label, whole, Heap::kAlignment, Contents::Zero);
  });
}

int hgs_free(void* address) {
  return entry([&] { release(*world(), address); });
}

int hgs_ptr(const void* address, int pe, void** peer) {
  return entry([&] { result_of(peer, "peer") = peer_address(*world(), address, pe); });
}

int hgs_buffer_register(void*, size_t) {
  return entry([] { refuse_registration(); });
}

int hgs_buffer_unregister(void*) {
  return entry([] { refuse_registration(); });
}

int hgs_buffer_unregister_all(void) {
  return entry([] { refuse_registration(); });
}
