// Pools of memory, and what there is of devices.
#include <cstdint>
#include <vector>

#include "tests/cudart/apps/check.h"

__global__ void fill(int* p, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = value;
}

static uint64_t used(cudaMemPool_t pool) {
  uint64_t bytes = 0;
  CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes));
  return bytes;
}

int main() {
  constexpr int n = 1000;
  cudaMemPool_t pool, mine;
  cudaStream_t stream;
  int *p, *q;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  uint64_t keep = UINT64_MAX, high = 0;
  CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  CUDA(cudaMalloc(&q, 1 << 20));  // belongs to no pool
  CUDA(cudaMallocAsync(&p, n * sizeof(int), stream));
  CHECK(used(pool) >= n * sizeof(int) && used(pool) < 1 << 20);
  fill<<<8, 128, 0, stream>>>(p, n, 9);
  std::vector<int> h(n);
  CUDA(cudaMemcpyAsync(h.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CUDA(cudaFreeAsync(p, stream));
  CUDA(cudaStreamSynchronize(stream));
  CHECK(h[0] == 9 && h[n - 1] == 9 && used(pool) == 0);
  CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
  CHECK(high >= n * sizeof(int));

  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  CUDA(cudaMemPoolCreate(&mine, &properties));
  CUDA(cudaMallocFromPoolAsync(&p, 1 << 16, mine, stream));
  CHECK(used(mine) == 1 << 16 && used(pool) == 0);
  CUDA(cudaFreeAsync(p, stream));
  CUDA(cudaDeviceSetMemPool(0, mine));
  CUDA(cudaMallocAsync(&p, 1 << 16, stream));
  CHECK(used(mine) == 1 << 16);
  CUDA(cudaFree(p));
  CHECK(used(mine) == 0);
  CUDA(cudaMemPoolDestroy(mine));

  int devices = 0, can = 1, grid = 0, block = 0;
  CUDA(cudaGetDeviceCount(&devices));
  CHECK(devices == 1);
  CUDA(cudaDeviceCanAccessPeer(&can, 0, 0));
  CHECK(can == 0);
  FAILS(cudaErrorInvalidDevice, cudaSetDevice(devices));
  CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill));
  CHECK(block % 32 == 0 && block > 0 && grid > 0);
  return passed();
}
