// Kernels that launch kernels: do they do what CUDA says of dynamic parallelism?
#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/cudart/apps/check.h"

// --- A recursive quicksort -----------------------------------------------------------------------

__device__ void insertion_sort(int* first, int* last) {
  for (int* i = first; i < last; ++i)
    for (int* j = i; j > first && j[-1] > j[0]; --j) {
      const int t = j[0];
      j[0] = j[-1];
      j[-1] = t;
    }
}

__global__ void quicksort(int* data, int left, int right, int depth) {
  if (depth >= 16 || right - left <= 32) {
    insertion_sort(data + left, data + right + 1);
    return;
  }
  const int pivot = data[(left + right) / 2];
  int l = left, r = right;
  while (l <= r) {
    while (data[l] < pivot) ++l;
    while (data[r] > pivot) --r;
    if (l <= r) {
      const int t = data[l];
      data[l++] = data[r];
      data[r--] = t;
    }
  }
  if (left < r) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, s>>>(data, left, r, depth + 1);
    cudaStreamDestroy(s);
  }
  if (l < right) quicksort<<<1, 1, 0, cudaStreamFireAndForget>>>(data, l, right, depth + 1);
}

void check_quicksort() {
  const int n = 3000;
  std::vector<int> want(n);
  unsigned state = 1;
  for (int& v : want) v = static_cast<int>((state = state * 1664525u + 1013904223u) >> 8);
  int* data;
  CUDA(cudaMallocManaged(&data, n * sizeof(int)));
  std::memcpy(data, want.data(), n * sizeof(int));
  quicksort<<<1, 1>>>(data, 0, n - 1, 0);
  CUDA(cudaDeviceSynchronize());
  std::sort(want.begin(), want.end());
  CHECK(std::equal(want.begin(), want.end(), data));
  CUDA(cudaFree(data));
}

// --- Breadth-first search: long lists by nested launches, levels by tail launches
// -----------------

struct Graph {
  const int *first, *neighbours;
  int *level, *queue, *next;
  int *count, *next_count;
};

__device__ void visit(const Graph& g, int vertex, int level) {
  if (atomicCAS(g.level + vertex, -1, level) == -1) g.next[atomicAdd(g.next_count, 1)] = vertex;
}

__global__ void expand(Graph g, int vertex, int level) {
  const int i = g.first[vertex] + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < g.first[vertex + 1]) visit(g, g.neighbours[i], level);
}

__global__ void bfs_level(Graph g, int level);

__global__ void next_level(Graph g, int level) {
  Graph other = g;
  other.queue = g.next;
  other.next = g.queue;
  other.count = g.next_count;
  other.next_count = g.count;
  const int n = *other.count;
  *other.next_count = 0;
  if (n != 0) bfs_level<<<(n + 63) / 64, 64, 0, cudaStreamTailLaunch>>>(other, level + 1);
}

__global__ void bfs_level(Graph g, int level) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i == 0) next_level<<<1, 1, 0, cudaStreamTailLaunch>>>(g, level);
  if (i >= *g.count) return;
  const int vertex = g.queue[i], degree = g.first[vertex + 1] - g.first[vertex];
  if (degree > 16) {
    expand<<<(degree + 31) / 32, 32>>>(g, vertex, level);
  } else {
    for (int k = g.first[vertex]; k < g.first[vertex + 1]; ++k) visit(g, g.neighbours[k], level);
  }
}

