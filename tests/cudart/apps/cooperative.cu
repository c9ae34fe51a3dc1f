// Cooperative groups: barriers of the grid, tiles of a warp, and groups by label.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <vector>

#include "tests/cudart/apps/check.h"

namespace cg = cooperative_groups;

/// A Jacobi sweep per step, from one buffer into the other; the grid waits between them.
__global__ void relax(float* a, float* b, int n, int steps) {
  const cg::grid_group grid = cg::this_grid();
  for (int s = 0; s < steps; ++s) {
    for (int i = 1 + static_cast<int>(grid.thread_rank()); i < n - 1;
         i += static_cast<int>(grid.size()))
      b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    grid.sync();
    float* const t = a;
    a = b;
    b = t;
  }
}

__global__ void tiles(const int* in, int* sums, int* maxima, int* inclusive, int* exclusive) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = in[i];
  sums[i] = cg::reduce(tile, v, cg::plus<int>());
  maxima[i] = cg::reduce(tile, v, cg::greater<int>());
  inclusive[i] = cg::inclusive_scan(tile, v);
  exclusive[i] = cg::exclusive_scan(tile, v, cg::plus<int>());
}

/// All groups of eight lanes of a warp vote in the same instructions.
__global__ void votes(const int* in, int* any, int* all) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  any[i] = tile.any(in[i] > 90);
  all[i] = tile.all(in[i] < 90);
}

__global__ void groups(const int* in, int* by_label, int* by_branch, int* counts) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = in[i];
  const auto same = cg::labeled_partition(warp, v % 3);
  by_label[i] = cg::reduce(same, v, cg::plus<int>());
  if (v % 2 == 0) {
    const cg::coalesced_group even = cg::coalesced_threads();
    by_branch[i] = cg::reduce(even, v, cg::plus<int>());
    if (even.thread_rank() == 0) atomicAdd(counts, static_cast<int>(even.size()));
  } else {
    by_branch[i] = -static_cast<int>(cg::binary_partition(cg::coalesced_threads(), v > 50).size());
  }
}

/// The two halves of a block have barriers of their own; data is copied asynchronously.
__global__ void halves(const int* in, int* out) {
  __shared__ int staged[128];
  __shared__ cg::block_tile_memory<128> scratch;
  const auto block = cg::this_thread_block(scratch);
  cg::memcpy_async(block, staged, in + blockIdx.x * 128, sizeof(int) * 128);
  cg::wait(block);
  const auto half = cg::tiled_partition<64>(block);
  out[blockIdx.x * 128 + threadIdx.x] = cg::reduce(half, staged[threadIdx.x], cg::plus<int>());
}

static void grid_barriers() {
  constexpr int n = 2000, kSteps = 4;
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) a[i] = b[i] = static_cast<float>(i * 7 % 31);
  float *da, *db;
  CUDA(cudaMalloc(&da, n * 4));
  CUDA(cudaMalloc(&db, n * 4));
  CUDA(cudaMemcpy(da, a.data(), n * 4, cudaMemcpyDefault));
  CUDA(cudaMemcpy(db, a.data(), n * 4, cudaMemcpyDefault));
  for (int s = 0; s < kSteps; ++s) {
    for (int i = 1; i < n - 1; ++i) b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    a.swap(b);
  }
  int blocks = 0, count = n, steps = kSteps;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, relax, 128, 0));
  CHECK(blocks > 0);
  void* args[] = {&da, &db, &count, &steps};
  CUDA(cudaLaunchCooperativeKernel(relax, dim3(8), dim3(128), args, 0, nullptr));
  CUDA(cudaMemcpy(b.data(), da, n * 4, cudaMemcpyDefault));
  for (int i = 0; i < n; ++i) CHECK(a[i] == b[i]);
  FAILS(cudaErrorCooperativeLaunchTooLarge,
        cudaLaunchCooperativeKernel(relax, dim3(1 << 20), dim3(128), args, 0, nullptr));
}

int main() {
  grid_barriers();
  constexpr int n = 512;
  int *in, *out;
  CUDA(cudaMallocManaged(&in, n * 4));
  CUDA(cudaMallocManaged(&out, 4 * n * 4));
  for (int i = 0; i < n; ++i) in[i] = i * 37 % 101;
  tiles<<<4, 128>>>(in, out, out + n, out + 2 * n, out + 3 * n);
  CUDA(cudaDeviceSynchronize());
  for (int t = 0; t < n; t += 16) {
    int sum = 0, most = 0;
    for (int i = t; i < t + 16; ++i) {
      CHECK(out[3 * n + i] == sum);
      sum += in[i];
      most = in[i] > most ? in[i] : most;
      CHECK(out[2 * n + i] == sum);
    }
    for (int i = t; i < t + 16; ++i) CHECK(out[i] == sum && out[n + i] == most);
  }
  votes<<<4, 128>>>(in, out, out + n);
  CUDA(cudaDeviceSynchronize());
  for (int t = 0; t < n; t += 8) {
    bool any = false, all = true;
    for (int i = t; i < t + 8; ++i) {
      any = any || in[i] > 90;
      all = all && in[i] < 90;
    }
    for (int i = t; i < t + 8; ++i) CHECK(out[i] == any && out[n + i] == all);
  }
  CUDA(cudaMemset(out, 0, 4 * n * 4));
  groups<<<4, 128>>>(in, out, out + n, out + 2 * n);
  CUDA(cudaDeviceSynchronize());
  int even = 0;
  for (int w = 0; w < n; w += 32) {
    int label[3] = {}, branch = 0, odd[2] = {};
    for (int i = w; i < w + 32; ++i) {
      label[in[i] % 3] += in[i];
      if (in[i] % 2 == 0) {
        branch += in[i];
        ++even;
      } else {
        ++odd[in[i] > 50];
      }
    }
    for (int i = w; i < w + 32; ++i) {
      CHECK(out[i] == label[in[i] % 3]);
      CHECK(out[n + i] == (in[i] % 2 == 0 ? branch : -odd[in[i] > 50]));
    }
  }
  CHECK(out[2 * n] == even);
  halves<<<n / 128, 128>>>(in, out);
  CUDA(cudaDeviceSynchronize());
  for (int t = 0; t < n; t += 64) {
    int sum = 0;
    for (int i = t; i < t + 64; ++i) sum += in[i];
    for (int i = t; i < t + 64; ++i) CHECK(out[i] == sum);
  }
  return passed();
}
