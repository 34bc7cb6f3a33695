#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace hipgraph::emu {

/// How a wave touches memory; reports name it.
enum class Access : std::uint8_t { Load, Store, Atomic, ScalarLoad, ScalarStore, ScalarAtomic };

/// A live piece of memory that kernels may touch: [begin, end).
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool writable = false;
  bool shared = false;  ///< other processes may write it too
  bool holds(std::uint64_t address, std::uint64_t bytes) const {
    return address >= begin && address <= end && bytes <= end - address;
  }
};

/// Who wrote: kept per dword for synchronising writes, so that a hang report can name the writer.
struct Writer {
  std::uint64_t launch = 0;     ///< launch number of the kernel; 0: the host or a copy
  std::uint32_t workgroup = 0;  ///< linear workgroup id
  std::uint32_t wave = 0;
  std::uint64_t pc = 0;
};

/// How bytes are touched, where it matters who else touches them. Loads and stores that go around
/// the caches, as those of atomic objects do, count as atomic.
enum class Touch : std::uint8_t { Read, Write, AtomicRead, AtomicWrite };
constexpr std::size_t touch_kinds = 4;

/// Hears of everything that one launch touches.
class TouchListener {
 public:
  virtual ~TouchListener() = default;
  /// The launch touches these bytes now.
  virtual void touch(std::uint64_t address, std::uint64_t bytes, Touch how) = 0;
};

/// The device's view of memory. A device address is the host address of the same bytes, so an
/// access needs only the proof that it lies inside one live allocation; no translation.
class Memory {
 public:
  virtual ~Memory() = default;
  /// The live allocation that holds `address`; an empty range when there is none.
  virtual Range find(std::uint64_t address) const = 0;
  /// Changes whenever a range found earlier may have died.
  virtual std::uint64_t generation() const = 0;
  /// A sentence for a fault at `address`: nearest allocation, offset, whether it was freed.
  virtual std::string describe(std::uint64_t address, std::uint64_t bytes) const = 0;
  /// Notes who wrote these bytes (scalar stores, atomics, device- and system-scope stores).
  virtual void note_write(std::uint64_t address, std::uint32_t bytes, const Writer& writer) = 0;
};

}  // namespace hipgraph::emu
