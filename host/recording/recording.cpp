// Recordings.
#include "host/recording/recording.h"

#include <algorithm>
#include <functional>

namespace nearwarp::runtime {

bool possible_order(const LaunchRecord& launch, size_t index) {
  const std::vector<uint32_t>& after = launch.after;
  const bool ascending =
      std::adjacent_find(after.begin(), after.end(), std::greater_equal<>()) == after.end();
  return after.empty() || (!launch.after_all && ascending && after.back() < index);
}

}  // namespace nearwarp::runtime
