// All ways in which memory gets its contents: `nearwarp check` has nothing to say about it. With
// argument "unwritten": memory that nobody wrote, and lanes outside of their masks.
#include <cooperative_groups.h>

#include <cstring>

#include "tests/cudart/apps/check.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 64;
constexpr size_t kBytes = kThreads * sizeof(int);

__device__ int variable[kThreads];
__managed__ int managed_variable[kThreads];

struct alignas(16) Padded {
  float x, y, z;
};

__global__ void add(int* out, const int* in) { out[threadIdx.x] += in[threadIdx.x]; }
__global__ void fill(int* out) { out[threadIdx.x] = threadIdx.x; }
__global__ void write_padded(Padded* p) { p[threadIdx.x] = {1, 2, 3}; }
__global__ void copy_padded(Padded* to, const Padded* from) { to[threadIdx.x] = from[threadIdx.x]; }

__global__ void shuffle_outside(int* out) {
  int v = threadIdx.x;
  if (threadIdx.x < 16) v = __shfl_sync(0xffffu, v, 20);
  out[threadIdx.x] = v;
}

__global__ void groups(int* out) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int v = out[threadIdx.x];
  if (tile.meta_group_rank() % 2 == 1) v = cg::coalesced_threads().shfl(v, 0);
  v += tile.shfl_xor(v, 4);
  cg::this_thread_block().sync();
  out[threadIdx.x] = v;
}

int* fresh() {
  int* p = nullptr;
  CUDA(cudaMalloc(&p, kBytes));
  return p;
}

int main(int argc, char** argv) {
  int* const out = fresh();
  CUDA(cudaMemset(out, 0, kBytes));
  if (argc > 1 && std::strcmp(argv[1], "unwritten") == 0) {
    int* const p = fresh();
    CUDA(cudaMemset(p, 0, kBytes / 4));
    add<<<1, kThreads>>>(out, p);
    cudaStream_t stream;  // the values that the launch before has written are gone
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    int* q = nullptr;
    CUDA(cudaMallocAsync(&q, kBytes, stream));
    add<<<1, kThreads, 0, stream>>>(out, q);
    CUDA(cudaMemsetAsync(q, 0, kBytes, stream));
    CUDA(cudaFreeAsync(q, stream));
    cudaGraph_t graph;
    CUDA(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable;
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 2; ++i) CUDA(cudaGraphLaunch(executable, stream));
    shuffle_outside<<<1, kThreads>>>(out);
    CUDA(cudaDeviceSynchronize());
    std::printf("passed\n");
    return 0;
  }
  const int host[kThreads] = {};
  const auto use = [&](const int* p) {
    add<<<1, kThreads>>>(out, p);
    CUDA(cudaDeviceSynchronize());
  };

  int* p = fresh();  // copies
  CUDA(cudaMemcpy(p, host, kBytes, cudaMemcpyHostToDevice));
  use(p);
  int* q = fresh();
  CUDA(cudaMemcpy(q, p, kBytes, cudaMemcpyDeviceToDevice));
  use(q);
  q = fresh();
  CUDA(cudaMemcpy2D(q, 32, host, 16, 16, kBytes / 32, cudaMemcpyHostToDevice));
  CUDA(cudaMemset2D(q + 4, 32, 0, 16, kBytes / 32));
  use(q);
  CUDA(cudaMemcpyToSymbol(variable, host, kBytes));
  void* symbol = nullptr;
  CUDA(cudaGetSymbolAddress(&symbol, variable));
  use(static_cast<int*>(symbol));

  q = fresh();  // kernels
  fill<<<1, kThreads>>>(q);
  use(q);
  Padded *from = nullptr, *to = nullptr;
  CUDA(cudaMalloc(&from, kThreads * sizeof(Padded)));
  CUDA(cudaMalloc(&to, kThreads * sizeof(Padded)));
  write_padded<<<1, kThreads>>>(from);
  copy_padded<<<1, kThreads>>>(to, from);

  managed_variable[0] = 1;  // the host's own hand
  use(managed_variable);
  CUDA(cudaMallocManaged(&q, kBytes));
  std::memset(q, 1, kBytes);
  use(q);
  CUDA(cudaMallocHost(&q, kBytes));
  std::memset(q, 1, kBytes);
  use(q);
  int registered[kThreads] = {};
  CUDA(cudaHostRegister(registered, kBytes, cudaHostRegisterMapped));
  CUDA(cudaHostGetDevicePointer(&q, registered, 0));
  use(q);

  cudaStream_t stream;  // graphs, pools
  CUDA(cudaStreamCreate(&stream));
  q = fresh();
  int* r = fresh();
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CUDA(cudaMemsetAsync(q, 1, kBytes, stream));
  CUDA(cudaMemcpyAsync(r, q, kBytes, cudaMemcpyDeviceToDevice, stream));
  add<<<1, kThreads, 0, stream>>>(out, r);
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable;
  CUDA(cudaGraphInstantiate(&executable, graph, 0));
  CUDA(cudaGraphLaunch(executable, stream));
  CUDA(cudaMallocAsync(&q, kBytes, stream));
  CUDA(cudaMemsetAsync(q, 0, kBytes, stream));
  add<<<1, kThreads, 0, stream>>>(out, q);
  CUDA(cudaFreeAsync(q, stream));
  CUDA(cudaStreamSynchronize(stream));

  groups<<<1, kThreads>>>(out);
  CUDA(cudaDeviceSynchronize());
  std::printf("passed\n");
  return 0;
}
