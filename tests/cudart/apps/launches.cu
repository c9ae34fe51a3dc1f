// Every form of launching, streams and events, attributes and occupancy of kernels.
#include <algorithm>
#include <cstdint>

#include "tests/cudart/apps/check.h"

struct Big {
  char tag;
  double values[40];
  short last;
};

__global__ void take_struct(Big big, char c, int* out) {
  *out = big.tag + static_cast<int>(big.values[39]) + big.last + c;
}

template <class T>
__global__ void put(T* out, T value) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void reverse(int* data) {
  extern __shared__ int copy[];
  copy[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
}

__global__ void dimensions(unsigned* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}

__global__ void empty() {}

void on_host(void* data) { ++*static_cast<int*>(data); }

int main() {
  int *device, host[256];
  CUDA(cudaMalloc(&device, sizeof(host)));
  Big big = {};
  big.tag = 1;
  big.values[39] = 20;
  big.last = 300;
  take_struct<<<1, 1>>>(big, 4, device);
  CUDA(cudaMemcpy(host, device, 4, cudaMemcpyDeviceToHost));
  CHECK(host[0] == 325);

  int value = 77;
  void* args[] = {&device, &value};
  cudaStream_t stream;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(put<int>), dim3(2), dim3(64), args, 0,
                        stream));
  CUDA(cudaMemcpyAsync(host, device, 512, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaStreamSynchronize(stream));
  CHECK(host[127] == 77);
  value = 78;
  CUDA(cudaLaunchCooperativeKernel(put<int>, dim3(2), dim3(64), args, 0, stream));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(32);
  config.stream = stream;
  CUDA(cudaLaunchKernelEx(&config, put<int>, device, 79));
  CUDA(cudaMemcpy(host, device, 512, cudaMemcpyDeviceToHost));
  CHECK(host[0] == 79 && host[31] == 79 && host[32] == 78 && host[127] == 78);
  put<double><<<1, 4, 0, cudaStreamLegacy>>>(reinterpret_cast<double*>(device), 0.5);
  CUDA(cudaMemcpy(host, device, 32, cudaMemcpyDeviceToHost));
  CHECK(reinterpret_cast<double*>(host)[3] == 0.5);

  for (int i = 0; i < 256; ++i) host[i] = i;
  CUDA(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
  reverse<<<1, 256, 1024>>>(device);
  CUDA(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 256; ++i) CHECK(host[i] == 255 - i);

  dimensions<<<dim3(2, 2, 2), dim3(4, 2, 4)>>>(reinterpret_cast<unsigned*>(device));
  CUDA(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 256; ++i) CHECK(host[i] == i / 32 * 1000 + i % 32);

  cudaEvent_t start, end, untimed;
  CUDA(cudaEventCreate(&start));
  CUDA(cudaEventCreate(&end));
  CUDA(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  CUDA(cudaEventRecord(start, stream));
  for (int i = 0; i < 10; ++i) empty<<<100, 64, 0, stream>>>();
  CUDA(cudaEventRecord(end, stream));
  CUDA(cudaEventRecord(untimed, stream));
  CUDA(cudaStreamWaitEvent(cudaStreamLegacy, end));
  CUDA(cudaEventSynchronize(end));
  CUDA(cudaEventQuery(end));
  float milliseconds = -1;
  CUDA(cudaEventElapsedTime(&milliseconds, start, end));
  CHECK(milliseconds > 0 && milliseconds < 100);
  FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, untimed));
  int calls = 0;
  CUDA(cudaLaunchHostFunc(stream, on_host, &calls));
  CUDA(cudaStreamQuery(stream));
  CHECK(calls == 1);
  CUDA(cudaStreamDestroy(stream));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(stream));
  CUDA(cudaEventDestroy(start));

  cudaFuncAttributes attributes;
  CUDA(cudaFuncGetAttributes(&attributes, put<int>));
  CHECK(attributes.ptxVersion == 75 && attributes.numRegs > 0);
  CHECK(attributes.maxThreadsPerBlock == 1024 && attributes.sharedSizeBytes == 0);
  int blocks = 0, sms = 0, grid = 0, block = 0;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, put<int>, 256, 0));
  CHECK(blocks > 0);
  int with_shared = 0;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&with_shared, reverse, 64, 30000));
  CHECK(with_shared == 1);
  CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, put<int>, 0, 0));
  CHECK(grid > 0 && block > 0);
  CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  cudaDeviceProp properties;
  CUDA(cudaGetDeviceProperties(&properties, 0));
  CHECK(properties.multiProcessorCount == sms && properties.warpSize == 32);
  CHECK(properties.maxThreadsPerBlock == 1024 && properties.totalGlobalMem > 1 << 20);
  CHECK(properties.maxThreadsPerMultiProcessor >= 1024 && properties.major >= 7);
  CHECK(properties.sharedMemPerBlockOptin >= properties.sharedMemPerBlock);
  CHECK(properties.concurrentManagedAccess == 1 && properties.unifiedAddressing == 1);
  int count = 0, current = -1, version = 0;
  CUDA(cudaGetDeviceCount(&count));
  CUDA(cudaGetDevice(&current));
  CUDA(cudaRuntimeGetVersion(&version));
  CHECK(count == 1 && current == 0 && version / 1000 == 13);
  FAILS(cudaErrorInvalidDevice, cudaSetDevice(1));
  return passed();
}
