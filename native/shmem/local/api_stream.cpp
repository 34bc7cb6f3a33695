#include "arguments.h"
#include "stream_operations.h"

using namespace hipgraph::shmem;

namespace {

template <class Body>
int on_stream(void* stream, Body&& body) {
  return entry([&] {
    const WorldPtr here = world();
    StreamOperations operations(*here, stream);
    body(operations);
  });
}

template <class Body>
int on_team_stream(void* team, void* stream, Body&& body) {
  return entry([&] {
    const WorldPtr here = world();
    const TeamPtr found = check_team(*here, team);
    StreamOperations operations(*here, stream);
    body(operations, *found);
  });
}

}  // namespace

int hgs_quiet_on_stream(void* stream) {
  return on_stream(stream, [](StreamOperations& on) { on.quiet(); });
}

int hgs_barrier_all_on_stream(void* stream) {
  return entry([&] {
    const WorldPtr here = world();
    StreamOperations(*here, stream).barrier(*here->team());
  });
}

// The kernel of a barrier costs no more than that of a sync would.
int hgs_sync_all_on_stream(void* stream) { return hgs_barrier_all_on_stream(stream); }

int hgs_barrier_on_stream(void* team, void* stream) {
  return on_team_stream(team, stream,
                        [](StreamOperations& on, const Team& members) { on.barrier(members); });
}

int hgs_team_sync_on_stream(void* team, void* stream) {
  return hgs_barrier_on_stream(team, stream);
}

int hgs_putmem_on_stream(void* target, const void* source, size_t bytes, int pe, void* stream) {
  return on_stream(stream, [&](StreamOperations& on) { on.put(target, source, bytes, pe); });
}

int hgs_getmem_on_stream(void* target, const void* source, size_t bytes, int pe, void* stream) {
  return on_stream(stream, [&](StreamOperations& on) { on.get(target, source, bytes, pe); });
}

int hgs_putmem_signal_on_stream(void* target, const void* source, size_t bytes, uint64_t* signal,
                                uint64_t value, int signal_op, int pe, void* stream) {
  return on_stream(stream, [&](StreamOperations& on) {
    on.put_signal(target, source, bytes, signal, value, signal_op, pe);
  });
}

int hgs_signal_wait_until_on_stream(uint64_t* signal, int comparison, uint64_t value,
                                    void* stream) {
  return on_stream(stream, [&](StreamOperations& on) { on.wait_until(signal, comparison, value); });
}

int hgs_signal_set_on_stream(uint64_t* signal, uint64_t value, int pe, void* stream) {
  return on_stream(stream, [&](StreamOperations& on) { on.signal(signal, value, kSignalSet, pe); });
}

int hgs_signal_add_on_stream(uint64_t* signal, uint64_t value, int pe, void* stream) {
  return on_stream(stream, [&](StreamOperations& on) { on.signal(signal, value, kSignalAdd, pe); });
}

int hgs_alltoallmem_on_stream(void* team, void* target, const void* source, size_t bytes,
                              void* stream) {
  return on_team_stream(team, stream, [&](StreamOperations& on, const Team& members) {
    on.alltoall(members, target, source, bytes);
  });
}

int hgs_broadcastmem_on_stream(void* team, void* target, const void* source, size_t bytes, int root,
                               void* stream) {
  return on_team_stream(team, stream, [&](StreamOperations& on, const Team& members) {
    on.broadcast(members, target, source, bytes, root);
  });
}
