// 128-bit loads, stores and atomics (capability 9.0).
#include <vector>

#include "tests/cudart/apps/check.h"

struct alignas(16) Pair {
  unsigned long long low, high;
};
__host__ __device__ bool operator==(const Pair& a, const Pair& b) {
  return a.low == b.low && a.high == b.high;
}

// Every thread adds (1, 2) to a pair, which never is seen half-written.
__global__ void add(Pair* sum, int* torn) {
  Pair old = {0, 0};
  for (;;) {
    const Pair seen = atomicCAS(sum, old, Pair{old.low + 1, old.high + 2});
    if (seen.high != 2 * seen.low) atomicAdd(torn, 1);
    if (seen == old) return;
    old = seen;
  }
}

// A chain: every thread takes what the one before it left.
__global__ void exchange(Pair* place, Pair* got) {
  __shared__ Pair mine;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  got[i] = atomicExch(place, Pair{i + 1ull, ~(i + 1ull)});
  if (threadIdx.x == 0) mine = Pair{5, 6};
  __syncthreads();
  atomicExch(&mine, Pair{threadIdx.x, threadIdx.x});
  __syncthreads();
  if (mine.low != mine.high) got[i].low = ~0ull;
}

__global__ void integers(__int128* p) {
  __int128 v;
  __nv_atomic_load(p, &v, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
  v = v * 3 + 1;
  __nv_atomic_store(p + 1, &v, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  __int128 wanted = v, other = 7;
  const bool first =
      __nv_atomic_compare_exchange(p + 1, &wanted, &other, false, __NV_ATOMIC_SEQ_CST,
                                   __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  const bool second =
      __nv_atomic_compare_exchange(p + 1, &wanted, &other, false, __NV_ATOMIC_SEQ_CST,
                                   __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  p[2] = first && !second && wanted == 7 ? v : 0;
}

int main() {
  Pair* p;
  int* torn;
  constexpr int kThreads = 320;
  CUDA(cudaMallocManaged(&p, (kThreads + 1) * sizeof(Pair)));
  CUDA(cudaMallocManaged(&torn, sizeof(int)));
  *torn = 0;
  p[0] = {0, 0};
  add<<<5, 64>>>(p, torn);
  CUDA(cudaDeviceSynchronize());
  CHECK((p[0] == Pair{kThreads, 2 * kThreads}) && *torn == 0);

  p[0] = {0, ~0ull};
  exchange<<<5, 64>>>(p, p + 1);
  CUDA(cudaDeviceSynchronize());
  std::vector<int> seen(kThreads + 1);
  for (int i = 0; i <= kThreads; ++i) {
    CHECK(p[i].high == ~p[i].low && p[i].low <= kThreads);
    ++seen[p[i].low];
  }
  for (const int n : seen) CHECK(n == 1);

  auto* q = reinterpret_cast<__int128*>(p);
  q[0] = (static_cast<__int128>(1) << 100) + 12345;
  integers<<<1, 1>>>(q);
  CUDA(cudaDeviceSynchronize());
  CHECK(q[1] == 7 && q[2] == q[0] * 3 + 1);
  return passed();
}
