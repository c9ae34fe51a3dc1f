// Thrust's algorithms, each against the host's own.
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "tests/cudart/apps/check.h"

namespace {

template <class T>
std::vector<T> numbers(size_t n, uint32_t range) {
  std::vector<T> v(n);
  uint32_t state = 12345;
  for (T& x : v) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<T>(static_cast<int64_t>((state >> 8) % range) - range / 4);
  }
  return v;
}

template <class T>
std::vector<T> host(const thrust::device_vector<T>& d) {
  std::vector<T> v(d.size());
  thrust::copy(d.begin(), d.end(), v.begin());
  return v;
}

struct Square {
  __host__ __device__ int64_t operator()(int x) const { return int64_t{x} * x; }
};
struct Even {
  __host__ __device__ bool operator()(int x) const { return (x & 1) == 0; }
};
/// Orders by the last digit, which no radix sort of the library does.
struct LastDigit {
  __host__ __device__ bool operator()(int a, int b) const { return (a & 15) > (b & 15); }
};

void reduce(size_t n) {
  const std::vector<int> h = numbers<int>(n, 1000);
  const thrust::device_vector<int> d(h.begin(), h.end());
  CHECK(thrust::reduce(d.begin(), d.end()) == std::accumulate(h.begin(), h.end(), 0));
  int64_t squares = 7;
  for (const int x : h) squares += int64_t{x} * x;
  CHECK(thrust::transform_reduce(d.begin(), d.end(), Square(), int64_t{7},
                                 thrust::plus<int64_t>()) == squares);
  CHECK(thrust::max_element(d.begin(), d.end()) - d.begin() ==
        std::max_element(h.begin(), h.end()) - h.begin());
}

void scan(size_t n) {
  const std::vector<int> h = numbers<int>(n, 1000);
  const thrust::device_vector<int> d(h.begin(), h.end());
  thrust::device_vector<int> out(n);
  std::vector<int> expected(n);
  thrust::inclusive_scan(d.begin(), d.end(), out.begin());
  std::partial_sum(h.begin(), h.end(), expected.begin());
  CHECK(host(out) == expected);
  thrust::exclusive_scan(d.begin(), d.end(), out.begin(), 42);
  int sum = 42;
  for (size_t i = 0; i < n; ++i) {
    expected[i] = sum;
    sum += h[i];
  }
  CHECK(host(out) == expected);
}

template <class Key>
void sort_pairs(size_t n, uint32_t range) {
  const std::vector<Key> h = numbers<Key>(n, range);
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return h[a] < h[b]; });
  thrust::device_vector<Key> keys(h.begin(), h.end());
  thrust::device_vector<int> values(thrust::counting_iterator<int>(0),
                                    thrust::counting_iterator<int>(static_cast<int>(n)));
  thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin());
  CHECK(host(values) == order);
  std::vector<Key> sorted = h;
  std::sort(sorted.begin(), sorted.end());
  CHECK(host(keys) == sorted);
}

void sort(size_t n) {
  const std::vector<int> h = numbers<int>(n, 1 << 20);
  std::vector<int> expected = h;
  thrust::device_vector<int> d(h.begin(), h.end());
  std::sort(expected.begin(), expected.end());
  thrust::sort(d.begin(), d.end());
  CHECK(host(d) == expected);
  expected = h;
  d.assign(h.begin(), h.end());
  std::stable_sort(expected.begin(), expected.end(), LastDigit());
  thrust::stable_sort(d.begin(), d.end(), LastDigit());  // a merge sort
  CHECK(host(d) == expected);
}

void select(size_t n) {
  const std::vector<int> h = numbers<int>(n, 50);
  const thrust::device_vector<int> d(h.begin(), h.end());
  thrust::device_vector<int> out(n);
  std::vector<int> expected;
  std::copy_if(h.begin(), h.end(), std::back_inserter(expected), Even());
  out.resize(thrust::copy_if(d.begin(), d.end(), out.begin(), Even()) - out.begin());
  CHECK(host(out) == expected);
  expected = h;
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  out.assign(h.begin(), h.end());
  out.erase(thrust::unique(out.begin(), out.end()), out.end());
  CHECK(host(out) == expected);
  expected = h;
  std::stable_partition(expected.begin(), expected.end(), Even());
  out.assign(h.begin(), h.end());
  thrust::stable_partition(out.begin(), out.end(), Even());
  CHECK(host(out) == expected);
  CHECK(thrust::count_if(d.begin(), d.end(), Even()) == std::count_if(h.begin(), h.end(), Even()));
}

void reduce_by_key(size_t n) {
  std::vector<int> keys = numbers<int>(n, 30);
  std::sort(keys.begin(), keys.end());
  const std::vector<int> values = numbers<int>(n, 1000);
  std::map<int, int> sums;
  for (size_t i = 0; i < n; ++i) sums[keys[i]] += values[i];
  const thrust::device_vector<int> k(keys.begin(), keys.end()), v(values.begin(), values.end());
  thrust::device_vector<int> out_keys(n), out_values(n);
  const auto ends =
      thrust::reduce_by_key(k.begin(), k.end(), v.begin(), out_keys.begin(), out_values.begin());
  CHECK(static_cast<size_t>(ends.first - out_keys.begin()) == sums.size());
  size_t i = 0;
  for (const auto& [key, sum] : sums) {
    CHECK(out_keys[i] == key && out_values[i] == sum);
    ++i;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  for (const size_t n : {size_t{1}, size_t{1000}, size_t{20000}}) {
    if (what == "reduce") reduce(n);
    if (what == "scan") scan(n);
    if (what == "sort") sort(n);
    if (what == "select") select(n);
    if (what == "reduce_by_key") reduce_by_key(n);
    if (what == "sort_pairs") {
      sort_pairs<int>(n, 1 << 20);
      sort_pairs<int64_t>(n, 1 << 20);
      sort_pairs<float>(n, 1 << 20);
    }
  }
  return passed();
}
