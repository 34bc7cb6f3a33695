#pragma once
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "runtime/address_space.h"
#include "runtime/arena.h"
#include "runtime/block.h"
#include "runtime/device_model.h"
#include "runtime/writer_note.h"

namespace hipgraph::emu {

constexpr std::size_t host_memory_reserve = std::size_t{64} << 30;
/// What fresh memory holds, and at most how much of an allocation is filled with it: a huge one
/// shall cost no memory.
constexpr int fresh_poison = 0xBE;
constexpr std::size_t fresh_poison_bytes = std::size_t{256} << 20;
/// The same for memory that was freed.
constexpr int freed_poison = 0xDE;
constexpr std::size_t freed_poison_bytes = std::size_t{1} << 20;

struct AddressSpace::State {
  using Table = std::atomic<Block*>;
  using Unique = std::unique_lock<std::shared_mutex>;
  using Shared = std::shared_lock<std::shared_mutex>;

  explicit State(const DeviceModel& model)
      : arena(2 * model.memory_bytes * static_cast<std::size_t>(model.devices) +
              host_memory_reserve),
        table(static_cast<Table*>(reserve_table(arena.pages() * sizeof(Table)))),
        used(static_cast<std::size_t>(model.devices), 0) {}

  mutable std::shared_mutex mutex;
  Arena arena;
  Table* table;                            ///< block of each arena page, quarantined ones too
  std::map<std::uint64_t, Block*> blocks;  ///< by base: live, quarantined and guards
  std::deque<Block*> quarantine;
  std::size_t quarantined = 0;  ///< bytes of them that still hold poison
  std::deque<Block> records;
  std::vector<Block*> spare;
  std::vector<std::size_t> used;
  std::uint64_t last_number = 0;
  std::atomic<std::uint64_t> generation{1};
  std::atomic<std::size_t> adopted{0};
  std::atomic<bool> shares{false};
  std::map<std::uint64_t, WriterNote> adopted_notes;  ///< by dword address

  Block* table_block(std::uint64_t address) const {
    if (!arena.holds(address)) return nullptr;
    return table[arena.page_of(address)].load(std::memory_order_acquire);
  }
  /// The live block that holds `address`, guards excepted.
  Block* live_block(std::uint64_t address) const;
  /// The same, or a graph's allocation that no memory is behind now: callers may name it.
  Block* known_block(std::uint64_t address) const;
  Block* block_around(std::uint64_t address) const;
  Block* fresh_record();
  void fill_table(const Block& block, Block* value);
  std::optional<std::uint64_t> take(std::size_t bytes);
  /// The reserved allocation that starts at `base`.
  Block& reserved(std::uint64_t base);
  Block* add(Allocation& made);
  void forget(Block* block);
  void evict_oldest();
  void enter_quarantine(Block* block);
  /// The note on the dword at `address`, or null when there is none.
  const WriterNote* note_on(std::uint64_t address) const;
  void note(Block& block, std::uint64_t address, std::size_t bytes, const Writer& writer);
};

}  // namespace hipgraph::emu
