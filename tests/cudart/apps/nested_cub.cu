// CUB's device-wide algorithms, called by a kernel.
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>

#include "tests/cudart/apps/check.h"

constexpr int kCount = 10000;

__global__ void algorithms(const int* in, int* sum, int* scanned, int* sorted, void* workspace,
                           size_t bytes, cudaError_t* status) {
  status[0] = cub::DeviceReduce::Sum(workspace, bytes, in, sum, kCount);
  status[1] = cub::DeviceScan::ExclusiveSum(workspace, bytes, in, scanned, kCount);
  status[2] = cub::DeviceRadixSort::SortKeys(workspace, bytes, in, sorted, kCount);
}

int main() {
  int* in;
  CUDA(cudaMallocManaged(&in, 4 * kCount * sizeof(int)));
  int *scanned = in + kCount, *sorted = in + 2 * kCount, *sum = in + 3 * kCount;
  auto* status = reinterpret_cast<cudaError_t*>(sum + 1);
  for (int i = 0; i < kCount; ++i) in[i] = i * 7919 % 10007;
  void* workspace;
  constexpr size_t kBytes = 4 << 20;
  CUDA(cudaMalloc(&workspace, kBytes));
  algorithms<<<1, 1>>>(in, sum, scanned, sorted, workspace, kBytes, status);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 3; ++i) CHECK(status[i] == cudaSuccess);
  CHECK(*sum == std::accumulate(in, in + kCount, 0));
  int so_far = 0;
  for (int i = 0; i < kCount; ++i) {
    CHECK(scanned[i] == so_far);
    so_far += in[i];
  }
  std::sort(in, in + kCount);
  CHECK(std::equal(in, in + kCount, sorted));
  return passed();
}
