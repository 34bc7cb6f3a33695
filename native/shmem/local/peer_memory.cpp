#include "peer_memory.h"

#include <cstring>

namespace hipgraph::shmem {

PeerMemory::PeerMemory(int pe, std::size_t bytes) : pe_(pe), bytes_(bytes) {
  // Uncached: what a peer writes is seen without the reader dropping its caches. Not every device
  // gives such memory, and then the kernels' system scope has to do.
  void* block = nullptr;
  if (hip().ext_malloc.code(&block, bytes, hipDeviceMallocUncached) != hipSuccess) {
    hip().take_last_error.code();
    const hipError_t code = hip().malloc.code(&block, bytes);
    if (code == hipErrorOutOfMemory) {
      fail(HGS_NO_MEMORY, "the device has no ", bytes,
           " bytes for the symmetric heap: ", "pass a smaller heap_bytes to hgs_init");
    }
    if (code != hipSuccess) throw Error{HGS_HIP, hip_text(hip().malloc.name, code)};
  }
  bases_[static_cast<std::size_t>(pe)] = static_cast<char*>(block);
}

PeerMemory::~PeerMemory() {
  unmap();
  hip().free.code(own());
}

std::string PeerMemory::handle() const {
  hipIpcMemHandle_t handle;
  hip().ipc_get(&handle, own());
  return {reinterpret_cast<const char*>(&handle), sizeof handle};
}

void PeerMemory::open(const std::vector<std::string>& handles) {
  for (std::size_t pe = 0; pe < handles.size(); ++pe) {
    if (bases_[pe] != nullptr) continue;
    hipIpcMemHandle_t handle;
    std::memcpy(&handle, handles[pe].data(), sizeof handle);
    void* block = nullptr;
    hip().ipc_open(&block, handle, hipIpcMemLazyEnablePeerAccess);
    bases_[pe] = static_cast<char*>(block);
  }
}

void PeerMemory::close() {
  const hipError_t code = unmap();
  if (code != hipSuccess) throw Error{HGS_HIP, hip_text(hip().ipc_close.name, code)};
}

hipError_t PeerMemory::unmap() {
  hipError_t first = hipSuccess;
  for (std::size_t pe = 0; pe < bases_.size(); ++pe) {
    if (bases_[pe] == nullptr || pe == static_cast<std::size_t>(pe_)) continue;
    const hipError_t code = hip().ipc_close.code(bases_[pe]);
    if (first == hipSuccess) first = code;
    bases_[pe] = nullptr;
  }
  return first;
}

}  // namespace hipgraph::shmem
