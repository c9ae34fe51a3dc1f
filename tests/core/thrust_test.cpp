// Do Thrust's algorithms work in plain C++, without a CUDA compiler or a device?
#include <gtest/gtest.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

std::vector<uint64_t> pseudo_random(size_t count) {
  std::vector<uint64_t> values(count);
  uint64_t state = 1;
  for (uint64_t& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = state >> 40;
  }
  return values;
}

TEST(Thrust, ReductionOnTheHostEqualsThatOfTheStandardLibrary) {
  for (const size_t count : {0, 1, 33, 131, 10007}) {
    const std::vector<uint64_t> values = pseudo_random(count);
    const thrust::device_vector<uint64_t> device(values.begin(), values.end());
    EXPECT_EQ(thrust::reduce(device.begin(), device.end(), uint64_t{0}, thrust::plus<uint64_t>()),
              std::accumulate(values.begin(), values.end(), uint64_t{0}));
  }
}

TEST(Thrust, SortsByKey) {
  const std::vector<uint64_t> values = pseudo_random(1000);
  thrust::host_vector<uint64_t> keys(values.begin(), values.end());
  thrust::host_vector<uint64_t> copies = keys;
  thrust::sort_by_key(keys.begin(), keys.end(), copies.begin());
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_TRUE(keys == copies);
}

}  // namespace
