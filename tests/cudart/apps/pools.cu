// Pools of memory, and what there is of devices.
#include <cstdint>
#include <vector>

#include "tests/cudart/apps/check.h"

__global__ void fill(int* p, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = value;
}

static uint64_t number(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  uint64_t bytes = 0;
  CUDA(cudaMemPoolGetAttribute(pool, attribute, &bytes));
  return bytes;
}
static uint64_t used(cudaMemPool_t pool) { return number(pool, cudaMemPoolAttrUsedMemCurrent); }
static uint64_t reserved(cudaMemPool_t pool) {
  return number(pool, cudaMemPoolAttrReservedMemCurrent);
}

static cudaMemPoolProps properties() {
  cudaMemPoolProps p = {};
  p.allocType = cudaMemAllocationTypePinned;
  p.location.type = cudaMemLocationTypeDevice;
  return p;
}

/// A pool keeps some of what is freed, and has marks of both.
static void keeping(cudaStream_t stream) {
  constexpr uint64_t kPart = 1 << 20;
  const auto p = properties();
  cudaMemPool_t pool;
  void *a, *b;
  size_t before, now, total;
  CUDA(cudaMemPoolCreate(&pool, &p));
  CUDA(cudaMemGetInfo(&before, &total));
  CUDA(cudaMallocFromPoolAsync(&a, kPart, pool, stream));
  CUDA(cudaMallocFromPoolAsync(&b, kPart, pool, stream));
  CHECK(reserved(pool) == 2 * kPart);
  CUDA(cudaFreeAsync(a, stream));
  CUDA(cudaStreamSynchronize(stream));
  CHECK(reserved(pool) == kPart && used(pool) == kPart);  // without a threshold nothing stays
  uint64_t value = 2 * kPart;
  CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
  CUDA(cudaMallocFromPoolAsync(&a, 3 * kPart, pool, stream));
  for (void* p : {a, b}) CUDA(cudaFreeAsync(p, stream));
  CUDA(cudaStreamSynchronize(stream));
  CHECK(reserved(pool) == 2 * kPart && used(pool) == 0);
  CUDA(cudaMemGetInfo(&now, &total));
  CHECK(now == before - 2 * kPart);
  CHECK(number(pool, cudaMemPoolAttrReservedMemHigh) == 4 * kPart);
  CHECK(number(pool, cudaMemPoolAttrUsedMemHigh) == 4 * kPart);
  CUDA(cudaMemPoolTrimTo(pool, kPart));
  CHECK(reserved(pool) == kPart);
  for (const auto high : {cudaMemPoolAttrReservedMemHigh, cudaMemPoolAttrUsedMemHigh}) {
    value = 3;
    FAILS(cudaErrorInvalidValue, cudaMemPoolSetAttribute(pool, high, &value));
    value = 0;
    CUDA(cudaMemPoolSetAttribute(pool, high, &value));
  }
  CHECK(number(pool, cudaMemPoolAttrReservedMemHigh) == kPart);
  CHECK(number(pool, cudaMemPoolAttrUsedMemHigh) == 0);
  for (const auto current : {cudaMemPoolAttrReservedMemCurrent, cudaMemPoolAttrUsedMemCurrent})
    FAILS(cudaErrorInvalidValue, cudaMemPoolSetAttribute(pool, current, &value));
  CUDA(cudaMemPoolTrimTo(pool, 0));
  CUDA(cudaMemGetInfo(&now, &total));
  CHECK(reserved(pool) == 0 && now == before);
  CUDA(cudaMemPoolDestroy(pool));
}

static void limits_and_access(cudaStream_t stream) {
  cudaMemPool_t pool;
  auto p = properties();
  p.location.id = 9;
  FAILS(cudaErrorInvalidValue, cudaMemPoolCreate(&pool, &p));
  p = properties();
  p.allocType = cudaMemAllocationTypeInvalid;
  FAILS(cudaErrorInvalidValue, cudaMemPoolCreate(&pool, &p));
  p = properties();
  p.maxSize = 4 << 20;
  CUDA(cudaMemPoolCreate(&pool, &p));
  void *a, *b;
  CUDA(cudaMallocFromPoolAsync(&a, 3 << 20, pool, stream));
  FAILS(cudaErrorMemoryAllocation, cudaMallocFromPoolAsync(&b, 3 << 20, pool, stream));
  CUDA(cudaMallocFromPoolAsync(&b, 1 << 20, pool, stream));
  for (void* p : {a, b}) CUDA(cudaFreeAsync(p, stream));

  cudaMemAccessDesc access = {};
  access.location.type = cudaMemLocationTypeDevice;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  CUDA(cudaMemPoolSetAccess(pool, &access, 1));
  access.flags = cudaMemAccessFlagsProtNone;  // its own device has it always
  FAILS(cudaErrorInvalidValue, cudaMemPoolSetAccess(pool, &access, 1));
  cudaMemAccessFlags flags;
  CUDA(cudaMemPoolGetAccess(&flags, pool, &access.location));
  CHECK(flags == cudaMemAccessFlagsProtReadWrite);
  access.location.id = 7;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  FAILS(cudaErrorInvalidValue, cudaMemPoolSetAccess(pool, &access, 1));
  CUDA(cudaMemPoolDestroy(pool));
}

/// A new pool has none of the memory that a destroyed one has left.
static void after_a_destroyed_one(cudaStream_t stream) {
  auto p = properties();
  p.maxSize = 4 << 20;
  cudaMemPool_t pool;
  std::vector<void*> left(8);
  for (void*& memory : left) {
    CUDA(cudaMemPoolCreate(&pool, &p));
    CHECK(used(pool) == 0);
    CUDA(cudaMallocFromPoolAsync(&memory, 3 << 20, pool, stream));
    CHECK(used(pool) == 3 << 20);
    CUDA(cudaMemPoolDestroy(pool));
  }
  for (void* memory : left) CUDA(cudaFreeAsync(memory, stream));
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

  keeping(stream);
  limits_and_access(stream);
  after_a_destroyed_one(stream);

  const cudaMemPoolProps of_mine = properties();
  CUDA(cudaMemPoolCreate(&mine, &of_mine));
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
