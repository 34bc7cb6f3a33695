#include "failure.h"

#include <atomic>
#include <iterator>

namespace hipgraph::shmem {
namespace {

constexpr const char* kComparisons[] = {"==", "!=", ">", ">=", "<", "<="};

const char* comparison_text(hgs_u32 comparison) {
  return comparison < std::size(kComparisons) ? kComparisons[comparison] : "?";
}

hgs_pad read_pad(World& world, hgs_u64 offset) {
  hgs_pad pad;
  world.stream().copy(&pad, world.memory().own() + offset, sizeof pad);
  world.stream().wait();
  return pad;
}

[[noreturn]] void fail_barrier(World& world, const hgs_failure& failure) {
  Team team;
  team.shape = failure.team;
  const hgs_pad pad = read_pad(world, team.shape.pad_offset);
  PeMask missing = 0;
  std::string seen;
  for (int index = 0; index < team.shape.n_pes; ++index) {
    if (!contains(failure.missing, index)) continue;
    missing |= bit(team.world_pe(index));
    seen += text(seen.empty() ? "" : "; ", "PE ", team.world_pe(index), " last came to epoch ",
                 pad.arrived[index]);
  }
  const std::string what =
      text("a barrier on a stream, ", team.name(), ", epoch ", failure.expected, ": ", pes(missing),
           " did not come in time (", seen, ")");
  const PeMask lost = missing & world.bootstrap().lost();
  if (lost != 0) fail(HGS_PEER_LOST, what, "; ", world.bootstrap().lost_text(lost));
  fail(HGS_TIMEOUT, what, "; every PE must run the same barriers the same number of times");
}

}  // namespace

void check_failure(World& world) {
  hgs_failure& record = world.pinned().failure;
  const hgs_u32 operation = std::atomic_ref(record.operation).load(std::memory_order_acquire);
  if (operation == HGS_NOTHING) return;
  const hgs_failure failure = record;
  switch (operation) {
    case HGS_BARRIER: fail_barrier(world, failure);
    case HGS_WAIT_UNTIL:
      fail(HGS_TIMEOUT, "a wait for the word at ", hex(failure.address), " to be ",
           comparison_text(failure.comparison), " ", failure.expected,
           " gave up: nobody signalled in time, it was ", failure.seen);
    case HGS_BAD_PE:
      fail(HGS_INVALID, "a kernel named PE ", static_cast<std::int64_t>(failure.expected),
           ": there are PEs 0 to ", world.n_pes() - 1);
    case HGS_OUTSIDE_HEAP:
      fail(HGS_INVALID, "a kernel passed ", hex(failure.expected),
           ", which is not in the symmetric heap");
    default: fail(HGS_FAILED, "a kernel met failure ", operation, ", which is not known here");
  }
}

}  // namespace hipgraph::shmem
