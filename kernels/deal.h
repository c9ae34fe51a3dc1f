// Deals a system's components out to the warps of a team. Host only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kinds.h"

namespace nearwarp::kernels {

/// The assignment of components to warps; see DealView.
struct Deal {
  std::vector<uint32_t> order;      ///< component numbers, by warp
  std::vector<uint32_t> begin;      ///< by warp, and one more that ends the last
  std::vector<uint32_t> group_end;  ///< by position in `order`; see DealView
  std::vector<uint32_t> shared_at;  ///< by position in `order`; see share_states()
};

/// Give each of `warps` warps its share of the work, and warp 0 the front end. All members of a
/// cluster go to one warp. Deterministic.
Deal deal_components(std::span<const Component> components, uint32_t warps);

/// Give States places in the blocks' shared memory, `bytes` for each block of `warps_per_block`:
/// the smallest first, as far as they fit.
void share_states(Deal& deal, std::span<const Component> components, uint32_t warps_per_block,
                  uint32_t bytes);

}  // namespace nearwarp::kernels
