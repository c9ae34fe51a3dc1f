// Several devices in the driver's interface: contexts of each, whose memory is whose, peer access,
// and the runtime beside it.
#include <cuda.h>

#include <cstring>
#include <vector>

#include "tests/cudart/apps/check.h"
#include "tests/cudart/apps/driver_check.h"

__global__ void add_one(int* value) { *value += 1; }

int main(int, char** argv) {
  const int expected = std::atoi(argv[1]);
  int count = 0;
  CU(cuInit(0));
  CU(cuDeviceGetCount(&count));
  CHECK(count == expected && count >= 2);
  CUdevice device = -1;
  CHECK(cuDeviceGet(&device, count) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(cuDeviceGet(&device, -1) == CUDA_ERROR_INVALID_DEVICE);
  CUcontext none = nullptr;
  CHECK(cuCtxCreate(&none, nullptr, 0, count) == CUDA_ERROR_INVALID_DEVICE);

  std::vector<CUcontext> contexts(count);
  std::vector<CUdeviceptr> memory(count);
  CUuuid first;
  CU(cuDeviceGetUuid(&first, 0));
  for (int d = 0; d < count; ++d) {
    CU(cuDeviceGet(&device, d));
    CHECK(device == d);
    CUuuid own;
    CU(cuDeviceGetUuid(&own, d));
    CHECK((std::memcmp(&own, &first, sizeof(own)) == 0) == (d == 0));
    CU(cuCtxCreate(&contexts[d], nullptr, 0, d));
    CU(cuCtxGetDevice(&device));
    CHECK(device == d);
    CU(cuMemAlloc(&memory[d], 4096));
    CU(cuMemsetD32(memory[d], 100 + d, 1024));
  }
  // Each has its own memory, whatever is current.
  for (int d = 0; d < count; ++d) {
    int ordinal = -1;
    CU(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory[d]));
    CHECK(ordinal == d);
  }
  CUcontext popped = nullptr;
  CU(cuCtxPopCurrent(&popped));
  CHECK(popped == contexts[count - 1]);
  CU(cuCtxGetDevice(&device));
  CHECK(device == count - 2);
  CU(cuCtxSetCurrent(contexts[0]));
  CU(cuCtxGetDevice(&device));
  CHECK(device == 0);

  // Peers.
  int can = 0;
  CU(cuDeviceCanAccessPeer(&can, 0, 1));
  CHECK(can == 1);
  CHECK(cuCtxDisablePeerAccess(contexts[1]) == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  CU(cuCtxEnablePeerAccess(contexts[1], 0));
  CHECK(cuCtxEnablePeerAccess(contexts[1], 0) == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  CHECK(cuCtxEnablePeerAccess(contexts[0], 0) == CUDA_ERROR_INVALID_DEVICE);
  CU(cuMemcpyPeer(memory[0], contexts[0], memory[1], contexts[1], 4096));
  int value = 0;
  CU(cuMemcpyDtoH(&value, memory[0], sizeof(value)));
  CHECK(value == 101);
  CU(cuCtxDisablePeerAccess(contexts[1]));

  // Memory of a device goes with its last context; that of others stays.
  CU(cuCtxDestroy(contexts[1]));
  CU(cuMemcpyDtoH(&value, memory[0], sizeof(value)));
  CHECK(value == 101);
  CHECK(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory[1]) ==
        CUDA_ERROR_INVALID_VALUE);

  // Primary contexts, which are those of the runtime.
  CUcontext primary[2];
  for (int d = 0; d < 2; ++d) CU(cuDevicePrimaryCtxRetain(&primary[d], d));
  CHECK(primary[0] != primary[1]);
  CU(cuCtxSetCurrent(primary[1]));
  CUDA(cudaGetDevice(&device));
  CHECK(device == 1);
  CUDA(cudaSetDevice(0));
  CUcontext current = nullptr;
  CU(cuCtxGetCurrent(&current));
  CHECK(current == primary[0]);
  int* counted = nullptr;
  CUDA(cudaMalloc(&counted, sizeof(int)));
  CUDA(cudaMemset(counted, 0, sizeof(int)));
  add_one<<<1, 1>>>(counted);
  CUDA(cudaMemcpy(&value, counted, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(value == 1);
  for (int d = 0; d < 2; ++d) CU(cuDevicePrimaryCtxRelease(d));
  std::puts("passed");
}
