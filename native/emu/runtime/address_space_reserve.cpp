#include <algorithm>
#include <cstring>

#include "runtime/address_space_state.h"

namespace hipgraph::emu {

Block& AddressSpace::State::reserved(std::uint64_t base) { return *blocks.at(base); }

std::optional<Allocation> AddressSpace::reserve(std::size_t bytes, AllocationKind kind,
                                                int device) {
  State& state = *state_;
  const State::Unique lock(state.mutex);
  const std::optional<std::uint64_t> base = state.take(bytes);
  if (!base.has_value()) return std::nullopt;
  Allocation made{*base, bytes, kind, device, 0, 0};
  Block* block = state.add(made);
  block->live.store(false);
  block->reserved = block->untouched = true;
  return made;
}

Allocation AddressSpace::commit(std::uint64_t base, std::size_t bytes) {
  State& state = *state_;
  std::memset(pointer(base), fresh_poison, std::min(bytes, fresh_poison_bytes));
  const State::Unique lock(state.mutex);
  Block& block = state.reserved(base);
  Allocation made = block.allocation;
  made.bytes = bytes;
  const bool again = made.kind == AllocationKind::Pool && !block.untouched;
  if (again) made.number = ++state.last_number;
  block.open(made);
  block.reserved = true;
  state.generation.fetch_add(1);
  return made;
}

void AddressSpace::retire(std::uint64_t base) {
  State& state = *state_;
  const State::Unique lock(state.mutex);
  Block& block = state.reserved(base);
  const std::size_t bytes = block.allocation.bytes;
  const std::size_t kept = std::min(bytes, freed_poison_bytes);
  block.live.store(false);
  state.generation.fetch_add(1);
  std::memset(pointer(base), freed_poison, kept);
  state.arena.discard(base + kept, bytes - kept);
  if (block.noted.load()) state.arena.discard_shadow(base, bytes);
}

bool AddressSpace::charge(int device, std::size_t bytes) {
  const State::Unique lock(state_->mutex);
  std::size_t& used = state_->used.at(static_cast<std::size_t>(device));
  if (bytes > total_bytes(device) - used) return false;
  used += bytes;
  return true;
}

void AddressSpace::refund(int device, std::size_t bytes) {
  const State::Unique lock(state_->mutex);
  state_->used.at(static_cast<std::size_t>(device)) -= bytes;
}

}  // namespace hipgraph::emu
