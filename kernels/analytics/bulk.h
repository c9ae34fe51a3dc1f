// The few parallel algorithms on which the analyses of traces are built: those of Thrust under an
// execution policy, and plain loops where Thrust is not installed.
//
// A Bulk has Vector<T>, data(vector), resize(vector, n), for_each_index(n, f), sum(n, f) and
// exclusive_scan(vector).
#pragma once

#include <cstdint>
#include <vector>

#if NW_HAVE_THRUST
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/scan.h>
#include <thrust/transform_reduce.h>
#endif

namespace nearwarp::analytics {

/// Plain loops in one thread of the CPU.
struct SerialBulk {
  template <class T>
  using Vector = std::vector<T>;
  template <class T>
  static T* data(std::vector<T>& v) {
    return v.data();
  }
  /// Call f(i) for each i in [0, n), in any order.
  template <class F>
  void for_each_index(uint32_t n, F f) const {
    for (uint32_t i = 0; i < n; ++i) f(i);
  }
  /// The sum of f(i) over [0, n).
  template <class F>
  uint64_t sum(uint32_t n, F f) const {
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; ++i) total += f(i);
    return total;
  }
  /// Replace each v[i] by the sum of all v[j], j < i.
  void exclusive_scan(std::vector<uint32_t>& v) const {
    uint32_t total = 0;
    for (uint32_t& value : v) {
      const uint32_t before = value;
      value = total;
      total += before;
    }
  }
};

#if NW_HAVE_THRUST
/// Thrust's algorithms under `Policy`; `Container` is the type of the vectors that they work on.
template <class Policy, template <class...> class Container>
struct ThrustBulk {
  template <class T>
  using Vector = Container<T>;
  Policy policy;

  template <class T>
  static T* data(Container<T>& v) {
    return thrust::raw_pointer_cast(v.data());
  }
  template <class F>
  void for_each_index(uint32_t n, F f) const {
    thrust::for_each_n(policy, thrust::counting_iterator<uint32_t>(0), n, f);
  }
  template <class F>
  uint64_t sum(uint32_t n, F f) const {
    const thrust::counting_iterator<uint32_t> begin(0);
    return thrust::transform_reduce(policy, begin, begin + n, f, uint64_t{0},
                                    thrust::plus<uint64_t>());
  }
  void exclusive_scan(Container<uint32_t>& v) const {
    thrust::exclusive_scan(policy, v.begin(), v.end(), v.begin());
  }
};
#endif

}  // namespace nearwarp::analytics
