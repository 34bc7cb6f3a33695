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

/// Whether the wave has a saved state that it may still come back to.
bool Standstill::watches(const ResidentWave& resident) const {
  return resident.saved.quiet_time == quiet_time_ && !resident.saved.came_back;
}

void Standstill::run_slice(Program& program, ResidentWave& resident, std::uint32_t budget) const {
  Wave& wave = resident.wave;
  if (!watches(resident)) {
    program.run(wave, budget);
    return;
  }
  SavedState& saved = resident.saved;
  for (std::uint32_t i = 0; i < budget; ++i) {
    program.run(wave, 1);
    if (wave.status != WaveStatus::Ready) return;
    saved.came_back = wave.pc == saved.pc && hash_scalars(wave) == saved.scalars &&
                      hash_vectors(wave) == saved.vectors;
    if (saved.came_back || wave.yields) return;
  }
}

void Standstill::save(ResidentWave& resident) const {
  const Wave& wave = resident.wave;
  resident.saved = {quiet_time_,        wave.pc,           hash_scalars(wave),
                    hash_vectors(wave), wave.shared_reads, false};
  resident.wave.poll = {};  // what is read from here on is what the loop reads
}

bool Standstill::observe(std::span<KernelRun* const> kernels) {
  if (++quiet_rounds_ < first_saving_round) return false;
  // States are saved anew when twice as many rounds have passed: so a loop of any length is found.
  const bool saves = std::has_single_bit(quiet_rounds_);
  bool all = true;
  for (KernelRun* kernel : kernels) {
    for (const std::unique_ptr<ResidentWorkgroup>& workgroup : kernel->resident()) {
      for (ResidentWave& resident : workgroup->waves) {
        if (resident.wave.status != WaveStatus::Ready) continue;
        const SavedState& saved = resident.saved;
        if (saved.quiet_time == quiet_time_ && saved.came_back) continue;
        all = false;
        if (saves) save(resident);
      }
    }
  }
  return all;
}

}  // namespace hipgraph::emu