void check_bfs() {
  const int n = 2000;
  std::vector<std::vector<int>> lists(n);
  unsigned state = 7;
  for (int v = 0; v < n; ++v) {
    const int degree = v % 97 == 0 ? 150 : 2;
    for (int k = 0; k < degree; ++k)
      lists[v].push_back(static_cast<int>(((state = state * 1664525u + 1013904223u) >> 8) % n));
    lists[v].push_back((v + 1) % n);
  }
  int* memory;
  CUDA(cudaMallocManaged(&memory, 64 * n * sizeof(int)));
  int* at = memory;
  const auto take = [&](int count) {
    int* p = at;
    at += count;
    return p;
  };
  int *first = take(n + 1), *level = take(n), *queue = take(n), *next = take(n), *counts = take(2);
  int* neighbours = at;
  first[0] = 0;
  for (int v = 0; v < n; ++v) {
    std::copy(lists[v].begin(), lists[v].end(), neighbours + first[v]);
    first[v + 1] = first[v] + static_cast<int>(lists[v].size());
  }
  std::fill(level, level + n, -1);
  level[0] = queue[0] = 0;
  counts[0] = 1;
  counts[1] = 0;
  bfs_level<<<1, 64>>>(Graph{first, neighbours, level, queue, next, counts, counts + 1}, 1);
  CUDA(cudaDeviceSynchronize());
  std::vector<int> want(n, -1), frontier{0};
  want[0] = 0;
  for (int l = 1; !frontier.empty(); ++l) {
    std::vector<int> found;
    for (const int v : frontier)
      for (const int w : lists[v])
        if (want[w] == -1) {
          want[w] = l;
          found.push_back(w);
        }
    frontier = found;
  }
  CHECK(std::equal(want.begin(), want.end(), level));
  CUDA(cudaFree(memory));
}

// --- Adaptive refinement: squares that the circle crosses are divided ----------------------------

__host__ __device__ bool crossed(float x, float y, float size) {
  int inside = 0;
  for (int corner = 0; corner < 4; ++corner) {
    const float cx = x + (corner & 1 ? size : 0), cy = y + (corner & 2 ? size : 0);
    inside += cx * cx + cy * cy < 0.5f;
  }
  return inside != 0 && inside != 4;
}

__global__ void refine(float x, float y, float size, int level, int* leaves) {
  const float half = size / 2;
  const float sx = x + half * (threadIdx.x & 1), sy = y + half * (threadIdx.x >> 1);
  if (level < 6 && crossed(sx, sy, half))
    refine<<<1, 4>>>(sx, sy, half, level + 1, leaves);
  else
    atomicAdd(leaves + level, 1);
}

void refine_on_host(float x, float y, float size, int level, int* leaves) {
  const float half = size / 2;
  for (int i = 0; i < 4; ++i) {
    const float sx = x + half * (i & 1), sy = y + half * (i >> 1);
    if (level < 6 && crossed(sx, sy, half))
      refine_on_host(sx, sy, half, level + 1, leaves);
    else
      ++leaves[level];
  }
}

void check_refinement() {
  int *leaves, want[7] = {};
  CUDA(cudaMallocManaged(&leaves, sizeof(want)));
  CUDA(cudaMemset(leaves, 0, sizeof(want)));
  refine<<<1, 4>>>(0, 0, 1, 0, leaves);
  CUDA(cudaDeviceSynchronize());
  refine_on_host(0, 0, 1, 0, want);
  CHECK(std::equal(want, want + 7, leaves));
  CHECK(want[6] > 50);
  CUDA(cudaFree(leaves));
}

// --- Orders --------------------------------------------------------------------------------------

__device__ int steps;
__device__ int order[16];

__global__ void mark(int what) { order[what] = ++steps; }

__global__ void first_tail() {
  mark<<<1, 1>>>(5);
  mark<<<1, 1, 0, cudaStreamTailLaunch>>>(6);
  order[4] = ++steps;
}

__global__ void parent() {
  mark<<<1, 1, 0, cudaStreamTailLaunch>>>(0);  // the first of the tail
  first_tail<<<1, 1, 0, cudaStreamTailLaunch>>>();
  mark<<<1, 1, 0, cudaStreamTailLaunch>>>(7);
  cudaStream_t s, t;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  cudaEvent_t e;
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  mark<<<1, 1, 0, s>>>(1);
  cudaEventRecord(e, s);
  cudaStreamWaitEvent(t, e, 0);
  mark<<<1, 1, 0, t>>>(2);  // after 1
  mark<<<1, 1, 0, s>>>(3);  // after 1
  mark<<<1, 1, 0, cudaStreamFireAndForget>>>(8);
  cudaEventDestroy(e);
  cudaStreamDestroy(s);
  cudaStreamDestroy(t);
}

__global__ void after() { order[9] = ++steps; }

