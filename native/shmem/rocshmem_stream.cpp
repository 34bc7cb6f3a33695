#include "rocshmem_state.h"

// rocSHMEM launches as many threads as there are bytes: a block of none fails. So 0 bytes are no
// launch here.

#if HGS_HAVE_quiet_on_stream
int hgs_quiet_on_stream(void* stream) {
  return hgs::on_stream("hgs_quiet_on_stream", stream,
                        [=](hipStream_t queue) { rocshmem::rocshmem_quiet_on_stream(queue); });
}
#endif

#if HGS_HAVE_barrier_all_on_stream
int hgs_barrier_all_on_stream(void* stream) {
  return hgs::on_stream("hgs_barrier_all_on_stream", stream, [=](hipStream_t queue) {
    rocshmem::rocshmem_barrier_all_on_stream(queue);
  });
}
#endif

#if HGS_HAVE_sync_all_on_stream
int hgs_sync_all_on_stream(void* stream) {
  return hgs::on_stream("hgs_sync_all_on_stream", stream,
                        [=](hipStream_t queue) { rocshmem::rocshmem_sync_all_on_stream(queue); });
}
#endif

#if HGS_HAVE_barrier_on_stream
int hgs_barrier_on_stream(void* team, void* stream) {
  return hgs::on_team_stream("hgs_barrier_on_stream", team, stream, [=](hipStream_t queue) {
    rocshmem::rocshmem_barrier_on_stream(hgs::team_of(team), queue);
  });
}
#endif

#if HGS_HAVE_team_sync_on_stream
int hgs_team_sync_on_stream(void* team, void* stream) {
  return hgs::on_team_stream("hgs_team_sync_on_stream", team, stream, [=](hipStream_t queue) {
    rocshmem::rocshmem_team_sync_on_stream(hgs::team_of(team), queue);
  });
}
#endif

#if HGS_HAVE_putmem_on_stream
int hgs_putmem_on_stream(void* target, const void* source, size_t bytes, int pe, void* stream) {
  return hgs::on_pe_stream("hgs_putmem_on_stream", pe, stream, [=](hipStream_t queue) {
    if (bytes != 0) rocshmem::rocshmem_putmem_on_stream(target, source, bytes, pe, queue);
  });
}
#endif

#if HGS_HAVE_getmem_on_stream
int hgs_getmem_on_stream(void* target, const void* source, size_t bytes, int pe, void* stream) {
  return hgs::on_pe_stream("hgs_getmem_on_stream", pe, stream, [=](hipStream_t queue) {
    if (bytes != 0) rocshmem::rocshmem_getmem_on_stream(target, source, bytes, pe, queue);
  });
}
#endif

#if HGS_HAVE_putmem_signal_on_stream
namespace {

/// The signal of a put of 0 bytes.
int signal_alone(uint64_t* signal, uint64_t value, int signal_op, int pe, void* stream) {
#if HGS_HAVE_signal_set_on_stream && HGS_HAVE_signal_add_on_stream
  return signal_op == rocshmem::ROCSHMEM_SIGNAL_SET
             ? hgs_signal_set_on_stream(signal, value, pe, stream)
             : hgs_signal_add_on_stream(signal, value, pe, stream);
#else
  (void)signal, (void)value, (void)signal_op, (void)pe, (void)stream;
  return hgs::fail(HGS_INVALID,
                   "hgs_putmem_signal_on_stream: 0 bytes: this rocSHMEM cannot signal alone");
#endif
}

}  // namespace

int hgs_putmem_signal_on_stream(void* target, const void* source, size_t bytes, uint64_t* signal,
                                uint64_t value, int signal_op, int pe, void* stream) {
  const char* call = "hgs_putmem_signal_on_stream";
  if (int status = hgs::require_pe(call, pe)) return status;
  if (int status = hgs::require_pointer(call, signal, "signal")) return status;
  if (signal_op != rocshmem::ROCSHMEM_SIGNAL_SET && signal_op != rocshmem::ROCSHMEM_SIGNAL_ADD) {
    return hgs::fail(HGS_INVALID, "%s: signal_op=%d", call, signal_op);
  }
  if (bytes == 0) return signal_alone(signal, value, signal_op, pe, stream);
  return hgs::on_stream(call, stream, [=](hipStream_t queue) {
    rocshmem::rocshmem_putmem_signal_on_stream(target, source, bytes, signal, value, signal_op, pe,
                                               queue);
  });
}
#endif

#if HGS_HAVE_signal_wait_until_on_stream
int hgs_signal_wait_until_on_stream(uint64_t* signal, int comparison, uint64_t value,
                                    void* stream) {
  const char* call = "hgs_signal_wait_until_on_stream";
  if (int status = hgs::require_pointer(call, signal, "signal")) return status;
  if (comparison < rocshmem::ROCSHMEM_CMP_EQ || comparison > rocshmem::ROCSHMEM_CMP_LE) {
    return hgs::fail(HGS_INVALID, "%s: comparison=%d", call, comparison);
  }
  return hgs::on_stream(call, stream, [=](hipStream_t queue) {
    rocshmem::rocshmem_signal_wait_until_on_stream(signal, comparison, value, queue);
  });
}
#endif

#if HGS_HAVE_signal_set_on_stream
int hgs_signal_set_on_stream(uint64_t* signal, uint64_t value, int pe, void* stream) {
  return hgs::on_pe_stream("hgs_signal_set_on_stream", pe, stream, [=](hipStream_t queue) {
    rocshmem::rocshmem_signal_set_on_stream(signal, value, pe, queue);
  });
}
#endif

#if HGS_HAVE_signal_add_on_stream
int hgs_signal_add_on_stream(uint64_t* signal, uint64_t value, int pe, void* stream) {
  return hgs::on_pe_stream("hgs_signal_add_on_stream", pe, stream, [=](hipStream_t queue) {
    rocshmem::rocshmem_signal_add_on_stream(signal, value, pe, queue);
  });
}
#endif

#if HGS_HAVE_alltoallmem_on_stream
int hgs_alltoallmem_on_stream(void* team, void* target, const void* source, size_t bytes,
                              void* stream) {
  return hgs::on_team_stream("hgs_alltoallmem_on_stream", team, stream, [=](hipStream_t queue) {
    if (bytes != 0)
      rocshmem::rocshmem_alltoallmem_on_stream(hgs::team_of(team), target, source, bytes, queue);
  });
}
#endif

#if HGS_HAVE_broadcastmem_on_stream
int hgs_broadcastmem_on_stream(void* team, void* target, const void* source, size_t bytes, int root,
                               void* stream) {
  return hgs::on_team_stream("hgs_broadcastmem_on_stream", team, stream, [=](hipStream_t queue) {
    if (bytes == 0) return;
    rocshmem::rocshmem_broadcastmem_on_stream(hgs::team_of(team), target, source, bytes, root,
                                              queue);
  });
}
#endif
