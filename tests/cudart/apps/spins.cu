// Blocks and lanes that wait for others by ordinary loads.
#include <string>

#include "tests/cudart/apps/check.h"

enum class Way { kCg, kCv, kPlain, kCounted, kClocked, kBarrier };

__device__ int load_plain(const int* p) {
  int v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

template <Way way>
__device__ int load(const int* p) {
  if (way == Way::kCg) return __ldcg(p);
  if (way == Way::kCv) return __ldcv(p);
  return load_plain(p);
}

/// Waits until *p is `value`; returns the number of loads, if it is counted.
template <Way way>
__device__ int wait_for(const int* p, int value) {
  int looks = 0;
  if (way == Way::kBarrier) {
    while (__syncthreads_or(load<way>(p) == value) == 0) __threadfence();
  } else if (way == Way::kClocked) {
    long long begun = clock64(), longest = 0;
    while (load<way>(p) != value) longest = max(longest, clock64() - begun);
    looks = longest > 0;
  } else {
    while (load<way>(p) != value) looks += way == Way::kCounted;
  }
  return looks;
}

/// Block b waits for block b + 1, which begins later.
template <Way way>
__global__ void chain(int* flags, int* out) {
  const int b = blockIdx.x;
  const bool waits = way == Way::kBarrier || threadIdx.x == 0;
  if (b + 1 < gridDim.x && waits) out[gridDim.x + b] = wait_for<way>(flags + b + 1, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    out[b] = b + 1 < static_cast<int>(gridDim.x) ? load_plain(out + b + 1) + 1 : 1;
    __threadfence();
    flags[b] = 1;
  }
}

template <Way way>
void check_chain(int blocks) {
  int *flags, *out;
  CUDA(cudaMalloc(&flags, blocks * sizeof(int)));
  CUDA(cudaMalloc(&out, 2 * blocks * sizeof(int)));
  CUDA(cudaMemset(flags, 0, blocks * sizeof(int)));
  chain<way><<<blocks, 64>>>(flags, out);
  CUDA(cudaDeviceSynchronize());
  for (int b = 0; b < blocks; ++b) {
    int v;
    CUDA(cudaMemcpy(&v, out + b, sizeof(v), cudaMemcpyDeviceToHost));
    CHECK(v == blocks - b);
  }
}

__global__ void never(const int* flag, int* out) {
  while (__ldcg(flag) == 0) {  // no thread sets it
  }
  *out = 1;
}

__global__ void count(unsigned* out, unsigned n) {
  unsigned v = threadIdx.x;
  for (unsigned i = 0; i < n; ++i) v = v * 1664525u + 1013904223u;
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "never") {
    int* flag;
    CUDA(cudaMalloc(&flag, 2 * sizeof(int)));
    never<<<3, 64>>>(flag, flag + 1);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    return passed();
  }
  if (how == "long" || how == "first") {
    unsigned* out;
    CUDA(cudaMalloc(&out, 1024 * sizeof(unsigned)));
    if (how == "long")
      count<<<4, 256>>>(out, 1000);
    else
      std::fputs("launching\n", stderr);
    count<<<4, 256>>>(out, 1u << 31);
    CUDA(cudaDeviceSynchronize());
    return passed();
  }
  check_chain<Way::kCg>(20);
  check_chain<Way::kCv>(20);
  check_chain<Way::kPlain>(20);
  check_chain<Way::kCounted>(3);
  check_chain<Way::kClocked>(3);
  check_chain<Way::kBarrier>(3);
  return passed();
}