void check_orders() {
  parent<<<1, 1>>>();
  after<<<1, 1>>>();
  int o[16];
  CUDA(cudaMemcpyFromSymbol(o, order, sizeof(o)));
  CHECK(o[1] < o[2] && o[1] < o[3]);
  for (const int child : {1, 2, 3, 8}) CHECK(o[child] > 0 && o[child] < o[0]);
  CHECK(o[0] < o[4] && o[4] < o[5] && o[5] < o[6] && o[6] < o[7] && o[7] < o[9]);
  CHECK(o[9] == 10);
}

// --- Copies, fills, memory -----------------------------------------------------------------------

__global__ void add_one(int* p, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) p[i] += 1;
}
__global__ void release(int* p) {
  if (cudaFree(p) != cudaSuccess) __trap();
}

__global__ void with_memory(int* out, int n) {
  int* p;
  if (cudaMalloc(&p, n * sizeof(int)) != cudaSuccess) __trap();
  cudaMemsetAsync(p, 0, n * sizeof(int), 0);
  add_one<<<(n + 63) / 64, 64>>>(p, n);
  cudaMemcpyAsync(out, p, n * sizeof(int), cudaMemcpyDeviceToDevice, 0);
  cudaMemset2DAsync(out + n, 16, 1, 8, 4, 0);  // two ints of every four
  cudaMemcpy2DAsync(out + n + 16, 8, out + n, 16, 8, 4, cudaMemcpyDeviceToDevice, 0);
  release<<<1, 1, 0, cudaStreamTailLaunch>>>(p);
}

void check_memory() {
  const int n = 1000;
  int* out;
  CUDA(cudaMallocManaged(&out, (n + 24) * sizeof(int)));
  CUDA(cudaMemset(out, 0, (n + 24) * sizeof(int)));
  with_memory<<<1, 1>>>(out, n);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) CHECK(out[i] == 1);
  for (int i = 0; i < 16; ++i) CHECK(out[n + i] == (i % 4 < 2 ? 0x01010101 : 0));
  for (int i = 0; i < 8; ++i) CHECK(out[n + 16 + i] == 0x01010101);
  CUDA(cudaFree(out));
}

// --- What the runtime says to kernels ------------------------------------------------------------

struct Answers {
  int sms, device, count, version, blocks;
  size_t pending;
  cudaFuncAttributes attributes;
  cudaError_t wrong_block, wrong_again, too_much_shared, stream_twice, unknown_stream, wrong_flags;
  cudaError_t peeked, got, none;
  char name[32];
};

__global__ void ask(Answers* a) {
  cudaDeviceGetAttribute(&a->sms, cudaDevAttrMultiProcessorCount, 0);
  cudaGetDevice(&a->device);
  cudaGetDeviceCount(&a->count);
  cudaRuntimeGetVersion(&a->version);
  cudaDeviceGetLimit(&a->pending, cudaLimitDevRuntimePendingLaunchCount);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a->blocks, add_one, 128, 1000);
  cudaFuncGetAttributes(&a->attributes, add_one);
  add_one<<<1, 2000>>>(nullptr, 0);
  a->wrong_block = cudaPeekAtLastError();
  a->wrong_again = cudaGetLastError();
  add_one<<<1, 1, 1 << 20>>>(nullptr, 0);
  a->too_much_shared = cudaGetLastError();
  cudaStream_t s;
  a->wrong_flags = cudaStreamCreateWithFlags(&s, 0);
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamDestroy(s);
  a->stream_twice = cudaStreamDestroy(s);
  cudaGetLastError();
  add_one<<<1, 1, 0, s>>>(nullptr, 0);
  a->unknown_stream = cudaGetLastError();
  a->none = cudaGetLastError();
  const char* name = cudaGetErrorName(cudaErrorInvalidConfiguration);
  for (int i = 0; i < 31 && (a->name[i] = name[i]) != 0; ++i) continue;
}

__global__ void dig(int* depth, cudaError_t* error) {
  ++*depth;
  dig<<<1, 1>>>(depth, error);
  const cudaError_t e = cudaGetLastError();
  if (e != cudaSuccess) *error = e;
}

