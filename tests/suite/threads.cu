// Programs about threads together: warps, atomics, groups, what kernels print, and how they end.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cassert>

#include "tests/suite/program.h"

using namespace suite;
namespace cg = cooperative_groups;

/// Moves even values to the front: a vote gives each lane its place.
__global__ void compact(const int* in, int* out, int* counts) {
  const int lane = threadIdx.x % 32, v = in[blockIdx.x * 32 + lane];
  const unsigned even = __ballot_sync(~0u, v % 2 == 0);
  const int before = __popc(even & ((1u << lane) - 1));
  out[blockIdx.x * 32 + (v % 2 == 0 ? before : __popc(even) + lane - before)] = v;
  if (lane == 0) counts[blockIdx.x] = __popc(even);
}
PROGRAM(warp_vote) {
  std::vector<int> in(256), want;
  for (int i = 0; i < 256; ++i) in[i] = i * 37 % 101;
  for (int w = 0; w < 8; ++w)
    for (int odd = 0; odd < 2; ++odd)
      for (int i = 0; i < 32; ++i)
        if (in[w * 32 + i] % 2 == odd) want.push_back(in[w * 32 + i]);
  int *out = device<int>(256), *counts = device<int>(8);
  compact<<<8, 32>>>(upload(in), out, counts);
  for (const int c : download(counts, 8)) std::printf("%d ", c);
  std::printf("even\n");
  return same("compacted", download(out, 256), want);
}

__global__ void shuffles(int* out) {
  const int lane = threadIdx.x;
  out[lane] = __shfl_sync(~0u, lane, lane / 8 * 8 + 7) * 1000 + __shfl_up_sync(~0u, lane, 3) * 10 + __any_sync(~0u, lane == 31) +
              __all_sync(~0u, lane < 31);
  const unsigned peers = __match_any_sync(~0u, lane % 5);
  out[32 + lane] = __popc(peers) * 100 + __ffs(peers) + (__activemask() == ~0u ? 1000 : 0);
  int sum = lane;
  for (int o = 1; o < 32; o *= 2) {
    const int other = __shfl_up_sync(~0u, sum, o);
    if (lane >= o) sum += other;
  }
  out[64 + lane] = sum;
}
PROGRAM(warp_shuffle) {
  std::vector<int> want(96);
  for (int l = 0; l < 32; ++l) {
    want[l] = (l / 8 * 8 + 7) * 1000 + (l < 3 ? l : l - 3) * 10 + 1;
    want[32 + l] = (l % 5 < 2 ? 7 : 6) * 100 + l % 5 + 1 + 1000;
    want[64 + l] = l * (l + 1) / 2;
  }
  int* const d = device<int>(96);
  shuffles<<<1, 32>>>(d);
  return same("lanes", download(d, 96), want);
}

__global__ void all_atomics(int* i, unsigned* u, float* f, double* d, unsigned long long* l) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&i[0], t), atomicSub(&i[1], 1), atomicMin(&i[2], -t), atomicMax(&i[3], t);
  atomicAnd(&u[0], ~(1u << t % 32)), atomicOr(&u[1], 1u << t % 16), atomicXor(&u[2], unsigned(t)), atomicInc(&u[3], 9);
  atomicAdd(f, 0.5f), atomicAdd(l, 1ull << 33);
  unsigned long long* const bits = reinterpret_cast<unsigned long long*>(d);  // an addition by compare and swap
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(__longlong_as_double(assumed) + 0.25));
  } while (assumed != old);
}
PROGRAM(atomics) {
  int* const i = device<int>(4);
  unsigned* const u = upload(std::vector<unsigned>{~0u, 0, 0, 0});
  float* const f = device<float>(1);
  double* const d = device<double>(1);
  unsigned long long* const l = device<unsigned long long>(1);
  all_atomics<<<8, 128>>>(i, u, f, d, l);
  for (const int v : download(i, 4)) std::printf("%d ", v);
  for (const unsigned v : download(u, 4)) std::printf("%x ", v);
  std::printf("%.1f %.2f %llu\n", download(f, 1)[0], download(d, 1)[0], download(l, 1)[0] >> 33);
  return 0;
}

/// The last block to end adds up what all have found.
__device__ unsigned blocks_done = 0;
__global__ void sum_in_one_launch(const int* in, int* parts, int* out, int n) {
  __shared__ int sum;
  __shared__ bool last;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  int own = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) own += in[i];
  atomicAdd(&sum, own);
  __syncthreads();
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += reinterpret_cast<volatile int*>(parts)[b];
    *out = all;
  }
}
PROGRAM(thread_fence) {
  const int n = 10000;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[i] = i;
  int* const out = device<int>(1);
  for (int round = 0; round < 2; ++round) sum_in_one_launch<<<20, 128>>>(upload(in), device<int>(20), out, n);
  std::printf("sum %d\n", download(out, 1)[0]);
  return 0;
}

