// Copies of tensors, and of words that mbarriers count (sm_90a).
#include <cstdint>

namespace {

struct alignas(128) Map {
  unsigned char bytes[128];
};

__device__ unsigned shared_at(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void barrier_begin(unsigned barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count));
  asm volatile("fence.mbarrier_init.release.cluster;");
}
__device__ void barrier_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ void barrier_wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred p;\nWAIT_%=:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra WAIT_%=;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ void stores_done() {
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
}

}  // namespace

extern __shared__ __align__(1024) unsigned char tile[];

// One thread loads a box of 1 to 5 dimensions; all write what shared memory then holds.
#define LOAD(DIM, COORDINATES, ...)                                                            \
  extern "C" __global__ void load_##DIM##d(const __grid_constant__ Map map, int x, int y, int z, \
                                           int u, int v, unsigned bytes, unsigned kept,        \
                                           unsigned* out) {                                    \
    __shared__ alignas(8) unsigned long long barrier;                                          \
    const unsigned b = shared_at(&barrier), to = shared_at(tile);                              \
    for (unsigned i = threadIdx.x; i < kept / 4; i += blockDim.x)                              \
      reinterpret_cast<unsigned*>(tile)[i] = 0xabababab;                                       \
    __syncthreads();                                                                           \
    if (threadIdx.x == 0) {                                                                    \
      barrier_begin(b, 1);                                                                     \
      asm volatile("prefetch.tensormap [%0];" ::"l"(&map));                                    \
      barrier_expect(b, bytes);                                                                \
      asm volatile("cp.async.bulk.tensor." #DIM                                                \
                   "d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "         \
                   COORDINATES "], [%2];" ::"r"(to),                                           \
                   "l"(&map), "r"(b), __VA_ARGS__                                              \
                   : "memory");                                                                \
    }                                                                                          \
    __syncthreads();                                                                           \
    barrier_wait(b, 0);                                                                        \
    for (unsigned i = threadIdx.x; i < kept / 4; i += blockDim.x)                              \
      out[i] = reinterpret_cast<unsigned*>(tile)[i];                                           \
  }
LOAD(1, "{%3}", "r"(x))
LOAD(2, "{%3, %4}", "r"(x), "r"(y))
LOAD(3, "{%3, %4, %5}", "r"(x), "r"(y), "r"(z))
LOAD(4, "{%3, %4, %5, %6}", "r"(x), "r"(y), "r"(z), "r"(u))
LOAD(5, "{%3, %4, %5, %6, %7}", "r"(x), "r"(y), "r"(z), "r"(u), "r"(v))

// Pixels of a bounding box, each moved by an offset.
extern "C" __global__ void load_im2col(const __grid_constant__ Map map, int c, int w, int h, int n,
                                       unsigned short right, unsigned short down, unsigned bytes,
                                       unsigned* out) {
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned b = shared_at(&barrier), to = shared_at(tile);
  if (threadIdx.x == 0) {
    barrier_begin(b, 1);
    barrier_expect(b, bytes);
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(to),
        "l"(&map), "r"(b), "r"(c), "r"(w), "r"(h), "r"(n), "h"(right), "h"(down)
        : "memory");
  }
  __syncthreads();
  barrier_wait(b, 0);
  for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x)
    out[i] = reinterpret_cast<unsigned*>(tile)[i];
}

// A box of shared memory into a tensor: put, or added.
extern "C" __global__ void store_2d(const __grid_constant__ Map map, const unsigned* in,
                                    unsigned kept, int x, int y, int how) {
  const unsigned from = shared_at(tile);
  for (unsigned i = threadIdx.x; i < kept / 4; i += blockDim.x)
    reinterpret_cast<unsigned*>(tile)[i] = in[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    if (how == 0)
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::
                       "l"(&map), "r"(x), "r"(y), "r"(from) : "memory");
    else if (how == 1)
      asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], "
                   "[%3];" ::"l"(&map), "r"(x), "r"(y), "r"(from) : "memory");
    else
      asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.bulk_group [%0, {%1, %2}], "
                   "[%3];" ::"l"(&map), "r"(x), "r"(y), "r"(from) : "memory");
    stores_done();
  }
}

// A box of shared memory that begins at any place.
extern "C" __global__ void store_from(const __grid_constant__ Map map, const unsigned* in,
                                      unsigned at) {
  for (unsigned i = threadIdx.x; i < 32; i += blockDim.x)
    reinterpret_cast<unsigned*>(tile + at)[i] = in[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {0, 0}], [%1];" ::"l"(
                     &map),
                 "r"(shared_at(tile) + at)
                 : "memory");
    stores_done();
  }
}

// The first block of a cluster loads a box into the shared memory of those in the mask.
extern "C" __global__ void load_multicast(const __grid_constant__ Map map, unsigned short mask,
                                          unsigned bytes, int linear, const unsigned* in,
                                          unsigned* out) {
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned b = shared_at(&barrier), to = shared_at(tile);
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x)
    reinterpret_cast<unsigned*>(tile)[i] = 0;
  const bool mine = (mask >> rank & 1) != 0;
  if (threadIdx.x == 0) {
    barrier_begin(b, 1);
    if (mine) barrier_expect(b, bytes);
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" :::
                   "memory");
  if (rank == 0 && threadIdx.x == 0) {
    if (linear)
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
          "[%0], [%1], %2, [%3], %4;" ::"r"(to), "l"(in), "r"(bytes), "r"(b), "h"(mask) : "memory");
    else
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
          ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to), "l"(&map), "r"(0),
          "r"(0), "r"(b), "h"(mask) : "memory");
  }
  if (mine) barrier_wait(b, 0);
  for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x)
    out[(blockIdx.x * bytes / 4) + i] = reinterpret_cast<unsigned*>(tile)[i];
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// st.async to the next block of the cluster, red.async to its neighbour's counter, and a bulk
// reduction into global memory.
extern "C" __global__ void counted_words(unsigned* out, float* sums) {
  __shared__ alignas(8) unsigned long long barrier;
  __shared__ alignas(16) unsigned words[32];
  __shared__ unsigned counter;
  __shared__ alignas(16) float mine[32];
  unsigned rank, blocks;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  const unsigned b = shared_at(&barrier), next = (rank + 1) % blocks;
  mine[threadIdx.x] = static_cast<float>(threadIdx.x + 1);
  if (threadIdx.x == 0) {
    counter = 5;
    barrier_begin(b, 1);
    barrier_expect(b, 32 * 4 + 32 * 4);
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" :::
                   "memory");
  unsigned word_there, counter_there, barrier_there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(word_there)
      : "r"(shared_at(&words[threadIdx.x])), "r"(next));
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(counter_there)
      : "r"(shared_at(&counter)), "r"(next));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrier_there) : "r"(b), "r"(next));
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                   word_there),
               "r"(rank * 100 + threadIdx.x), "r"(barrier_there)
               : "memory");
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, "
      "[%2];" ::"r"(counter_there),
      "r"(threadIdx.x), "r"(barrier_there)
      : "memory");
  barrier_wait(b, 0);
  out[blockIdx.x * 33 + threadIdx.x] = words[threadIdx.x];
  if (threadIdx.x == 0) {
    out[blockIdx.x * 33 + 32] = counter;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(
                     sums),
                 "r"(shared_at(mine)), "r"(128)
                 : "memory");
    stores_done();
  }
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
