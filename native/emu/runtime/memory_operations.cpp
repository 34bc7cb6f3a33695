#include "runtime/memory_operations.h"

#include <cstring>
#include <sstream>

#include "entry.h"
#include "runtime/address_space.h"
#include "runtime/executor.h"
#include "runtime/json.h"
#include "runtime/report.h"
#include "runtime/status.h"

namespace hipgraph::emu {
namespace {

std::uint64_t address_of(const MemoryOperation& operation) {
  return reinterpret_cast<std::uint64_t>(operation.address);
}

std::uint64_t read_operand(const MemoryOperation& operation) {
  if (operation.bytes == sizeof(std::uint32_t)) {
    return __atomic_load_n(static_cast<const std::uint32_t*>(operation.address), __ATOMIC_ACQUIRE);
  }
  return __atomic_load_n(static_cast<const std::uint64_t*>(operation.address), __ATOMIC_ACQUIRE);
}

void write_operand(const MemoryOperation& operation) {
  std::memcpy(operation.address, &operation.value, operation.bytes);
  AddressSpace::instance().note_host_write(address_of(operation), operation.bytes);
}

/// Whether the value in memory, as far as the mask shows it, passes.
bool passes(const MemoryOperation& operation) {
  const std::uint64_t now = read_operand(operation) & operation.mask;
  switch (operation.kind) {
    case MemoryOperationKind::WaitGreaterEqual: return now >= operation.value;
    case MemoryOperationKind::WaitEqual: return now == operation.value;
    case MemoryOperationKind::WaitAnd: return (now & operation.value) != 0;
    case MemoryOperationKind::WaitNor: return (~(now | operation.value) & operation.mask) != 0;
    case MemoryOperationKind::Write: return true;
  }
  __builtin_unreachable();  // the enumeration has no other member
}

class MemoryOperations final : public Command,
                               public std::enable_shared_from_this<MemoryOperations> {
 public:
  explicit MemoryOperations(const MemoryWork& work) : work_(work) {}

  Progress start() override;
  std::string what() const override { return "memory operations"; }

  /// Goes on until an operation waits; whether all are done or one failed.
  bool advance() {
    for (; next_ < work_.operations.size(); ++next_) {
      const MemoryOperation& operation = work_.operations[next_];
      if (!AddressSpace::instance().lookup(address_of(operation))) {
        failure_code = status::illegal_address;
        return true;
      }
      const bool writes = operation.kind == MemoryOperationKind::Write;
      if (writes) write_operand(operation);
      if (!passes(operation)) return false;
      const Touch how = writes ? Touch::AtomicWrite : Touch::AtomicRead;
      touch(operation.address, operation.bytes, how);
    }
    return true;
  }

  const MemoryOperation& waiting() const { return work_.operations[next_]; }

  Status failure_code = status::success;

 private:
  MemoryWork work_;
  std::size_t next_ = 0;
};

std::vector<std::shared_ptr<MemoryOperations>>& waits() {
  static auto& all = *new std::vector<std::shared_ptr<MemoryOperations>>;
  return all;
}

Progress MemoryOperations::start() {
  if (!advance()) {
    waits().push_back(shared_from_this());
    return Progress::Running;
  }
  status_ = failure_code;
  return Progress::Complete;
}

}  // namespace

void check_memory_operation(const MemoryOperation& operation) {
  abi::require(operation.address != nullptr, hipErrorInvalidValue);
  const std::uint64_t address = address_of(operation);
  const auto memory = AddressSpace::instance().lookup(address);
  const bool inside = memory && address % operation.bytes == 0 &&
                      operation.bytes <= memory->base + memory->bytes - address;
  abi::require(inside, hipErrorInvalidValue);
}

CommandPtr make_memory_operations(const MemoryWork& work) {
  return std::make_shared<MemoryOperations>(work);
}

ValueWaits& ValueWaits::instance() {
  static ValueWaits waits;
  return waits;
}

bool ValueWaits::poll() {
  std::erase_if(waits(), [](const std::shared_ptr<MemoryOperations>& wait) {
    if (!wait->advance()) return false;
    Executor::instance().finish(wait, wait->failure_code);
    return true;
  });
  return !waits().empty();
}

bool ValueWaits::awaits_host_memory() const {
  for (const auto& wait : waits()) {
    const auto memory = AddressSpace::instance().lookup(address_of(wait->waiting()));
    if (memory && memory->kind != AllocationKind::Device) return true;
  }
  return false;
}

void ValueWaits::abandon() {
  for (const auto& wait : waits()) {
    const MemoryOperation& operation = wait->waiting();
    std::ostringstream text;
    text << "hang: a stream waits for " << operation.value << " at "
         << AddressSpace::instance().describe(address_of(operation), operation.bytes)
         << ", which holds " << read_operand(operation) << "; nothing can change it\n";
    publish_report(text.str(), JsonObject().add("kind", "hang").add("text", text.str()).text());
    Executor::instance().finish(wait, status::launch_failure);
  }
  waits().clear();
}

}  // namespace hipgraph::emu
