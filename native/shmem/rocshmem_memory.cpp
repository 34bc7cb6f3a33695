#include "rocshmem_state.h"

namespace {

int allocated(const char* call, void* made, size_t bytes, void** address) {
  *address = made;
  if (made != nullptr || bytes == 0) return HGS_OK;
  return hgs::fail(HGS_NO_MEMORY, "%s: no %zu bytes in the symmetric heap of some PE", call, bytes);
}

[[maybe_unused]] int buffer_status(const char* call, int result) {
  return result == 0 ? HGS_OK : hgs::fail(HGS_FAILED, "%s: refused by rocSHMEM's backend", call);
}

}  // namespace

#if HGS_HAVE_malloc
int hgs_malloc(size_t bytes, void** address) {
  if (int status = hgs::require_running("hgs_malloc")) return status;
  return allocated("hgs_malloc", rocshmem::rocshmem_malloc(bytes), bytes, address);
}
#endif

#if HGS_HAVE_align
int hgs_align(size_t alignment, size_t bytes, void** address) {
  if (int status = hgs::require_running("hgs_align")) return status;
  return allocated("hgs_align", rocshmem::rocshmem_align(alignment, bytes), bytes, address);
}
#endif

#if HGS_HAVE_calloc
int hgs_calloc(size_t count, size_t bytes, void** address) {
  if (int status = hgs::require_running("hgs_calloc")) return status;
  return allocated("hgs_calloc", rocshmem::rocshmem_calloc(count, bytes), count * bytes, address);
}
#endif

#if HGS_HAVE_free
int hgs_free(void* address) {
  return hgs::when_running("hgs_free", [=] { rocshmem::rocshmem_free(address); });
}
#endif

#if HGS_HAVE_ptr
int hgs_ptr(const void* address, int pe, void** peer) {
  return hgs::with_pe("hgs_ptr", pe, [=] {
#if HGS_HAVE_ptr == 1
    *peer = rocshmem::rocshmem_ptr(address, pe);
#else
    *peer = rocshmem::rocshmem_ptr(const_cast<void*>(address), pe);
#endif
  });
}
#endif

#if HGS_HAVE_buffer_register
int hgs_buffer_register(void* address, size_t bytes) {
  if (int status = hgs::require_pointer("hgs_buffer_register", address, "address")) return status;
  return buffer_status("hgs_buffer_register", rocshmem::rocshmem_buffer_register(address, bytes));
}
#endif

#if HGS_HAVE_buffer_unregister
int hgs_buffer_unregister(void* address) {
  if (int status = hgs::require_pointer("hgs_buffer_unregister", address, "address")) return status;
  return buffer_status("hgs_buffer_unregister", rocshmem::rocshmem_buffer_unregister(address));
}
#endif

#if HGS_HAVE_buffer_unregister_all
int hgs_buffer_unregister_all(void) {
  return hgs::when_running("hgs_buffer_unregister_all",
                           [=] { rocshmem::rocshmem_buffer_unregister_all(); });
}
#endif

#if HGS_HAVE_putmem
int hgs_putmem(void* target, const void* source, size_t bytes, int pe) {
  return hgs::with_pe("hgs_putmem", pe, [=] {
    if (bytes != 0) rocshmem::rocshmem_putmem(target, source, bytes, pe);
  });
}
#endif

#if HGS_HAVE_getmem
int hgs_getmem(void* target, const void* source, size_t bytes, int pe) {
  return hgs::with_pe("hgs_getmem", pe, [=] {
    if (bytes != 0) rocshmem::rocshmem_getmem(target, source, bytes, pe);
  });
}
#endif

#if HGS_HAVE_putmem_nbi
int hgs_putmem_nbi(void* target, const void* source, size_t bytes, int pe) {
  return hgs::with_pe("hgs_putmem_nbi", pe, [=] {
    if (bytes != 0) rocshmem::rocshmem_putmem_nbi(target, source, bytes, pe);
  });
}
#endif

#if HGS_HAVE_getmem_nbi
int hgs_getmem_nbi(void* target, const void* source, size_t bytes, int pe) {
  return hgs::with_pe("hgs_getmem_nbi", pe, [=] {
    if (bytes != 0) rocshmem::rocshmem_getmem_nbi(target, source, bytes, pe);
  });
}
#endif
