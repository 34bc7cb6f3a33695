#include "runtime/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace hipgraph::emu {
namespace {

constexpr std::size_t commit_pages = 1024;  // 64 MiB at a time keeps the list of mappings short

std::size_t pages_for(std::size_t bytes) { return (bytes + Arena::page - 1) / Arena::page + 1; }

std::uint64_t reserve(std::size_t bytes, int protection) {
  void* start =
      mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) throw std::bad_alloc();
  return reinterpret_cast<std::uint64_t>(start);
}

}  // namespace

void* reserve_table(std::size_t bytes) { return pointer(reserve(bytes, PROT_READ | PROT_WRITE)); }

Arena::Arena(std::size_t bytes) : pages_((bytes + page - 1) / page) {
  const std::uint64_t start = reserve((pages_ + 1) * page, PROT_NONE);
  base_ = (start + page - 1) / page * page;
  shadow_ = reserve(pages_ * page * shadow_scale, PROT_NONE);
}

bool Arena::commit(std::size_t end_page) {
  if (end_page <= committed_pages_) return true;
  const std::size_t end =
      std::min(pages_, (end_page + commit_pages - 1) / commit_pages * commit_pages);
  const std::uint64_t from = base_ + committed_pages_ * page;
  const std::size_t bytes = (end - committed_pages_) * page;
  constexpr int access = PROT_READ | PROT_WRITE;
  if (mprotect(pointer(from), bytes, access) != 0) return false;
  if (mprotect(pointer(shadow(from)), bytes * shadow_scale, access) != 0) return false;
  committed_pages_ = end;
  return true;
}

std::optional<std::uint64_t> Arena::take(std::size_t bytes) {
  if (bytes > pages_ * page) return std::nullopt;
  const std::size_t count = pages_for(bytes);
  std::size_t start = used_pages_;
  if (const auto fit = by_size_.lower_bound(count); fit != by_size_.end()) {
    const auto [run, from] = *fit;
    by_size_.erase(fit);
    free_.erase(from);
    if (run > count) insert_free(from + count, run - count);
    start = from;
  } else {
    if (count > pages_ - used_pages_ || !commit(used_pages_ + count)) return std::nullopt;
    used_pages_ += count;
  }
  return base_ + start * page;
}

void Arena::insert_free(std::size_t start, std::size_t count) {
  free_.emplace(start, count);
  by_size_.emplace(count, start);
}

void Arena::give_back(std::uint64_t start, std::size_t bytes) {
  std::size_t first = page_of(start);
  std::size_t count = pages_for(bytes);
  const auto forget = [this](std::map<std::size_t, std::size_t>::iterator run) {
    auto [from, to] = by_size_.equal_range(run->second);
    by_size_.erase(std::find_if(from, to, [run](auto& e) { return e.second == run->first; }));
    free_.erase(run);
  };
  auto next = free_.lower_bound(first);
  if (next != free_.end() && next->first == first + count) {
    count += next->second;
    forget(next);
  }
  next = free_.lower_bound(first);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == first) {
      first = before->first;
      count += before->second;
      forget(before);
    }
  }
  insert_free(first, count);
}

void Arena::discard(std::uint64_t start, std::size_t bytes) {
  const std::uint64_t first = (start + system_page - 1) / system_page * system_page;
  const std::uint64_t last = (start + bytes + system_page - 1) / system_page * system_page;
  if (first < last) madvise(pointer(first), last - first, MADV_DONTNEED);
}

void Arena::discard_shadow(std::uint64_t start, std::size_t bytes) {
  const std::uint64_t first = shadow(start) / system_page * system_page;
  const std::uint64_t last = shadow(start + (bytes + 3) / 4 * 4);
  madvise(pointer(first), last - first, MADV_DONTNEED);
}

}  // namespace hipgraph::emu
