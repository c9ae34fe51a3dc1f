// Programs of Thrust and CUB.
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

#include <cub/cub.cuh>

#include "tests/suite/program.h"

using namespace suite;

PROGRAM(thrust_sort) {
  std::vector<int> host;
  for (const float v : numbers(5000, 50)) host.push_back(int(v * 1000));
  thrust::device_vector<int> keys = host;
  thrust::sort(keys.begin(), keys.end());
  const int sum = thrust::reduce(keys.begin(), keys.end());
  std::printf("least %d, largest %d, sum %d\n", int(keys.front()), int(keys.back()), sum);
  for (size_t i = 1; i < keys.size(); i += 499)
    if (int(keys[i - 1]) > int(keys[i])) return 1;
  return 0;
}

PROGRAM(cub_scan) {
  const int n = 10000;
  int *in = upload(std::vector<int>(n, 3)), *out = device<int>(n);
  size_t bytes = 0;
  CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, n));
  CUDA(cub::DeviceScan::ExclusiveSum(device<char>(bytes), bytes, in, out, n));
  std::printf("last %d\n", download(out, n)[n - 1]);
  return 0;
}

__global__ void block_ranks(const int* in, int* out) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ Scan::TempStorage storage;
  int sum;
  Scan(storage).InclusiveSum(in[threadIdx.x], sum);
  out[threadIdx.x] = sum;
}
PROGRAM(cub_block) {
  std::vector<int> in(128), want(128);
  for (int i = 0, sum = 0; i < 128; ++i) in[i] = i % 5, want[i] = sum += in[i];
  int* const out = device<int>(128);
  block_ranks<<<1, 128>>>(upload(in), out);
  return same("sums", download(out, 128), want);
}
