#include "runtime/standstill.h"

#include <bit>

#include "runtime/kernel_run.h"

namespace hipgraph::emu {
namespace {

// Busy kernels are quiet for a round or two all the time; states are not worth hashing then.
constexpr std::uint64_t first_saving_round = 4;

/// Mixes words into a hash, several at a time.
class Hash {
 public:
  void add(const std::uint32_t* words, std::size_t count) {
    for (std::size_t i = 0; i < count; i += lanes_.size()) {
      for (std::size_t k = 0; k < lanes_.size(); ++k) {
        lanes_[k] = (lanes_[k] ^ words[i + k]) * prime;
        lanes_[k] ^= lanes_[k] >> 29;
      }
    }
  }
  void add(std::uint64_t value) {
    lanes_[0] = (lanes_[0] ^ value) * prime;
    lanes_[0] ^= lanes_[0] >> 29;
  }
  std::uint64_t value() const {
    std::uint64_t mixed = 0;
    for (const std::uint64_t lane : lanes_) mixed = (std::rotl(mixed, 17) ^ lane) * prime;
    return mixed;
  }

 private:
  static constexpr std::uint64_t prime = 0x9fb21c651e98df25;
  std::array<std::uint64_t, 8> lanes_{1, 2, 3, 4, 5, 6, 7, 8};
};

std::uint64_t hash_scalars(const Wave& wave) {
  Hash hash;
  hash.add(wave.sgpr.data(), wave.sgpr.size());
  hash.add(wave.pc);
  hash.add(std::uint64_t{wave.mode} << 1 | (wave.scc ? 1 : 0));
  return hash.value();
}

std::uint64_t hash_vectors(const Wave& wave) {
  constexpr std::size_t first_accvgpr = 256;
  Hash hash;
  const auto add_rows = [&hash](const VectorRegister* rows, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) hash.add(rows[i].data(), rows[i].size());
  };
  add_rows(wave.vgpr, wave.launch->vgpr_rows);
  add_rows(wave.vgpr + first_accvgpr, wave.launch->accvgpr_rows);
  return hash.value();
}

}  // namespace

void Standstill::note_effect() {
  ++quiet_time_;
  quiet_rounds_ = 0;
}

/// Compares with the saved state, and saves anew when twice as many rounds have passed: so a period
/// of any length is found.
bool Standstill::came_back(ResidentWave& resident) const {
  SavedState& saved = resident.saved;
  const bool comparable = saved.quiet_time == quiet_time_;
  if (comparable && saved.came_back) return true;
  const std::uint64_t scalars = hash_scalars(resident.wave);
  if (comparable && scalars == saved.scalars && hash_vectors(resident.wave) == saved.vectors) {
    saved.came_back = true;
    return true;
  }
  if (std::has_single_bit(quiet_rounds_)) {
    saved = {quiet_time_, scalars, hash_vectors(resident.wave), false};
    resident.wave.poll = {};  // what is read from here on is what the loop reads
  }
  return false;
}

bool Standstill::observe(std::span<KernelRun* const> kernels) {
  if (++quiet_rounds_ < first_saving_round) return false;
  bool all = true;
  for (KernelRun* kernel : kernels) {
    for (const std::unique_ptr<ResidentWorkgroup>& workgroup : kernel->resident()) {
      for (ResidentWave& resident : workgroup->waves) {
        if (resident.wave.status == WaveStatus::Ready && !came_back(resident)) all = false;
      }
    }
  }
  return all;
}

}  // namespace hipgraph::emu
