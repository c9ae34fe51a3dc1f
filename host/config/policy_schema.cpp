// The keys of a policy file.
#include "host/config/schema.h"

namespace nearwarp::config {
namespace {

using P = PolicyConfig;
using O = PolicyConfig::Offload;

template <auto... Path>
Member at(P& policy) {
  return Member(&(policy.*....*Path));
}

constexpr Key<P> kKeys[] = {
    {"policy.description", at<&P::description>, "", 0, 0, false, "",
     "What the policy does, in one line."},
    {"policy.mechanism", at<&P::mechanism>, "", 0, 0, false, "none tom",
     "none: everything runs on the main SMs; tom: candidate blocks may run on stack SMs."},
    {"policy.mapping", at<&P::mapping>, "", 0, 0, false, "bmap",
     "bmap: consecutive lines go to different stacks and vaults, higher bits are XORed in."},
    {"offload.dynamic_control", at<&P::offload, &O::dynamic_control>, "", 0, 0, false, "",
     "Refuse offloads to full stacks and onto busy channels (TOM, section 3.3)?"},
    {"offload.busy_threshold_percent", at<&P::offload, &O::busy_threshold_percent>, "%", 1, 100,
     false, "", "Utilisation from which a channel counts as busy."},
    {"offload.load_miss_percent", at<&P::offload, &O::load_miss_percent>, "%", 0, 100, false, "",
     "Miss_LD of Eq. (3) and (4): assumed misses per load."},
    {"offload.load_coalescing_percent", at<&P::offload, &O::load_coalescing_percent>, "%", 1, 3200,
     false, "", "Coal_LD: assumed cache lines per warp load; 100: one."},
    {"offload.store_coalescing_percent", at<&P::offload, &O::store_coalescing_percent>, "%", 1,
     3200, false, "", "Coal_ST: assumed cache lines per warp store; 100: one."},
};

}  // namespace

template <>
std::span<const Key<PolicyConfig>> keys() {
  return kKeys;
}

}  // namespace nearwarp::config
