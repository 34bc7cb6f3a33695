#include "runtime/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
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

constexpr int writable = PROT_READ | PROT_WRITE;

/// Which pages of this process hold anything. Asked for ascending pages.
class TouchedPages {
 public:
  TouchedPages() : file_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  ~TouchedPages() {
    if (file_ >= 0) close(file_);
  }
  TouchedPages(const TouchedPages&) = delete;
  TouchedPages& operator=(const TouchedPages&) = delete;

  /// Whether the page at `address` is in memory or swapped out; true where the system does not say.
  bool hold(const std::byte* address) {
    const std::uint64_t page = reinterpret_cast<std::uint64_t>(address) / system_page;
    if (page - first_ >= count_) read_from(page);
    return count_ == 0 || entries_[page - first_] >> present_or_swapped != 0;
  }

 private:
  static constexpr unsigned present_or_swapped = 62;

  void read_from(std::uint64_t page) {
    constexpr std::size_t entry = sizeof(std::uint64_t);
    const ssize_t got =
        pread(file_, entries_.data(), sizeof entries_, static_cast<off_t>(page * entry));
    first_ = page;
    count_ = got > 0 ? static_cast<std::uint64_t>(got) / entry : 0;
  }

  int file_;
  std::uint64_t first_ = 0, count_ = 0;
  std::array<std::uint64_t, 512> entries_{};
};

/// Copies what is not zero, so that pages nobody touched take no memory and no time.
void copy_pages(std::byte* to, const std::byte* from, std::size_t bytes) {
  static constexpr std::array<std::byte, system_page> zeros{};
  TouchedPages touched;
  for (std::size_t at = 0; at < bytes; at += system_page) {
    if (!touched.hold(from + at)) continue;
    if (std::memcmp(from + at, zeros.data(), system_page) == 0) continue;
    std::memcpy(to + at, from + at, system_page);
  }
}

}  // namespace

void* reserve_table(std::size_t bytes) { return pointer(reserve(bytes, writable)); }

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
  if (mprotect(pointer(from), bytes, writable) != 0) return false;
  if (mprotect(pointer(shadow(from)), bytes * shadow_scale, writable) != 0) return false;
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

int Arena::move_to_file(std::uint64_t start, std::size_t bytes) {
  const std::size_t size = whole_pages(bytes);
  const int file = memfd_create("hip device memory", MFD_CLOEXEC);
  if (file < 0) return -1;
  void* moved = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(size)) == 0) {
    moved = mmap(nullptr, size, writable, MAP_SHARED | MAP_NORESERVE, file, 0);
  }
  if (moved == MAP_FAILED) {
    close(file);
    return -1;
  }
  copy_pages(static_cast<std::byte*>(moved), static_cast<const std::byte*>(pointer(start)), size);
  if (mremap(moved, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, pointer(start)) != MAP_FAILED) {
    return file;
  }
  munmap(moved, size);
  close(file);
  return -1;
}

bool Arena::map_file(std::uint64_t start, std::size_t bytes, int file) {
  constexpr int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
  return mmap(pointer(start), whole_pages(bytes), writable, flags, file, 0) != MAP_FAILED;
}

void Arena::unmap_file(std::uint64_t start, std::size_t bytes) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  void* fresh = mmap(pointer(start), whole_pages(bytes), writable, flags, -1, 0);
  if (fresh == MAP_FAILED) throw std::bad_alloc();  // the caller must not write what others see
}

void Arena::discard_shadow(std::uint64_t start, std::size_t bytes) {
  const std::uint64_t first = shadow(start) / system_page * system_page;
  const std::uint64_t last = shadow(start + (bytes + 3) / 4 * 4);
  madvise(pointer(first), last - first, MADV_DONTNEED);
}

}  // namespace hipgraph::emu
