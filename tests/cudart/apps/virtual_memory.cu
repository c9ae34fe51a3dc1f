// Memory that is mapped by hand: a vector that grows where it is, memory at two addresses, wrong
// calls.
#include <cstdint>
#include <vector>

#include "tests/cudart/apps/check.h"
#include "tests/cudart/apps/driver_check.h"

__global__ void fill(int* p, size_t n, int value) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) p[i] = value + int(i);
}
__global__ void sum(const int* p, size_t n, unsigned long long* to) {
  unsigned long long own = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    own += p[i];
  atomicAdd(to, own);
}

static CUmemAllocationProp pinned() {
  CUmemAllocationProp p = {};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  return p;
}
static const CUmemAccessDesc kReadWrite = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                           CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

int main() {
  CUDA(cudaFree(nullptr));
  int there = 0;
  CU(cuDeviceGetAttribute(&there, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
  CHECK(there == 1);
  CUmemAllocationProp prop = pinned();
  size_t step = 0, recommended = 0;
  CU(cuMemGetAllocationGranularity(&step, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CU(cuMemGetAllocationGranularity(&recommended, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  CHECK(step != 0 && recommended % step == 0);
  size_t free_before = 0, total = 0;
  CUDA(cudaMemGetInfo(&free_before, &total));

  // More addresses than there is memory.
  CUdeviceptr start = 0;
  const size_t room = total + total / 8;
  CU(cuMemAddressReserve(&start, room, 0, 0, 0));
  CHECK(start % step == 0);
  std::vector<CUmemGenericAllocationHandle> parts;
  unsigned long long* total_sum = nullptr;
  CUDA(cudaMallocManaged(&total_sum, sizeof(*total_sum)));
  for (int part = 0; part < 3; ++part) {  // grows, and keeps what it has
    CUmemGenericAllocationHandle handle;
    CU(cuMemCreate(&handle, step, &prop, 0));
    CU(cuMemMap(start + part * step, step, 0, handle, 0));
    CU(cuMemSetAccess(start + part * step, step, &kReadWrite, 1));
    parts.push_back(handle);
    const size_t n = step / sizeof(int);
    fill<<<(n + 255) / 256, 256>>>(reinterpret_cast<int*>(start) + part * n, n, part);
    CUDA(cudaDeviceSynchronize());
    *total_sum = 0;
    sum<<<64, 256>>>(reinterpret_cast<int*>(start), (part + 1) * n, total_sum);
    CUDA(cudaDeviceSynchronize());
    unsigned long long expected = 0;
    for (int p = 0; p <= part; ++p) expected += n * (n - 1) / 2 + p * n;
    CHECK(*total_sum == expected);
  }
  size_t free_now = 0;
  CUDA(cudaMemGetInfo(&free_now, &total));
  CHECK(free_before - free_now >= 3 * step);

  // One copy across what was mapped in three parts.
  std::vector<int> host(3 * step / sizeof(int));
  CUDA(cudaMemcpy(host.data(), reinterpret_cast<void*>(start), 3 * step, cudaMemcpyDeviceToHost));
  CHECK(host[0] == 0 && host[step / sizeof(int)] == 1 && host[2 * step / sizeof(int) + 5] == 7);
  cudaPointerAttributes about;
  CUDA(cudaPointerGetAttributes(&about, reinterpret_cast<void*>(start + step)));
  CHECK(about.type == cudaMemoryTypeDevice);

  // One memory at another address besides.
  CUdeviceptr other = 0;
  CU(cuMemAddressReserve(&other, step, step, 0, 0));
  CU(cuMemMap(other, step, 0, parts[1], 0));
  unsigned long long flags = 7;
  CU(cuMemGetAccess(&flags, &kReadWrite.location, other));
  CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
  CU(cuMemSetAccess(other, step, &kReadWrite, 1));
  CU(cuMemGetAccess(&flags, &kReadWrite.location, other));
  CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  fill<<<1, 32>>>(reinterpret_cast<int*>(other), 32, 1000);
  CUDA(cudaMemcpy(host.data(), reinterpret_cast<void*>(start + step), 128, cudaMemcpyDeviceToHost));
  CHECK(host[0] == 1000 && host[31] == 1031);
  CUmemGenericAllocationHandle again;
  CU(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(other)));
  CHECK(again == parts[1]);
  CU(cuMemRelease(again));
  CUmemAllocationProp found = {};
  CU(cuMemGetAllocationPropertiesFromHandle(&found, parts[1]));
  CHECK(found.type == CU_MEM_ALLOCATION_TYPE_PINNED);

  // Through a descriptor.
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUmemGenericAllocationHandle shared, imported;
  CU(cuMemCreate(&shared, step, &prop, 0));
  int file = -1;
  CU(cuMemExportToShareableHandle(&file, shared, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CU(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(intptr_t(file)),
                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  CU_GIVES(
      CUDA_ERROR_INVALID_VALUE,
      cuMemExportToShareableHandle(&file, parts[0], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));

  // Calls that are wrong.
  CUdeviceptr no = 0;
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&no, 0, 0, 0, 0));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&no, step, 3, 0, 0));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&no, step, 0, 0, 1));
  CU_GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAddressReserve(&no, size_t(1) << 46, 0, 0, 0));
  prop = pinned();
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&again, step + 1, &prop, 0));
  CU_GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&again, total + step, &prop, 0));
  prop.location.id = 7;
  CU_GIVES(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&again, step, &prop, 0));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(start, step, 0, parts[0], 0));  // is mapped
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(start + room, step, 0, parts[0], 0));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(start + 4 * step, 2 * step, 0, parts[0], 0));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(start + 4 * step, step, step, parts[0], 0));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(start + 3 * step, step, &kReadWrite, 1));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(start, step / 2));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(start, room));  // something is mapped
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(other, 2 * step));
  CU_GIVES(CUDA_ERROR_INVALID_VALUE, cuMemRelease(12345));

  // Handles may go before mappings.
  for (const auto handle : parts) CU(cuMemRelease(handle));
  CUDA(cudaMemcpy(host.data(), reinterpret_cast<void*>(other), 128, cudaMemcpyDeviceToHost));
  CHECK(host[7] == 1007);
  CU(cuMemUnmap(start, 3 * step));
  CUDA(cudaMemcpy(host.data(), reinterpret_cast<void*>(other), 128, cudaMemcpyDeviceToHost));
  CHECK(host[7] == 1007);
  FAILS(cudaErrorInvalidValue,
        cudaMemcpy(host.data(), reinterpret_cast<void*>(start), 128, cudaMemcpyDeviceToHost));
  CU(cuMemUnmap(other, step));
  CU(cuMemAddressFree(start, room));
  CU(cuMemAddressFree(other, step));
  CU(cuMemRelease(shared));
  CU(cuMemRelease(imported));
  CUDA(cudaFree(total_sum));
  CUDA(cudaMemGetInfo(&free_now, &total));
  CHECK(free_now == free_before);
  return passed();
}
