#include "runtime/node_commands.h"

#include <cstring>
#include <sstream>

#include "runtime/address_space.h"
#include "runtime/dispatch.h"
#include "runtime/executor.h"
#include "runtime/graph_memory.h"
#include "runtime/memory_operations.h"

namespace hipgraph::emu {
namespace {

std::array<std::uint32_t, 3> sizes(const dim3& size) { return {size.x, size.y, size.z}; }

std::byte* at(const hipPitchedPtr& pointer, const hipPos& position) {
  return static_cast<std::byte*>(pointer.ptr) +
         (position.z * pointer.ysize + position.y) * pointer.pitch + position.x;
}

/// One overload a kind of work.
struct CommandOf {
  int device;
  const std::string& origin;

  CommandPtr operator()(const EmptyWork&) const { return make_marker(); }
  CommandPtr operator()(const ChildWork&) const { return nullptr; }
  CommandPtr operator()(const EventRecordWork&) const { return nullptr; }
  CommandPtr operator()(const EventWaitWork&) const { return nullptr; }
  CommandPtr operator()(const MemAllocWork& work) const { return make_graph_alloc(work); }
  CommandPtr operator()(const MemFreeWork& work) const { return make_graph_free(work); }
  CommandPtr operator()(const MemoryWork& work) const { return make_memory_operations(work); }
  CommandPtr operator()(const HostWork& work) const {
    return make_host_function(work.parms.fn, work.parms.userData);
  }
  CommandPtr operator()(const KernelWork& work) const {
    LaunchRequest request;
    request.kernel = work.function->kernel;
    request.grid = sizes(work.grid);
    request.block = sizes(work.block);
    request.rest = work.rest;
    request.dynamic_lds_bytes = work.dynamic_lds_bytes;
    request.kernarg = work.arguments;
    request.origin = origin;
    request.device = device;
    request.keeps = work.function->code;
    return make_dispatch(std::move(request));
  }
  CommandPtr operator()(const MemsetWork& work) const {
    const hipMemsetParams& parms = work.parms;
    return make_fill({static_cast<std::byte*>(parms.dst), parms.value, parms.elementSize,
                      parms.width, parms.height, parms.pitch, work.depth, work.slice});
  }
  CommandPtr operator()(const MemcpyWork& work) const {
    const hipMemcpy3DParms& parms = work.parms;
    if (work.one_dimensional) {
      return make_copy(parms.dstPtr.ptr, parms.srcPtr.ptr, parms.extent.width);
    }
    return make_copy_region(
        {at(parms.dstPtr, parms.dstPos), at(parms.srcPtr, parms.srcPos), parms.extent.width,
         parms.extent.height, parms.extent.depth, parms.dstPtr.pitch, parms.srcPtr.pitch,
         parms.dstPtr.pitch * parms.dstPtr.ysize, parms.srcPtr.pitch * parms.srcPtr.ysize});
  }
};

/// Copies host bytes that were taken at the call.
class StagedCopy final : public Command {
 public:
  explicit StagedCopy(const CheckedCopy& copy) : to_(copy.to) {
    const auto* from = static_cast<const std::byte*>(copy.from);
    bytes_.assign(from, from + copy.bytes);
  }

  Progress start() override {
    touch(to_, bytes_.size(), Touch::Write);
    std::memcpy(to_, bytes_.data(), bytes_.size());
    const auto address = reinterpret_cast<std::uint64_t>(to_);
    AddressSpace::instance().note_host_write(address, bytes_.size());
    bytes_ = {};
    return Progress::Complete;
  }
  std::string what() const override { return "copy"; }

 private:
  void* to_;
  std::vector<std::byte> bytes_;
};

}  // namespace

CommandPtr make_command(const NodeWork& work, int device, const std::string& origin) {
  return std::visit(CommandOf{device, origin}, work);
}

CommandPtr make_eager_copy(const CheckedCopy& copy) {
  if (copy.from_known || !copy.to_known) return make_copy(copy.to, copy.from, copy.bytes);
  return std::make_shared<StagedCopy>(copy);
}

std::string origin_of_stream(const void* handle) {
  std::ostringstream text;
  text << "stream " << handle;
  return text.str();
}

}  // namespace hipgraph::emu
