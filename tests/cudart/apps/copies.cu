// Copies of one, two and three dimensions, arrays, fills, symbols, and what is wrong with some.
#include <cstring>
#include <vector>

#include "tests/cudart/apps/check.h"

__device__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ double factor = 2.5;
__device__ const char* text = "no";

__global__ void scale(double* out) { out[threadIdx.x] = table[threadIdx.x] * factor; }

void rows() {
  const size_t width = 20, height = 7;
  std::vector<char> host(width * height), back(width * height, 0);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<char>(i);
  char* device;
  size_t pitch;
  CUDA(cudaMallocPitch(&device, &pitch, width, height));
  CHECK(pitch >= width && pitch % 32 == 0);
  CUDA(cudaMemcpy2D(device, pitch, host.data(), width, width, height, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy2D(back.data(), width, device, pitch, width, height, cudaMemcpyDeviceToHost));
  CHECK(host == back);
  CUDA(cudaMemset2D(device, pitch, 9, width / 2, height));
  CUDA(cudaMemcpy2D(back.data(), width, device, pitch, width, height, cudaMemcpyDefault));
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x)
      CHECK(back[y * width + x] == (x < width / 2 ? 9 : host[y * width + x]));
  FAILS(cudaErrorInvalidPitchValue,
        cudaMemcpy2D(device, width - 1, host.data(), width, width, height, cudaMemcpyHostToDevice));
  const size_t huge = size_t{1} << 33;  // 2^64 bytes and more
  FAILS(cudaErrorInvalidValue,
        cudaMemcpy2D(device, huge, device, huge, huge, huge, cudaMemcpyDeviceToDevice));
  CUDA(cudaFree(device));
}

void boxes() {
  const cudaExtent extent = make_cudaExtent(8 * sizeof(int), 4, 3);
  cudaPitchedPtr device;
  CUDA(cudaMalloc3D(&device, extent));
  std::vector<int> host(8 * 4 * 3), back(8 * 4 * 3);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<int>(i * i);
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(host.data(), 8 * sizeof(int), 8, 4);
  p.dstPtr = device;
  p.extent = extent;
  p.kind = cudaMemcpyHostToDevice;
  CUDA(cudaMemcpy3D(&p));
  p.srcPtr = device;
  p.dstPtr = make_cudaPitchedPtr(back.data(), 8 * sizeof(int), 8, 4);
  p.kind = cudaMemcpyDeviceToHost;
  CUDA(cudaMemcpy3D(&p));
  CHECK(host == back);
  CUDA(cudaMemset3D(device, 0, extent));
  CUDA(cudaMemcpy3DAsync(&p, 0));
  for (int v : back) CHECK(v == 0);
  CUDA(cudaFree(device.ptr));
}

void arrays() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CUDA(cudaMallocArray(&array, &format, 10, 5));
  std::vector<float> host(50), back(50);
  for (int i = 0; i < 50; ++i) host[i] = i;
  CUDA(cudaMemcpy2DToArray(array, 0, 0, host.data(), 40, 40, 5, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy2DFromArray(back.data(), 40, array, 0, 0, 40, 5, cudaMemcpyDeviceToHost));
  CHECK(host == back);
  cudaExtent extent;
  cudaChannelFormatDesc found;
  CUDA(cudaArrayGetInfo(&found, &extent, nullptr, array));
  CHECK(extent.width == 10 && extent.height == 5 && extent.depth == 0 && found.x == 32);
  cudaMemcpy3DParms p = {};  // a row of it, by an extent in elements
  p.srcArray = array;
  p.srcPos = make_cudaPos(2, 3, 0);
  p.dstPtr = make_cudaPitchedPtr(back.data(), 12, 3, 1);
  p.extent = make_cudaExtent(3, 1, 1);
  p.kind = cudaMemcpyDeviceToHost;
  CUDA(cudaMemcpy3D(&p));
  CHECK(back[0] == 32 && back[1] == 33 && back[2] == 34);
  p.extent.width = size_t{1} << 62;  // 2^64 bytes
  FAILS(cudaErrorInvalidValue, cudaMemcpy3D(&p));
  FAILS(cudaErrorInvalidValue,
        cudaMemcpy2DToArray(array, 4, 0, host.data(), 40, 40, 5, cudaMemcpyHostToDevice));
  CUDA(cudaFreeArray(array));
}

void symbols() {
  double* out;
  CUDA(cudaMalloc(&out, 8 * sizeof(double)));
  int value = 100;
  CUDA(cudaMemcpyToSymbol(table, &value, sizeof(int), 3 * sizeof(int)));
  scale<<<1, 8>>>(out);
  double host[8];
  CUDA(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i) CHECK(host[i] == (i == 3 ? 100 : i + 1) * 2.5);
  const double other = -1;
  CUDA(cudaMemcpyToSymbol(factor, &other, sizeof(other)));
  scale<<<1, 8>>>(out);
  CUDA(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  CHECK(host[0] == -1);
  int back[8];
  CUDA(cudaMemcpyFromSymbol(back, table, sizeof(back)));
  CHECK(back[3] == 100 && back[7] == 8);
  void* address;
  size_t bytes;
  CUDA(cudaGetSymbolAddress(&address, table));
  CUDA(cudaGetSymbolSize(&bytes, table));
  CHECK(bytes == sizeof(back));
  CUDA(cudaMemset(address, 0, bytes));
  CUDA(cudaMemcpyFromSymbol(back, table, sizeof(back)));
  CHECK(back[3] == 0);
  FAILS(cudaErrorInvalidValue, cudaMemcpyToSymbol(table, back, sizeof(back), 4));
  FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(&value, back, 4));
  CUDA(cudaFree(out));
}

void wild() {
  char* device;
  char host[64] = {};
  CUDA(cudaMalloc(&device, 64));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(device, host, 65, cudaMemcpyHostToDevice));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(device + (1 << 20), host, 1, cudaMemcpyHostToDevice));
  FAILS(cudaErrorInvalidValue,
        cudaMemcpy(device, reinterpret_cast<void*>(0x123), 8, cudaMemcpyHostToDevice));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(nullptr, device, 8, cudaMemcpyDeviceToHost));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(host, host, 8, cudaMemcpyHostToDevice));
  FAILS(cudaErrorInvalidMemcpyDirection,
        cudaMemcpy(device, host, 8, static_cast<cudaMemcpyKind>(9)));
  FAILS(cudaErrorInvalidValue, cudaMemset(host, 0, 8));
  FAILS(cudaErrorInvalidValue, cudaFree(device + 1));
  FAILS(cudaErrorInvalidValue, cudaFree(host));
  CUDA(cudaFree(device));
  FAILS(cudaErrorInvalidValue, cudaFree(device));
  CUDA(cudaFree(nullptr));
  CUDA(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  FAILS(cudaErrorMemoryAllocation, cudaMalloc(&device, size_t{1} << 60));
  FAILS(cudaErrorMemoryAllocation, cudaMalloc(&device, ~size_t{0}));
}

int main() {
  rows();
  boxes();
  arrays();
  symbols();
  wild();
  return passed();
}
