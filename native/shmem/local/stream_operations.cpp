#include "stream_operations.h"

#include "arguments.h"
#include "failure.h"

namespace hipgraph::shmem {
namespace {

constexpr int kLastComparison = 5;  // rocSHMEM's LE

constexpr unsigned kWaveThreads = 64;

void check_signal_operation(int operation) {
  if (operation == kSignalSet || operation == kSignalAdd) return;
  fail(HGS_INVALID, "signal_op is ", operation, ": pass ", kSignalSet, " (set) or ", kSignalAdd,
       " (add)");
}

}  // namespace

StreamOperations::StreamOperations(World& world, void* stream)
    : world_(world), stream_(check_stream(stream)), current_(world.stream().device()) {
  check_failure(world);
}

void StreamOperations::copy(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0 || target == source) return;
  hip().copy(target, source, bytes, hipMemcpyDeviceToDevice, stream_);
}

void StreamOperations::put(void* target, const void* source, std::size_t bytes, int pe) {
  check_pe(world_, pe);
  check_local(source, bytes, "source");
  const std::size_t offset = check_symmetric(world_, target, bytes, "target");
  copy(world_.memory().base(pe) + offset, source, bytes);
}

void StreamOperations::get(void* target, const void* source, std::size_t bytes, int pe) {
  check_pe(world_, pe);
  check_local(target, bytes, "target");
  const std::size_t offset = check_symmetric(world_, source, bytes, "source");
  copy(target, world_.memory().base(pe) + offset, bytes);
}

void StreamOperations::put_signal(void* target, const void* source, std::size_t bytes,
                                  std::uint64_t* signal, std::uint64_t value, int operation,
                                  int pe) {
  check_signal_operation(operation);
  check_word(world_, signal, sizeof *signal, "signal");
  put(target, source, bytes, pe);
  this->signal(signal, value, operation, pe);
}

void StreamOperations::signal(std::uint64_t* signal, std::uint64_t value, int operation, int pe) {
  check_signal_operation(operation);
  check_pe(world_, pe);
  const std::size_t offset = check_word(world_, signal, sizeof *signal, "signal");
  world_.kernels().launch(Kernel::Signal, 1, kWaveThreads, stream_,
                          world_.memory().base(pe) + offset, value,
                          static_cast<std::uint32_t>(operation));
}

void StreamOperations::wait_until(const std::uint64_t* signal, int comparison,
                                  std::uint64_t value) {
  if (comparison < 0 || comparison > kLastComparison) {
    fail(HGS_INVALID, "comparison is ", comparison,
         ": pass 0 to 5 (EQ, NE, GT, GE, LT, LE, in rocSHMEM's order)");
  }
  check_word(world_, signal, sizeof *signal, "signal");
  world_.kernels().launch(Kernel::WaitUntil, 1, kWaveThreads, stream_, &world_.page()->state,
                          signal, static_cast<std::uint32_t>(comparison), value);
}

void StreamOperations::quiet() { world_.kernels().launch(Kernel::Fence, 1, kWaveThreads, stream_); }

void StreamOperations::barrier(const Team& team) {
  world_.kernels().launch(Kernel::Barrier, 1, kWaveThreads, stream_, &world_.page()->state,
                          team.on_device);
}

}  // namespace hipgraph::shmem
