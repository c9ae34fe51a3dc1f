// Launches that fail, and calls that fail beside them. "asked": the errors are asked for. "returned":
// no launch fails, and what another call returns is looked at.
#include <cstdio>
#include <cstring>

__global__ void fill(int* p) { p[threadIdx.x] = 1; }
__global__ void with_shared(int* p) {
  extern __shared__ int words[];
  p[0] = words[threadIdx.x];
}

int main(int argc, char** argv) {
  int* p;
  if (argc > 1 && std::strcmp(argv[1], "returned") == 0) {
    size_t bytes = size_t{1} << 50;
    while (cudaMalloc(&p, bytes) != cudaSuccess) bytes = 128;
    fill<<<1, 32>>>(p);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
  }
  cudaMallocManaged(&p, 128);
  fill<<<1, 32>>>(p);
  for (int i = 0; i < 2; ++i) fill<<<1, 1025>>>(p);
  fill<<<0, 32>>>(p);
  with_shared<<<1, 32, 300000>>>(p);
  if (argc == 1) cudaMemset(nullptr, 0, 4);
  cudaEvent_t event;  // not ready is no error
  cudaEventCreate(&event);
  cudaEventQuery(event);
  if (argc > 1) std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  cudaDeviceSynchronize();
  std::printf("done %d\n", p[31]);
  return 0;
}
