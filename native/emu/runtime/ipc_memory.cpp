#include "runtime/ipc_memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "entry.h"
#include "runtime/address_space.h"
#include "runtime/arena.h"
#include "runtime/executor.h"
#include "runtime/stream.h"

namespace hipgraph::emu {
namespace {

using abi::require;

/// A file of this machine, whatever its name.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// What a handle holds. The identity tells a descriptor that the exporter used again, or another
/// process with its number, from the exported file.
struct HandleFields {
  std::uint64_t magic = 0;
  std::uint64_t bytes = 0;   ///< of the allocation
  std::uint64_t offset = 0;  ///< of the exported pointer in it
  FileIdentity file;
  std::int32_t process = 0;
  std::int32_t descriptor = -1;
  std::uint64_t number = 0;  ///< of the allocation: handles of different ones differ
  std::uint64_t unused = 0;
};
static_assert(sizeof(HandleFields) == sizeof(hipIpcMemHandle_t) &&
              sizeof(HandleFields) == sizeof(hipIpcEventHandle_t));

constexpr std::uint64_t memory_magic = 0x314d454d43504948;  // "HIPCMEM1"
constexpr std::uint64_t event_magic = 0x3154564543504948;   // "HIPCEVT1"

/// A mapping of another process's allocation.
struct Import {
  FileIdentity file;
  int device = 0;
  std::uint64_t uses = 0;
};

struct Imports {
  std::mutex mutex;
  std::map<std::uint64_t, Import> by_base;

  static Imports& instance() {
    static Imports& imports = *new Imports();
    return imports;
  }
};

struct OpenFile {
  explicit OpenFile(const std::string& path)
      : descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenFile() {
    if (descriptor >= 0) close(descriptor);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int descriptor;
};

struct stat facts_of(int descriptor) {
  struct stat facts{};
  require(descriptor >= 0 && fstat(descriptor, &facts) == 0, hipErrorInvalidDevicePointer);
  return facts;
}

FileIdentity identity_of(const struct stat& facts) { return {facts.st_dev, facts.st_ino}; }

struct Sharing {
  std::uint64_t base = 0;
  int descriptor = -1;
};

void share_now(void* sharing) {
  auto& wanted = *static_cast<Sharing*>(sharing);
  wanted.descriptor = AddressSpace::instance().share(wanted.base);
}

/// Puts an allocation into a file. Kernels and copies run on the executor's thread, so done there
/// it is one moment to them.
int share(std::uint64_t base) {
  const auto sharing = std::make_shared<Sharing>();
  sharing->base = base;
  const CommandPtr command = make_action(share_now, sharing);
  Executor::instance().submit(command, {});
  Executor::instance().wait(command);
  return sharing->descriptor;
}

/// Maps the file that the handle names; throws when the exporter, or the allocation, is no more.
std::uint64_t map_handle(const HandleFields& handle, int device) {
  const OpenFile file("/proc/" + std::to_string(handle.process) + "/fd/" +
                      std::to_string(handle.descriptor));
  const struct stat facts = facts_of(file.descriptor);
  const bool same = identity_of(facts) == handle.file &&
                    static_cast<std::uint64_t>(facts.st_size) == whole_pages(handle.bytes);
  require(same, hipErrorInvalidDevicePointer);
  const std::optional<Allocation> made =
      AddressSpace::instance().import(file.descriptor, handle.bytes, device);
  require(made.has_value(), hipErrorInvalidDevicePointer);
  return made->base;
}

HandleFields export_as(std::uint64_t magic, std::uint64_t address) {
  const std::optional<Allocation> allocation = AddressSpace::instance().lookup(address);
  require(allocation && allocation->kind == AllocationKind::Device, hipErrorInvalidValue);
  HandleFields fields;
  fields.magic = magic;
  fields.bytes = allocation->bytes;
  fields.offset = address - allocation->base;
  fields.process = getpid();
  fields.descriptor = share(allocation->base);
  fields.number = allocation->number;
  require(fields.descriptor >= 0, hipErrorInvalidValue);
  fields.file = identity_of(facts_of(fields.descriptor));
  return fields;
}

std::uint64_t import_as(std::uint64_t magic, const HandleFields& fields, int device) {
  require(fields.bytes != 0, hipErrorInvalidValue);
  require(fields.process != getpid(), hipErrorInvalidContext);
  const bool plausible = fields.magic == magic && fields.offset < fields.bytes;
  require(plausible, hipErrorInvalidDevicePointer);
  Imports& imports = Imports::instance();
  const std::lock_guard lock(imports.mutex);
  for (auto& [base, import] : imports.by_base) {
    if (import.file != fields.file || import.device != device) continue;
    ++import.uses;
    return base + fields.offset;
  }
  const std::uint64_t base = map_handle(fields, device);
  imports.by_base.emplace(base, Import{fields.file, device, 1});
  return base + fields.offset;
}

/// Ends one use of the mapping that starts at `base`; false when there is none.
bool end_use(std::uint64_t base) {
  Imports& imports = Imports::instance();
  const std::lock_guard lock(imports.mutex);
  const auto found = imports.by_base.find(base);
  if (found == imports.by_base.end()) return false;
  if (--found->second.uses != 0) return true;
  imports.by_base.erase(found);
  AddressSpace::instance().release(base);
  return true;
}

}  // namespace

hipIpcMemHandle_t export_memory(std::uint64_t address) {
  return std::bit_cast<hipIpcMemHandle_t>(export_as(memory_magic, address));
}

std::uint64_t import_memory(const hipIpcMemHandle_t& handle, int device) {
  return import_as(memory_magic, std::bit_cast<HandleFields>(handle), device);
}

hipIpcEventHandle_t export_event_memory(std::uint64_t base) {
  return std::bit_cast<hipIpcEventHandle_t>(export_as(event_magic, base));
}

std::uint64_t import_event_memory(const hipIpcEventHandle_t& handle, int device) {
  try {
    return import_as(event_magic, std::bit_cast<HandleFields>(handle), device);
  } catch (const abi::Failure& failure) {
    const bool unreadable = failure.code == hipErrorInvalidDevicePointer;
    throw abi::Failure{unreadable ? hipErrorInvalidValue : failure.code};
  }
}

void release_event_memory(std::uint64_t base) { end_use(base); }

void close_import(std::uint64_t address) {
  const std::optional<Allocation> allocation = AddressSpace::instance().lookup(address);
  require(allocation && allocation->kind == AllocationKind::Imported, hipErrorInvalidValue);
  wait_for_device(allocation->device);
  require(end_use(allocation->base), hipErrorInvalidValue);
}

}  // namespace hipgraph::emu
