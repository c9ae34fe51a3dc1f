// Managed, pinned and registered memory, pools, attributes of pointers.
#include <cstdint>
#include <vector>

#include "tests/cudart/apps/check.h"

__managed__ int counts[4] = {10, 20, 30, 40};

__global__ void add_one(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}

void expect(const void* pointer, cudaMemoryType type) {
  cudaPointerAttributes a;
  CUDA(cudaPointerGetAttributes(&a, pointer));
  CHECK(a.type == type);
  if (type == cudaMemoryTypeUnregistered) return;
  CHECK(a.device == 0 && a.devicePointer != nullptr);
  CHECK((a.hostPointer == nullptr) == (type == cudaMemoryTypeDevice));
}

int main() {
  CHECK(counts[2] == 30);
  add_one<<<1, 4>>>(counts, 4);
  CUDA(cudaDeviceSynchronize());
  CHECK(counts[0] == 11 && counts[3] == 41);
  counts[1] = 5;
  add_one<<<1, 4>>>(counts, 4);
  CUDA(cudaDeviceSynchronize());
  CHECK(counts[1] == 6);

  const int n = 1000;
  int* managed;
  CUDA(cudaMallocManaged(&managed, n * sizeof(int)));
  for (int i = 0; i < n; ++i) managed[i] = i;
  add_one<<<8, 128>>>(managed, n);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) CHECK(managed[i] == i + 1);
  cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
  CUDA(cudaMemPrefetchAsync(managed, n * sizeof(int), here, 0));
  const cudaMemLocation nowhere = {cudaMemLocationTypeDevice, 1};
  const cudaMemLocation host = {cudaMemLocationTypeHost, 0};
  FAILS(cudaErrorInvalidDevice, cudaMemPrefetchAsync(managed, n * sizeof(int), nowhere, 0));
  FAILS(cudaErrorInvalidDevice, cudaMemAdvise(managed, n * sizeof(int),
                                              cudaMemAdviseSetPreferredLocation, nowhere));
  CUDA(cudaMemAdvise(managed, n * sizeof(int), cudaMemAdviseSetPreferredLocation, host));
  CUDA(cudaMemAdvise(managed, n * sizeof(int), cudaMemAdviseSetReadMostly, here));
  expect(managed + 10, cudaMemoryTypeManaged);

  int* pinned;
  CUDA(cudaHostAlloc(&pinned, n * sizeof(int), cudaHostAllocMapped));
  for (int i = 0; i < n; ++i) pinned[i] = -i;
  int* pinned_device;
  CUDA(cudaHostGetDevicePointer(&pinned_device, pinned, 0));
  add_one<<<8, 128>>>(pinned_device, n);
  CUDA(cudaDeviceSynchronize());
  CHECK(pinned[5] == -4);
  expect(pinned, cudaMemoryTypeHost);
  FAILS(cudaErrorInvalidValue, cudaFree(pinned));

  std::vector<int> own(n, 7);
  FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own.data()));
  CUDA(cudaHostRegister(own.data(), n * sizeof(int), cudaHostRegisterMapped));
  FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(own.data() + 3, 4, 0));
  int* own_device;
  CUDA(cudaHostGetDevicePointer(&own_device, own.data(), 0));
  own[1] = 50;
  add_one<<<8, 128>>>(own_device, n);
  CUDA(cudaDeviceSynchronize());
  CHECK(own[0] == 8 && own[1] == 51);
  expect(own.data(), cudaMemoryTypeHost);
  CUDA(cudaHostUnregister(own.data()));
  expect(own.data(), cudaMemoryTypeUnregistered);

  int *a, *b;
  CUDA(cudaMalloc(&a, 64));
  expect(a, cudaMemoryTypeDevice);
  CUDA(cudaMallocAsync(&b, 4096, cudaStreamPerThread));
  CUDA(cudaMemsetAsync(b, 0, 4096, cudaStreamPerThread));
  CUDA(cudaFreeAsync(b, cudaStreamPerThread));
  cudaMemPool_t pool;
  CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  uint64_t threshold = 1 << 20, back = 0;
  CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &back));
  CHECK(back == threshold);
  size_t free_before, free_after, total;
  CUDA(cudaMemGetInfo(&free_before, &total));
  CUDA(cudaMallocFromPoolAsync(&b, 1 << 20, pool, 0));
  CUDA(cudaMemGetInfo(&free_after, &total));
  CHECK(free_before - free_after == 1 << 20);
  CUDA(cudaFreeAsync(b, 0));

  CUDA(cudaFree(managed));
  CUDA(cudaFreeHost(pinned));
  CUDA(cudaDeviceReset());
  return passed();
}
