// Estimates of points' costs to the host, from those that are done.
#include "host/timing/sweep/point_costs.h"

namespace nearwarp::sweep {
namespace {

constexpr size_t kAny = ~size_t{0};
/// The cost of a warp-instruction before anything is done (estimated: a million a second).
constexpr double kGuessedSeconds = 1e-6;

/// The properties that a point has in common with others, the closest first.
std::array<std::array<size_t, 3>, 7> kinships(size_t program, size_t machine, size_t policy) {
  return {{{program, machine, policy},
           {program, kAny, policy},
           {program, machine, kAny},
           {program, kAny, kAny},
           {kAny, machine, policy},
           {kAny, kAny, policy},
           {kAny, kAny, kAny}}};
}

}  // namespace

void PointCosts::add(size_t program, size_t machine, size_t policy, uint64_t warp_instructions,
                     double seconds) {
  for (const Key& key : kinships(program, machine, policy)) {
    Sum& sum = sums_[key];
    sum.warp_instructions += static_cast<double>(warp_instructions);
    sum.seconds += seconds;
  }
}

double PointCosts::of(size_t program, size_t machine, size_t policy) const {
  for (const Key& key : kinships(program, machine, policy)) {
    const auto at = sums_.find(key);
    if (at != sums_.end() && at->second.warp_instructions > 0 && at->second.seconds > 0)
      return at->second.seconds / at->second.warp_instructions;
  }
  return kGuessedSeconds;
}

}  // namespace nearwarp::sweep
