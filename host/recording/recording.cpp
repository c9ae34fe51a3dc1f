// Recordings.
#include "host/recording/recording.h"

#include <algorithm>
#include <functional>

#include "device/core/cluster_places.h"

namespace nearwarp::runtime {

bool possible_order(const LaunchRecord& launch, size_t index) {
  const std::vector<uint32_t>& after = launch.after;
  const bool ascending =
      std::adjacent_find(after.begin(), after.end(), std::greater_equal<>()) == after.end();
  return after.empty() || (!launch.after_all && ascending && after.back() < index);
}

bool possible_clusters(const LaunchRecord& launch) {
  const Dim3 &c = launch.cluster, &grid = launch.grid;
  if (std::min({c.x, c.y, c.z}) == 0 || std::max({c.x, c.y, c.z}) > kMaxClusterBlocks) return false;
  return c.count() <= kMaxClusterBlocks && grid.x % c.x == 0 && grid.y % c.y == 0 &&
         grid.z % c.z == 0;
}

}  // namespace nearwarp::runtime