__global__ void flood(int* counts) {
  for (int i = 0; i < 20; ++i) {
    add_one<<<1, 1, 0, cudaStreamFireAndForget>>>(counts, 1);
    const cudaError_t e = cudaGetLastError();
    if (e == cudaErrorLaunchPendingCountExceeded) ++counts[1];
  }
}

void check_answers() {
  Answers* a;
  CUDA(cudaMallocManaged(&a, sizeof(Answers)));
  std::memset(static_cast<void*>(a), 0, sizeof(Answers));
  ask<<<1, 1>>>(a);
  CUDA(cudaDeviceSynchronize());
  CHECK(cudaGetLastError() == cudaSuccess);  // device code's errors are its own
  int sms, blocks;
  CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 128, 1000));
  cudaFuncAttributes attributes;
  CUDA(cudaFuncGetAttributes(&attributes, add_one));
  CHECK(a->sms == sms && a->device == 0 && a->count == 1 && a->blocks == blocks && blocks > 0);
  CHECK(a->version == 13000 && a->pending == 2048);
  CHECK(a->attributes.numRegs == attributes.numRegs && attributes.numRegs > 0);
  CHECK(a->wrong_block == cudaErrorInvalidConfiguration && a->wrong_again == a->wrong_block);
  CHECK(a->too_much_shared != cudaSuccess);
  CHECK(a->wrong_flags == cudaErrorInvalidValue);
  CHECK(a->stream_twice == cudaErrorInvalidResourceHandle);
  CHECK(a->unknown_stream == cudaErrorInvalidResourceHandle);
  CHECK(a->none == cudaSuccess);
  CHECK(std::strcmp(a->name, "cudaErrorInvalidConfiguration") == 0);
  CUDA(cudaFree(a));

  int* depth;
  cudaError_t* error;
  CUDA(cudaMallocManaged(&depth, 2 * sizeof(int)));
  CUDA(cudaMallocManaged(&error, sizeof(cudaError_t)));
  *depth = 0;
  *error = cudaSuccess;
  dig<<<1, 1>>>(depth, error);
  CUDA(cudaDeviceSynchronize());
  CHECK(*depth == 25 && *error == cudaErrorLaunchMaxDepthExceeded);

  CUDA(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 16));
  depth[0] = depth[1] = 0;
  flood<<<1, 1>>>(depth);
  CUDA(cudaDeviceSynchronize());
  CHECK(depth[0] == 16 && depth[1] == 4);
  CUDA(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 2048));
  CUDA(cudaFree(depth));
  CUDA(cudaFree(error));
}

// --- A fault of a child --------------------------------------------------------------------------

__global__ void broken(int* p) { *p = 1; }
__global__ void parent_of_broken(int* p) { broken<<<1, 1>>>(p); }

// --- Simulated event times: a launch takes what its children take --------------------------------

__global__ void eight(int* p) {
  for (int i = 0; i < 8; ++i) add_one<<<1, 32>>>(p, 32);
}

void check_times() {
  int* p;
  CUDA(cudaMalloc(&p, 32 * sizeof(int)));
  CUDA(cudaMemset(p, 0, 32 * sizeof(int)));
  cudaEvent_t begin, middle, end;
  for (cudaEvent_t* e : {&begin, &middle, &end}) CUDA(cudaEventCreate(e));
  add_one<<<1, 32>>>(p, 32);  // caches are warm from here on
  CUDA(cudaEventRecord(begin));
  add_one<<<1, 32>>>(p, 32);
  CUDA(cudaEventRecord(middle));
  eight<<<1, 1>>>(p);
  CUDA(cudaEventRecord(end));
  CUDA(cudaDeviceSynchronize());
  float one, all;
  CUDA(cudaEventElapsedTime(&one, begin, middle));
  CUDA(cudaEventElapsedTime(&all, middle, end));
  CHECK(one > 0 && all > 8 * one);
}

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] == 't') {
    check_times();
    return passed();
  }
  if (argc > 1) {
    parent_of_broken<<<1, 1>>>(reinterpret_cast<int*>(16));
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return passed();
  }
  check_quicksort();
  check_bfs();
  check_refinement();
  check_orders();
  check_memory();
  check_answers();
  return passed();
}
