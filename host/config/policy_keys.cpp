// The keys of a policy file.
#include <array>

#include "host/config/schema.h"

namespace nearwarp::config {
namespace {

using P = PolicyConfig;

#define NW_KEY(member_path) #member_path, [](P & p) -> Member { return &p.member_path; }

}  // namespace

std::span<const Key<PolicyConfig>> policy_keys() {
  static const std::array<Key<P>, 10> all = {{
      {"policy.description", [](P& p) -> Member { return &p.description; }, "", 0, 0, false, "",
       "One line on what the policy does."},
      {"policy.mechanism", [](P& p) -> Member { return &p.mechanism; }, "", 0, 0, false, "none tom",
       "none: everything runs on the main GPU; tom: offloading after the TOM paper."},
      {"policy.mapping", [](P& p) -> Member { return &p.mapping; }, "", 0, 0, false,
       "bmap tmap oracle local",
       "How memory is spread over stacks. bmap: the baseline's fine interleaving; tmap: two "
       "consecutive address bits, learnt from the first candidate instances, for what candidates "
       "access; oracle: the same with the bits that are best for all instances, known beforehand; "
       "local: bmap, but a stack SM finds everything in its own stack (an idealisation)."},
      {"mapping.learning_permille", [](P& p) -> Member { return &p.learning.learning_permille; },
       "1/1000", 1, 1000, false, "",
       "tmap: share of all candidate instances after which the mapping is chosen."},
      {NW_KEY(offload.dynamic_control), "", 0, 0, false, "",
       "Refuse to offload to full stack SMs and over busy channels."},
      {NW_KEY(offload.overhead), "", 0, 0, false, "",
       "Charge offloading; false: packets weigh nothing and nothing is drained or invalidated (an "
       "idealisation)."},
      {NW_KEY(offload.busy_threshold_percent), "%", 1, 100, false, "",
       "Utilisation from which on a channel counts as busy."},
      {NW_KEY(offload.load_miss_percent), "%", 0, 100, false, "",
       "Miss rate of loads that the selection of candidates assumes."},
      {NW_KEY(offload.load_coalescing_percent), "%", 1, 3200, false, "",
       "Lines per warp load that the selection assumes; 100: one."},
      {NW_KEY(offload.store_coalescing_percent), "%", 1, 3200, false, "",
       "Lines per warp store that the selection assumes; 100: one."},
  }};
  return all;
}

}  // namespace nearwarp::config