__global__ void ranks_of_groups(int* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  out[block.thread_rank()] = cg::reduce(tile, int(block.thread_rank()), cg::plus<int>()) + int(tile.meta_group_rank()) * 1000;
  if (block.thread_rank() % 3 == 0) {
    cg::coalesced_group some = cg::coalesced_threads();
    out[64 + block.thread_rank()] = int(some.thread_rank() * 100 + some.size());
  }
}
PROGRAM(groups) {
  std::vector<int> want(128);
  for (int t = 0; t < 64; ++t) {
    want[t] = t / 8 * 64 + 28 + t / 8 * 1000;
    if (t % 3 == 0) want[64 + t] = (t < 32 ? t / 3 : (t - 33) / 3) * 100 + (t < 32 ? 11 : 11);
  }
  int* const d = device<int>(128);
  ranks_of_groups<<<1, 64>>>(d);
  return same("ranks", download(d, 128), want);
}

/// Fibonacci's numbers modulo 1000 over all blocks, each waiting for all others.
__global__ void steps_of_grid(int* a, int steps) {
  cg::grid_group grid = cg::this_grid();
  for (int s = 2; s < steps; ++s) {
    if (s % gridDim.x == blockIdx.x && threadIdx.x == 0) a[s] = (a[s - 1] + a[s - 2]) % 1000;
    grid.sync();
  }
}
PROGRAM(grid_sync) {
  int steps = 40;
  int* a = upload(std::vector<int>(steps, 1));
  void* parameters[] = {&a, &steps};
  CUDA(cudaLaunchCooperativeKernel(steps_of_grid, dim3(4), dim3(64), parameters, 0, nullptr));
  std::printf("number 40 ends with %d\n", download(a, steps)[steps - 1]);
  CUDA(cudaGetLastError());
  const cudaError_t too_many = cudaLaunchCooperativeKernel(steps_of_grid, dim3(1 << 20), dim3(64), parameters, 0, nullptr);
  std::printf("a million blocks: %s\n", cudaGetErrorName(too_many));
  return 0;
}

__global__ void hello(float x) {
  if (threadIdx.x == 0) printf("block %d: %s %5.2f %c %lld%%\n", blockIdx.x, "hello", x, 'a' + blockIdx.x, 1ll << 40);
}
PROGRAM(printf) {
  hello<<<2, 32>>>(3.14159f);
  CUDA(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float side) : side(side) {}
  __device__ float area() const override { return side * side; }
};
struct Disc : Shape {
  float radius;
  __device__ explicit Disc(float radius) : radius(radius) {}
  __device__ float area() const override { return 3 * radius * radius; }
};
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void with_objects(float* areas, int* numbers) {
  Shape* const s = threadIdx.x % 2 == 0 ? static_cast<Shape*>(new Square(threadIdx.x)) : new Disc(threadIdx.x);
  areas[threadIdx.x] = s->area();
  delete s;
  numbers[threadIdx.x] = fibonacci(threadIdx.x);
}
PROGRAM(objects) {
  std::vector<float> want(12);
  for (int t = 0; t < 12; ++t) want[t] = float(t * t * (t % 2 == 0 ? 1 : 3));
  float* const areas = device<float>(12);
  int* const numbers = device<int>(12);
  with_objects<<<1, 12>>>(areas, numbers);
  std::printf("fibonacci(11) = %d\n", download(numbers, 12)[11]);
  return same("areas", download(areas, 12), want);
}

__global__ void asserts(int n) { assert(int(threadIdx.x) < n); }
PROGRAM(device_assert) {
  asserts<<<1, 8>>>(8);
  std::printf("first: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  asserts<<<1, 8>>>(7);
  std::printf("second: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 5;
}
__global__ void beyond(int* p) { p[1 << 28] = 1; }
PROGRAM(wrong_address) {
  beyond<<<1, 1>>>(device<int>(1));
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  void* p = nullptr;
  std::printf("afterwards: %s\n", cudaGetErrorName(cudaMalloc(&p, 4)));
  return 7;
}
PROGRAM(wrong_calls) {
  int* const p = device<int>(4);
  void* q = nullptr;
  hello<<<1, 2048>>>(1);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  hello<<<1, 32, 1 << 20>>>(1);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("%s\n", cudaGetErrorName(cudaMemcpy(p, p, 4, cudaMemcpyKind(9))));
  std::printf("%s\n", cudaGetErrorName(cudaMalloc(&q, size_t(1) << 50)));
  std::printf("%s\n", cudaGetErrorName(cudaSetDevice(3)));
  cudaGetLastError();
  sum_in_one_launch<<<1, 32>>>(p, p, p, 0);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
