// The order among the lanes of a warp.
#include "host/functional/racecheck/warp_order.h"

#include <algorithm>

namespace nearwarp::racecheck {

WarpOrder::Matrix& WarpOrder::matrix() {
  if (matrix_ == nullptr) matrix_ = std::make_unique<Matrix>();
  return *matrix_;
}

void WarpOrder::meet(uint32_t members, uint32_t exited) {
  if ((members | exited | ~lanes) == kAll) {
    together_ = time++;
    return;
  }
  Matrix& m = matrix();
  std::array<uint32_t, 32> row{};
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if ((members >> lane & 1) == 0) continue;
    for (uint32_t by = 0; by < 32; ++by) row[by] = std::max(row[by], m[lane][by]);
    row[lane] = time;
  }
  for (uint32_t lane = 0; lane < 32; ++lane)
    if ((members >> lane & 1) != 0) m[lane] = row;
  ++time;
}

void WarpOrder::settle(uint32_t members, uint32_t exited) {
  if ((members | exited | ~lanes) == kAll) {
    together_ = time++;
    return;
  }
  for (auto& row : matrix())
    for (uint32_t by = 0; by < 32; ++by)
      if ((members >> by & 1) != 0) row[by] = time;
  ++time;
}

}  // namespace nearwarp::racecheck
