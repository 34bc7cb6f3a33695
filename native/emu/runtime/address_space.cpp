#include "runtime/address_space.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "runtime/address_space_state.h"

namespace hipgraph::emu {
namespace {

constexpr std::size_t quarantine_blocks = 1024;
constexpr std::size_t quarantine_bytes = std::size_t{64} << 20;
constexpr std::size_t small_copy = 4096;

bool on_device(AllocationKind kind) {
  return kind == AllocationKind::Device || kind == AllocationKind::Managed ||
         kind == AllocationKind::ManagedVariable || kind == AllocationKind::Code;
}

bool numbered(AllocationKind kind) {
  return kind != AllocationKind::Code && kind != AllocationKind::Kernarg;
}

}  // namespace

Block* AddressSpace::State::block_around(std::uint64_t address) const {
  Block* block = table_block(address);
  if (block == nullptr) {
    auto next = blocks.upper_bound(address);
    if (next == blocks.begin()) return nullptr;
    block = std::prev(next)->second;
  }
  return block->holds(address) ? block : nullptr;
}

Block* AddressSpace::State::live_block(std::uint64_t address) const {
  Block* block = block_around(address);
  return block != nullptr && block->live.load(std::memory_order_acquire) ? block : nullptr;
}

Block* AddressSpace::State::known_block(std::uint64_t address) const {
  Block* block = block_around(address);
  if (block == nullptr) return nullptr;
  const bool named = block->reserved && block->allocation.kind == AllocationKind::Graph;
  return named || block->live.load(std::memory_order_acquire) ? block : nullptr;
}

Block* AddressSpace::State::fresh_record() {
  if (spare.empty()) return &records.emplace_back();
  Block* block = spare.back();
  spare.pop_back();
  return block;
}

void AddressSpace::State::fill_table(const Block& block, Block* value) {
  const std::size_t first = arena.page_of(block.allocation.base);
  const std::size_t last = arena.page_of(block.allocation.base + block.allocation.bytes - 1);
  for (std::size_t i = first; i <= last; ++i) table[i].store(value, std::memory_order_release);
}

std::optional<std::uint64_t> AddressSpace::State::take(std::size_t bytes) {
  std::optional<std::uint64_t> base = arena.take(bytes);
  while (!base.has_value() && !quarantine.empty()) {
    evict_oldest();
    base = arena.take(bytes);
  }
  return base;
}

/// Makes `made`, whose base was taken, a live allocation with a number.
Block* AddressSpace::State::add(Allocation& made) {
  if (numbered(made.kind)) made.number = ++last_number;
  Block* block = fresh_record();
  block->open(made);
  fill_table(*block, block);
  blocks.emplace(made.base, block);
  return block;
}

void AddressSpace::State::forget(Block* block) {
  fill_table(*block, nullptr);
  arena.give_back(block->allocation.base, block->allocation.bytes);
  blocks.erase(block->allocation.base);
  spare.push_back(block);
}

void AddressSpace::State::evict_oldest() {
  Block* block = quarantine.front();
  quarantine.pop_front();
  const std::size_t kept = std::min(block->allocation.bytes, freed_poison_bytes);
  quarantined -= kept;
  arena.discard(block->allocation.base, kept);
  forget(block);
}

void AddressSpace::State::enter_quarantine(Block* block) {
  const Allocation& a = block->allocation;
  const std::size_t kept = std::min(a.bytes, freed_poison_bytes);
  // Others keep the bytes that they share; only this process's view of them ends.
  if (block->shared.load()) arena.unmap_file(a.base, a.bytes);
  if (block->file >= 0) close(block->file);
  std::memset(pointer(a.base), freed_poison, kept);
  arena.discard(a.base + kept, a.bytes - kept);
  if (block->noted.load()) arena.discard_shadow(a.base, a.bytes);
  quarantine.push_back(block);
  quarantined += kept;
  while (quarantine.size() > quarantine_blocks || quarantined > quarantine_bytes) evict_oldest();
}

void AddressSpace::State::note(Block& block, std::uint64_t address, std::size_t bytes,
                               const Writer& writer) {
  const std::uint64_t first = address & ~std::uint64_t{3};
  if (!arena.holds(address)) {
    const Unique lock(mutex);
    for (std::uint64_t at = first; at < address + bytes; at += 4) adopted_notes[at].take(writer);
    return;
  }
  if (!block.noted.load(std::memory_order_relaxed)) block.noted.store(true);
  auto* notes = static_cast<WriterNote*>(pointer(arena.shadow(first)));
  const std::size_t count = (address + bytes - first + 3) / 4;
  for (std::size_t i = 0; i < count; ++i) notes[i].take(writer);
}

AddressSpace& AddressSpace::instance() {
  static AddressSpace& space = *new AddressSpace();
  return space;
}

AddressSpace::AddressSpace() : state_(std::make_unique<State>(DeviceModel::instance())) {}

std::optional<Allocation> AddressSpace::allocate(std::size_t bytes, AllocationKind kind, int device,
                                                 unsigned flags) {
  State& state = *state_;
  Allocation made{
      .base = 0, .bytes = bytes, .kind = kind, .device = device, .number = 0, .flags = flags};
  {
    const State::Unique lock(state.mutex);
    std::size_t& used = state.used.at(static_cast<std::size_t>(device));
    const std::size_t charge = on_device(kind) ? whole_pages(bytes) : 0;
    if (bytes == 0 || charge > total_bytes(device) - used) return std::nullopt;
    const std::optional<std::uint64_t> base = state.take(bytes);
    if (!base.has_value()) return std::nullopt;
    used += charge;
    made.base = *base;
    state.add(made);
  }
  if (numbered(kind)) {
    std::memset(pointer(made.base), fresh_poison, std::min(bytes, fresh_poison_bytes));
  }
  return made;
}

std::optional<Allocation> AddressSpace::import(int file, std::size_t bytes, int device) {
  State& state = *state_;
  const State::Unique lock(state.mutex);
  const std::optional<std::uint64_t> base = state.take(bytes);
  if (!base.has_value()) return std::nullopt;
  if (!state.arena.map_file(*base, bytes, file)) {
    state.arena.give_back(*base, bytes);
    return std::nullopt;
  }
  Allocation made{*base, bytes, AllocationKind::Imported, device, 0, 0};
  state.add(made);
  state.shares.store(true);
  return made;
}

int AddressSpace::share(std::uint64_t base) {
  State& state = *state_;
  const State::Unique lock(state.mutex);
  const auto found = state.blocks.find(base);
  if (found == state.blocks.end() || !found->second->live.load()) return -1;
  Block& block = *found->second;
  if (block.allocation.kind != AllocationKind::Device) return -1;
  if (block.file < 0) block.file = state.arena.move_to_file(base, block.allocation.bytes);
  if (block.file < 0) return -1;
  block.shared.store(true);
  state.shares.store(true);
  state.generation.fetch_add(1);  // waves must look at the range anew to know
  return block.file;
}

bool AddressSpace::shares() const { return state_->shares.load(std::memory_order_relaxed); }

bool AddressSpace::adopt(void* host, std::size_t bytes, AllocationKind kind, int device,
                         unsigned flags) {
  State& state = *state_;
  const auto base = reinterpret_cast<std::uint64_t>(host);
  const State::Unique lock(state.mutex);
  const auto next = state.blocks.lower_bound(base);
  if (bytes == 0 || state.arena.holds(base) || state.arena.holds(base + bytes - 1)) return false;
  if (next != state.blocks.end() && next->first < base + bytes) return false;
  if (state.live_block(base) != nullptr) return false;
  Block* block = state.fresh_record();
  block->open({base, bytes, kind, device, ++state.last_number, flags});
  state.blocks.emplace(base, block);
  ++state.adopted;
  return true;
}

bool AddressSpace::release(std::uint64_t base) {
  State& state = *state_;
  const State::Unique lock(state.mutex);
  const auto found = state.blocks.find(base);
  if (found == state.blocks.end()) return false;
  Block* block = found->second;
  if (!block->live.load() && !block->reserved) return false;
  const Allocation& a = block->allocation;
  block->live.store(false);
  block->reserved = false;
  state.generation.fetch_add(1);
  if (on_device(a.kind)) state.used[static_cast<std::size_t>(a.device)] -= whole_pages(a.bytes);
  if (!state.arena.holds(base)) {
    auto& notes = state.adopted_notes;
    notes.erase(notes.lower_bound(base & ~std::uint64_t{3}), notes.lower_bound(base + a.bytes));
    --state.adopted;
    state.blocks.erase(found);
    state.spare.push_back(block);
  } else if (a.kind == AllocationKind::Kernarg) {
    state.forget(block);  // one a launch: no program frees it too early, so no quarantine
  } else {
    state.enter_quarantine(block);
  }
  return true;
}

std::optional<Allocation> AddressSpace::lookup(std::uint64_t address) const {
  const State::Shared lock(state_->mutex);
  const Block* block = state_->known_block(address);
  return block == nullptr ? std::nullopt : std::optional(block->allocation);
}

std::vector<Allocation> AddressSpace::live(int device) const {
  const State::Shared lock(state_->mutex);
  std::vector<Allocation> found;
  for (const auto& [base, block] : state_->blocks) {
    const bool own = block->live.load() && block->allocation.device == device;
    if (own) found.push_back(block->allocation);
  }
  return found;
}

std::size_t AddressSpace::used_bytes(int device) const {
  const State::Shared lock(state_->mutex);
  return state_->used.at(static_cast<std::size_t>(device));
}

std::size_t AddressSpace::total_bytes(int /*device*/) const {
  return DeviceModel::instance().memory_bytes;
}

Range AddressSpace::find(std::uint64_t address) const {
  const State& state = *state_;
  if (const Block* block = state.table_block(address); block != nullptr) {
    if (!block->live.load(std::memory_order_acquire) || !block->holds(address)) return {};
    return block->piece(address);
  }
  if (state.adopted.load(std::memory_order_relaxed) == 0) return {};
  const State::Shared lock(state.mutex);
  const Block* block = state.live_block(address);
  return block == nullptr ? Range{} : block->piece(address);
}

std::uint64_t AddressSpace::generation() const {
  return state_->generation.load(std::memory_order_acquire);
}

void AddressSpace::note_write(std::uint64_t address, std::uint32_t bytes, const Writer& writer) {
  State& state = *state_;
  Block* block = state.table_block(address);
  if (block == nullptr && state.adopted.load() != 0) {
    const State::Shared lock(state.mutex);
    block = state.live_block(address);
  }
  if (block != nullptr) state.note(*block, address, bytes, writer);
}

bool AddressSpace::may_copy(std::uint64_t address, std::size_t bytes) const {
  const State& state = *state_;
  if (bytes == 0 || !state.arena.holds(address)) return true;
  const State::Shared lock(state.mutex);
  const Block* block = state.live_block(address);
  return block != nullptr && bytes <= block->end.load() - address;
}

void AddressSpace::note_host_write(std::uint64_t address, std::size_t bytes) {
  State& state = *state_;
  Block* block = nullptr;
  {
    const State::Unique lock(state.mutex);
    block = state.live_block(address);
    if (block == nullptr || bytes == 0) return;
    const bool first = block->host_begin == block->host_end;
    block->host_begin = first ? address : std::min(block->host_begin, address);
    block->host_end = first ? address + bytes : std::max(block->host_end, address + bytes);
    bytes = std::min<std::size_t>(bytes, block->end.load() - address);
  }
  // Many bytes are noted only where older notes would otherwise name the wrong writer.
  if (bytes <= small_copy || block->noted.load()) state.note(*block, address, bytes, Writer{});
}

bool AddressSpace::host_written(std::uint64_t address) const {
  const State::Shared lock(state_->mutex);
  const Block* block = state_->live_block(address);
  return block != nullptr && address >= block->host_begin && address < block->host_end;
}

const WriterNote* AddressSpace::State::note_on(std::uint64_t address) const {
  const std::uint64_t dword = address & ~std::uint64_t{3};
  if (live_block(address) == nullptr) return nullptr;
  if (arena.holds(dword)) return static_cast<const WriterNote*>(pointer(arena.shadow(dword)));
  const auto note = adopted_notes.find(dword);
  return note == adopted_notes.end() ? nullptr : &note->second;
}

std::optional<Writer> AddressSpace::last_writer(std::uint64_t address) const {
  const State::Shared lock(state_->mutex);
  const WriterNote* note = state_->note_on(address);
  return note == nullptr ? std::nullopt : note->writer();
}

std::optional<std::uint64_t> AddressSpace::launch_before(std::uint64_t address) const {
  const State::Shared lock(state_->mutex);
  const WriterNote* note = state_->note_on(address);
  if (note == nullptr || note->before == 0) return std::nullopt;
  return note->before - 1;
}

void AddressSpace::set_writable(std::uint64_t base, std::uint64_t begin, std::uint64_t end) {
  const State::Unique lock(state_->mutex);
  Block* block = state_->blocks.at(base);
  block->writable_begin.store(begin);
  block->writable_end.store(end);
}

std::uint64_t AddressSpace::guard(const char* label) {
  State& state = *state_;
  const State::Unique lock(state.mutex);
  for (const auto& [base, block] : state.blocks) {
    if (block->label != nullptr && std::strcmp(block->label, label) == 0) return base;
  }
  const std::uint64_t base = state.take(Arena::page).value();
  Block* block = state.fresh_record();
  block->open({base, Arena::page, AllocationKind::Device, 0, 0, 0});
  block->live.store(false);
  block->label = label;
  state.fill_table(*block, block);
  state.blocks.emplace(base, block);
  return base;
}

std::string AddressSpace::describe(std::uint64_t address, std::uint64_t bytes) const {
  const State& state = *state_;
  const State::Shared lock(state.mutex);
  if (const Block* block = state.table_block(address); block != nullptr && block->holds(address)) {
    return place_in(*block, address, bytes);
  }
  if (address < system_page) return hex(address) + " is a null pointer plus an offset";
  const auto next = state.blocks.upper_bound(address);
  const Block* after = next == state.blocks.end() ? nullptr : next->second;
  const Block* before = next == state.blocks.begin() ? nullptr : std::prev(next)->second;
  return place_between(before, after, address, bytes);
}

}  // namespace hipgraph::emu
