#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "bootstrap.h"
#include "collective.h"
#include "heap.h"
#include "hipgraph_shmem/device_state.h"
#include "internal_stream.h"
#include "kernels.h"
#include "peer_memory.h"
#include "team.h"

namespace hipgraph::shmem {

/// What kernels write for the host, in pinned host memory.
struct Pinned {
  hgs_failure failure;
  hgs_u64 result;  ///< of the atomic operation in flight
};

/// What the host writes for kernels, in device memory.
struct DevicePage {
  hgs_device_state state;
  hgs_team teams[kPads];
};

struct HostFree {
  void operator()(void* memory) const { hip().host_free.code(memory); }
};
struct DeviceFree {
  void operator()(void* memory) const { hip().free.code(memory); }
};

using TeamPtr = std::shared_ptr<Team>;

/// All that this PE has between hgs_init and hgs_finalize.
class World {
 public:
  World(int pe, int n_pes, const unsigned char* id, std::size_t heap_bytes,
        std::chrono::milliseconds timeout);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int pe() const { return pe_; }
  int n_pes() const { return n_pes_; }
  const InternalStream& stream() const { return stream_; }
  const Kernels& kernels() const { return *kernels_; }
  const PeerMemory& memory() const { return *memory_; }
  Bootstrap& bootstrap() { return bootstrap_; }
  Pinned& pinned() { return *pinned_; }
  DevicePage* page() const { return page_.get(); }
  const TeamPtr& team() const { return team_; }

  /// A collective call of the whole world.
  Collective collective(std::string label) { return {bootstrap_, *team_, std::move(label)}; }
  /// Leaves together with the other PEs. If one of them is lost, this one leaves anyway, then
  /// throws.
  void leave();

  std::mutex mutex;  ///< of what follows; never held while waiting for another PE
  Heap heap;
  std::map<void*, TeamPtr> teams;  ///< by handle
  std::uint32_t next_serial = 1;
  std::mutex atomic_turn;  ///< one atomic operation of the host at a time

 private:
  void allocate();
  void connect(const std::vector<std::string>& handles);
  hgs_device_state device_state(double seconds) const;

  int pe_, n_pes_;
  std::chrono::milliseconds timeout_;
  Bootstrap bootstrap_;
  InternalStream stream_;
  TeamPtr team_;
  std::unique_ptr<Kernels> kernels_;
  std::unique_ptr<PeerMemory> memory_;
  std::unique_ptr<Pinned, HostFree> pinned_;
  std::unique_ptr<DevicePage, DeviceFree> page_;
};

using WorldPtr = std::shared_ptr<World>;

/// The world of this process; refused before hgs_init and in a forked child.
WorldPtr world();
/// Whether there is one.
bool has_world();
/// Makes it.
void enter_world(int pe, int n_pes, const unsigned char* id, std::size_t heap_bytes,
                 double timeout);
/// Ends it.
void leave_world();

}  // namespace hipgraph::shmem
