#include "collective.h"

#include <algorithm>

namespace hipgraph::shmem {
namespace {

/// "PE 0: hgs_malloc(64 bytes); PE 1: hgs_malloc(32 bytes)".
std::string listing(const Team& team, const std::vector<Contribution>& all) {
  std::string whole;
  for (int index = 0; index < team.shape.n_pes; ++index) {
    if (index > 0) whole += "; ";
    const auto place = static_cast<std::size_t>(index);
    whole += text("PE ", team.world_pe(index), ": ", all[place].label);
  }
  return whole;
}

}  // namespace

/// The first byte of the data is a status; a text follows it instead of data where that is an
/// error.
std::vector<std::string> Collective::gather(const std::optional<Error>& error, std::string data) {
  const char status = static_cast<char>(error ? error->status : HGS_OK);
  const CallKey key{team_.members(), team_.serial, team_.sequence++};
  Contribution own{label_, status + (error ? error->text : std::move(data))};
  std::vector<Contribution> all = bootstrap_.gather(key, std::move(own));
  if (error) throw *error;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto other = static_cast<hgs_status>(all[i].data[0]);
    if (other == HGS_OK) continue;
    fail(other, "on PE ", team_.world_pe(static_cast<int>(i)), ": ", all[i].data.substr(1));
  }
  const bool same =
      std::ranges::all_of(all, [this](const Contribution& one) { return one.label == label_; });
  if (!same) {
    fail(HGS_MISMATCH, label_, ": the PEs of a team must make the same collective calls; ",
         listing(team_, all));
  }
  std::vector<std::string> result;
  for (Contribution& one : all) result.push_back(one.data.substr(1));
  return result;
}

}  // namespace hipgraph::shmem
