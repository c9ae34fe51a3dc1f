// Estimates of points' costs to the host, from those that are done.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace nearwarp::sweep {

/// A point costs as much for a warp-instruction as those that have most in common with it: program,
/// machine and policy, else program and policy, program and machine, and so on.
class PointCosts {
 public:
  /// A point is done.
  void add(size_t program, size_t machine, size_t policy, uint64_t warp_instructions,
           double seconds);
  /// Seconds for a warp-instruction; a guess as long as there is nothing to go by.
  double of(size_t program, size_t machine, size_t policy) const;

 private:
  using Key = std::array<size_t, 3>;
  struct Sum {
    double warp_instructions = 0, seconds = 0;
  };
  std::map<Key, Sum> sums_;
};

}  // namespace nearwarp::sweep
