// CUB: algorithms of the device, of thread blocks and of warps, each against the host's own.
#include <algorithm>
#include <cstdint>
#include <cub/cub.cuh>
#include <numeric>
#include <string>
#include <vector>

#include "tests/cudart/apps/check.h"

namespace {

constexpr int kThreads = 128, kItems = 4;

std::vector<int> numbers(size_t n, uint32_t range) {
  std::vector<int> v(n);
  uint32_t state = 777;
  for (int& x : v) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<int>((state >> 8) % range);
  }
  return v;
}

template <class T>
struct Buffer {
  explicit Buffer(size_t n) : size(n) {
    CUDA(cudaMalloc(&data, std::max<size_t>(n, 1) * sizeof(T)));
  }
  explicit Buffer(const std::vector<T>& v) : Buffer(v.size()) {
    CUDA(cudaMemcpy(data, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Buffer() { cudaFree(data); }
  std::vector<T> host() const {
    std::vector<T> v(size);
    CUDA(cudaMemcpy(v.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }
  T* data;
  size_t size;
};

/// CUB's calls come in pairs: the first says how much memory the second needs.
template <class Call>
void twice(Call call) {
  size_t bytes = 0;
  CUDA(call(nullptr, bytes));
  const Buffer<char> scratch(bytes);
  CUDA(call(scratch.data, bytes));
  CUDA(cudaDeviceSynchronize());
}

struct Small {
  __device__ bool operator()(int x) const { return x < 100; }
};

void whole_device(size_t n) {
  const std::vector<int> h = numbers(n, 256);
  const Buffer<int> in(h), out(n), count(1);
  twice([&](void* p, size_t& b) { return cub::DeviceReduce::Sum(p, b, in.data, count.data, n); });
  CHECK(count.host()[0] == std::accumulate(h.begin(), h.end(), 0));
  twice([&](void* p, size_t& b) { return cub::DeviceReduce::Max(p, b, in.data, count.data, n); });
  CHECK(count.host()[0] == *std::max_element(h.begin(), h.end()));
  std::vector<int> expected(n);
  std::partial_sum(h.begin(), h.end(), expected.begin());
  twice([&](void* p, size_t& b) {
    return cub::DeviceScan::InclusiveSum(p, b, in.data, out.data, n);
  });
  CHECK(out.host() == expected);
  expected = h;
  std::sort(expected.begin(), expected.end(), std::greater<int>());
  twice([&](void* p, size_t& b) {
    return cub::DeviceRadixSort::SortKeysDescending(p, b, in.data, out.data, n);
  });
  CHECK(out.host() == expected);
  twice([&](void* p, size_t& b) {
    return cub::DeviceSelect::If(p, b, in.data, out.data, count.data, n, Small());
  });
  expected.clear();
  std::copy_if(h.begin(), h.end(), std::back_inserter(expected), [](int x) { return x < 100; });
  std::vector<int> kept = out.host();
  kept.resize(static_cast<size_t>(count.host()[0]));
  CHECK(kept == expected);
  std::vector<int> bins(16);
  for (const int x : h) ++bins[static_cast<size_t>(x) / 16];
  const Buffer<int> histogram(16);
  twice([&](void* p, size_t& b) {
    return cub::DeviceHistogram::HistogramEven(p, b, in.data, histogram.data, 17, 0, 256,
                                               static_cast<int>(n));
  });
  CHECK(histogram.host() == bins);
}

__global__ void block_kernel(const int* in, int* sorted, int* scanned, int* sums) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
  using Scan = cub::BlockScan<int, kThreads>;
  using Reduce = cub::BlockReduce<int, kThreads>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Sort::TempStorage sort;
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
  } s;
  const int start = blockIdx.x * kThreads * kItems;
  int v[kItems], prefix[kItems];
  Load(s.load).Load(in + start, v);
  __syncthreads();
  Scan(s.scan).ExclusiveSum(v, prefix);
  __syncthreads();
  Store(s.store).Store(scanned + start, prefix);
  __syncthreads();
  const int sum = Reduce(s.reduce).Sum(v);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  __syncthreads();
  Sort(s.sort).Sort(v);
  __syncthreads();
  Store(s.store).Store(sorted + start, v);
}

__global__ void warp_kernel(const int* in, int* sums, int* scanned, int* sorted) {
  __shared__ typename cub::WarpReduce<int>::TempStorage reduce[kThreads / 32];
  __shared__ typename cub::WarpScan<int>::TempStorage scan[kThreads / 32];
  using Sort = cub::WarpMergeSort<int, 2, 32>;
  __shared__ typename Sort::TempStorage sort[kThreads / 32];
  const int warp = threadIdx.x / 32, i = blockIdx.x * kThreads + threadIdx.x;
  const int v = in[i];
  const int sum = cub::WarpReduce<int>(reduce[warp]).Sum(v);
  if (threadIdx.x % 32 == 0) sums[i / 32] = sum;
  int prefix;
  cub::WarpScan<int>(scan[warp]).InclusiveSum(v, prefix);
  scanned[i] = prefix;
  int two[2] = {v, v ^ 1};
  Sort(sort[warp]).Sort(two, [](int a, int b) { return a < b; });
  sorted[2 * i] = two[0];
  sorted[2 * i + 1] = two[1];
}

void blocks_and_warps() {
  constexpr int kBlocks = 5, kTile = kThreads * kItems, n = kBlocks * kTile;
  const std::vector<int> h = numbers(n, 1 << 20);
  const Buffer<int> in(h), sorted(2 * n), scanned(n), sums(n);
  block_kernel<<<kBlocks, kThreads>>>(in.data, sorted.data, scanned.data, sums.data);
  CUDA(cudaDeviceSynchronize());
  std::vector<int> s = sorted.host(), p = scanned.host(), t = sums.host();
  for (int b = 0; b < kBlocks; ++b) {
    std::vector<int> tile(h.begin() + b * kTile, h.begin() + (b + 1) * kTile);
    CHECK(t[b] == std::accumulate(tile.begin(), tile.end(), 0));
    int sum = 0;
    for (int i = 0; i < kTile; ++i) {
      CHECK(p[b * kTile + i] == sum);
      sum += tile[i];
    }
    std::sort(tile.begin(), tile.end());
    CHECK(std::equal(tile.begin(), tile.end(), s.begin() + b * kTile));
  }
  warp_kernel<<<n / kThreads, kThreads>>>(in.data, sums.data, scanned.data, sorted.data);
  CUDA(cudaDeviceSynchronize());
  s = sorted.host(), p = scanned.host(), t = sums.host();
  for (int w = 0; w < n / 32; ++w) {
    int sum = 0;
    std::vector<int> both;
    for (int i = w * 32; i < (w + 1) * 32; ++i) {
      sum += h[i];
      CHECK(p[i] == sum);
      both.push_back(h[i]);
      both.push_back(h[i] ^ 1);
    }
    CHECK(t[w] == sum);
    std::sort(both.begin(), both.end());
    CHECK(std::equal(both.begin(), both.end(), s.begin() + w * 64));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "device") {
    for (const size_t n : {1, 1000, 20000}) whole_device(n);
  } else {
    blocks_and_warps();
  }
  return passed();
}
