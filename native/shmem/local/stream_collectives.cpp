#include <algorithm>
#include <array>

#include "arguments.h"
#include "stream_operations.h"

namespace hipgraph::shmem {
namespace {

constexpr unsigned kReduceThreads = 256;
constexpr unsigned kMostReduceBlocks = 64;
constexpr std::array<std::size_t, kElements> kElementBytes{4, 8, 4, 8, 2};

std::size_t product(std::size_t bytes, int count, const char* name) {
  std::size_t all = 0;
  if (!__builtin_mul_overflow(bytes, static_cast<std::size_t>(count), &all)) return all;
  fail(HGS_INVALID, name, " is ", bytes, ": with ", count, " PEs that is more than any memory");
}

/// A grid that gives every thread of a small reduction work, and keeps large ones from crowding out
/// other PEs on the same device.
unsigned reduce_blocks(std::size_t count) {
  return static_cast<unsigned>(
      std::clamp<std::size_t>(count / kReduceThreads / 4, 1, kMostReduceBlocks));
}

}  // namespace

void StreamOperations::alltoall(const Team& team, void* target, const void* source,
                                std::size_t bytes) {
  const int n_pes = team.shape.n_pes;
  const std::size_t whole = product(bytes, n_pes, "bytes");
  const std::size_t to = check_symmetric(world_, target, whole, "target");
  const std::size_t from = check_symmetric(world_, source, whole, "source");
  check_overlap(to, whole, from, whole, false);
  if (bytes == 0) return;
  barrier(team);
  // Each PE begins with its own block and goes round: they do not all read from the same one.
  for (int step = 0; step < n_pes; ++step) {
    const int peer = (team.shape.my_pe + step) % n_pes;
    const char* theirs = world_.memory().base(team.world_pe(peer)) + from;
    copy(static_cast<char*>(target) + static_cast<std::size_t>(peer) * bytes,
         theirs + static_cast<std::size_t>(team.shape.my_pe) * bytes, bytes);
  }
  barrier(team);
}

void StreamOperations::broadcast(const Team& team, void* target, const void* source,
                                 std::size_t bytes, int root) {
  if (root < 0 || root >= team.shape.n_pes) {
    fail(HGS_INVALID, "root is ", root, ": pass a PE of the team, 0 to ", team.shape.n_pes - 1);
  }
  const std::size_t to = check_symmetric(world_, target, bytes, "target");
  const std::size_t from = check_symmetric(world_, source, bytes, "source");
  check_overlap(to, bytes, from, bytes, true);
  if (bytes == 0) return;
  barrier(team);
  // In place the root has what it wants already, and the others read from it alone.
  copy(target, world_.memory().base(team.world_pe(root)) + from, bytes);
  barrier(team);
}

void StreamOperations::reduce(const Team& team, Reduction reduction, Element element, void* target,
                              const void* source, int count) {
  if (count < 0) fail(HGS_INVALID, "count is ", count, ": pass 0 or more");
  const std::size_t size = kElementBytes[static_cast<std::size_t>(element)];
  const std::size_t bytes = static_cast<std::size_t>(count) * size;
  if (count == 0) return;
  const std::size_t to = check_symmetric(world_, target, bytes, "target");
  const std::size_t from = check_symmetric(world_, source, bytes, "source");
  if (to % size != 0) fail(HGS_INVALID, "target is ", hex(target), ": align it to ", size);
  if (from % size != 0) fail(HGS_INVALID, "source is ", hex(source), ": align it to ", size);
  check_overlap(to, bytes, from, bytes, true);
  barrier(team);
  world_.kernels().launch(reduce_kernel(reduction, element),
                          reduce_blocks(static_cast<std::size_t>(count)), kReduceThreads, stream_,
                          &world_.page()->state, team.on_device, static_cast<hgs_u64>(to),
                          static_cast<hgs_u64>(from), static_cast<hgs_u64>(count));
  barrier(team);
}

}  // namespace hipgraph::shmem
