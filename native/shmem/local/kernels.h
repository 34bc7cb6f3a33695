#pragma once
#include <array>
#include <string>

#include "hip.h"

namespace hipgraph::shmem {

enum class Kernel : unsigned { Barrier, Signal, WaitUntil, Fence, Atomic32, Atomic64, Reduce };
enum class Reduction : unsigned { Sum, Min, Max, Prod };
enum class Element : unsigned { Float, Double, Int, Long, Bfloat16 };

constexpr unsigned kReductions = 4, kElements = 5;
constexpr Kernel reduce_kernel(Reduction reduction, Element element) {
  return static_cast<Kernel>(static_cast<unsigned>(Kernel::Reduce) +
                             static_cast<unsigned>(reduction) * kElements +
                             static_cast<unsigned>(element));
}

/// Which offload bundle the kernels come from.
void attach_kernels(const char* path);

/// The provider's kernels, loaded on the device that is current. All are looked up at once, so
/// that nothing is left to be done while a stream captures.
class Kernels {
 public:
  Kernels();
  ~Kernels();
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  /// Puts a one-dimensional grid on a stream.
  template <class... Arguments>
  void launch(Kernel kernel, unsigned blocks, unsigned threads, hipStream_t stream,
              Arguments... arguments) const {
    void* pointers[] = {&arguments..., nullptr};
    launch_with(kernel, blocks, threads, stream, pointers);
  }

 private:
  void launch_with(Kernel kernel, unsigned blocks, unsigned threads, hipStream_t stream,
                   void** arguments) const;

  static constexpr std::size_t kCount =
      static_cast<std::size_t>(Kernel::Reduce) + kReductions * kElements;

  std::array<std::string, kCount> names_;
  std::array<hipFunction_t, kCount> functions_{};
  hipModule_t module_ = nullptr;
};

}  // namespace hipgraph::shmem
