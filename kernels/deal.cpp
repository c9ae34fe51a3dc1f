// Deals a system's components out to the warps of a team.
#include "kernels/deal.h"

#include <algorithm>
#include <numeric>

#include "kernels/team.h"

namespace nearwarp::kernels {

Deal deal_components(std::span<const Component> components, uint32_t warps) {
  std::vector<uint32_t> by_weight(components.size());
  std::iota(by_weight.begin(), by_weight.end(), 0u);
  // The front end first, so that it goes to warp 0; then the heaviest first.
  const auto rank = [&](uint32_t i) {
    return components[i].kind == ComponentKind::kFrontEnd ? ~0u
                                                          : ProductFamily::weight(components[i]);
  };
  std::stable_sort(by_weight.begin(), by_weight.end(),
                   [&](uint32_t a, uint32_t b) { return rank(a) > rank(b); });
  std::vector<std::vector<uint32_t>> share(warps);
  std::vector<uint32_t> load(warps, 0);
  for (const uint32_t i : by_weight) {
    const auto least = std::min_element(load.begin(), load.end()) - load.begin();
    share[least].push_back(i);
    load[least] += ProductFamily::weight(components[i]);
  }
  Deal deal;
  deal.begin.push_back(0);
  for (const std::vector<uint32_t>& s : share) {
    deal.order.insert(deal.order.end(), s.begin(), s.end());
    deal.begin.push_back(static_cast<uint32_t>(deal.order.size()));
  }
  return deal;
}

void share_states(Deal& deal, std::span<const Component> components, uint32_t warps_per_block,
                  uint32_t bytes) {
  constexpr uint32_t kAlignment = 16;
  deal.shared_at.assign(deal.order.size(), kNotShared);
  const auto warps = static_cast<uint32_t>(deal.begin.size() - 1);
  for (uint32_t first = 0; first < warps; first += warps_per_block) {
    const uint32_t begin = deal.begin[first];
    const uint32_t end = deal.begin[std::min(warps, first + warps_per_block)];
    std::vector<uint32_t> by_size(end - begin);
    std::iota(by_size.begin(), by_size.end(), begin);
    const auto size = [&](uint32_t i) {
      return ProductFamily::state_bytes(components[deal.order[i]].kind);
    };
    std::stable_sort(by_size.begin(), by_size.end(),
                     [&](uint32_t a, uint32_t b) { return size(a) < size(b); });
    uint32_t used = 0;
    for (const uint32_t i : by_size) {
      const uint32_t needed = (size(i) + kAlignment - 1) / kAlignment * kAlignment;
      if (used + needed > bytes) break;
      deal.shared_at[i] = used;
      used += needed;
    }
  }
}

}  // namespace nearwarp::kernels
