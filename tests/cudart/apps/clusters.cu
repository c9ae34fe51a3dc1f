// Clusters of thread blocks: do they do what CUDA says?
#include <cooperative_groups.h>

#include <cuda/ptx>
#include <vector>

#include "tests/cudart/apps/check.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 64;

// --- Places --------------------------------------------------------------------------------------

struct Place {
  unsigned rank, blocks, x, y, z, thread_rank, threads, cluster_x, cluster_y, clusters_x;
  bool is_explicit;
};

__device__ Place place() {
  const cg::cluster_group c = cg::this_cluster();
  Place p{};
  p.rank = c.block_rank();
  p.blocks = c.num_blocks();
  p.x = c.block_index().x;
  p.y = c.block_index().y;
  p.z = c.block_index().z;
  p.thread_rank = c.thread_rank();
  p.threads = c.num_threads();
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(p.cluster_x));
  asm("mov.u32 %0, %%clusterid.y;" : "=r"(p.cluster_y));
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(p.clusters_x));
  int is_explicit;
  asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.s32 %0, 1, 0, p; }"
      : "=r"(is_explicit));
  p.is_explicit = is_explicit != 0;
  return p;
}

__global__ void places(Place* out) {
  const Place p = place();
  if (threadIdx.x == kThreads - 1) out[blockIdx.y * gridDim.x + blockIdx.x] = p;
}

cudaError_t launch(void (*kernel)(Place*), dim3 grid, dim3 cluster, Place* out,
                   bool cooperative = false) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = kThreads;
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = cluster.x;
  attributes[0].val.clusterDim.y = cluster.y;
  attributes[0].val.clusterDim.z = cluster.z;
  attributes[1].id = cudaLaunchAttributeCooperative;
  attributes[1].val.cooperative = 1;
  config.attrs = attributes;
  config.numAttrs = cooperative ? 2 : 1;
  return cudaLaunchKernelEx(&config, kernel, out);
}

void check_places() {
  const dim3 grid(6, 4), cluster(3, 2);
  Place* p;
  CUDA(cudaMallocManaged(&p, 24 * sizeof(Place)));
  CUDA(launch(places, grid, cluster, p));
  CUDA(cudaDeviceSynchronize());
  for (unsigned y = 0; y < grid.y; ++y)
    for (unsigned x = 0; x < grid.x; ++x) {
      const Place& q = p[y * grid.x + x];
      CHECK(q.x == x % 3 && q.y == y % 2 && q.z == 0);
      CHECK(q.rank == q.x + 3 * q.y && q.blocks == 6);
      CHECK(q.threads == 6 * kThreads && q.thread_rank == q.rank * kThreads + kThreads - 1);
      CHECK(q.cluster_x == x / 3 && q.cluster_y == y / 2 && q.clusters_x == 2);
      CHECK(q.is_explicit);
    }
  places<<<grid, kThreads>>>(p);  // every block is a cluster
  CUDA(cudaDeviceSynchronize());
  for (unsigned i = 0; i < 24; ++i)
    CHECK(p[i].rank == 0 && p[i].blocks == 1 && p[i].cluster_x == i % 6 && !p[i].is_explicit);
  CUDA(cudaFree(p));
}

// --- Shared memory of the others -----------------------------------------------------------------

// A histogram whose bins are spread over the blocks of a cluster.
__global__ void __cluster_dims__(4, 1, 1) histogram(const int* in, int n, int* out) {
  __shared__ int bins[kThreads];
  const cg::cluster_group c = cg::this_cluster();
  bins[threadIdx.x] = 0;
  c.sync();
  for (int i = static_cast<int>(c.thread_rank()); i < n; i += static_cast<int>(c.num_threads())) {
    const int bin = in[i] % (4 * kThreads);
    atomicAdd(c.map_shared_rank(bins + bin % kThreads, bin / kThreads), 1);
  }
  c.sync();
  atomicAdd(out + c.block_rank() * kThreads + threadIdx.x, bins[threadIdx.x]);
}

void check_histogram() {
  const int n = 5000;
  int *in, *out;
  CUDA(cudaMallocManaged(&in, n * sizeof(int)));
  CUDA(cudaMallocManaged(&out, 4 * kThreads * sizeof(int)));
  std::vector<int> want(4 * kThreads);
  for (int i = 0; i < n; ++i) ++want[(in[i] = i * 7919 % 100003) % (4 * kThreads)];
  CUDA(cudaMemset(out, 0, 4 * kThreads * sizeof(int)));
  histogram<<<8, kThreads>>>(in, n, out);  // two clusters, each over all
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 4 * kThreads; ++i) CHECK(out[i] == 2 * want[i]);
  CUDA(cudaFree(in));
  CUDA(cudaFree(out));
}

// A ring: every block reads what its neighbour wrote, by pointers and by shared::cluster addresses;
// split barriers; wide and narrow accesses; addresses that the owner hands over.
__global__ void ring(int* out, int rounds) {
  __shared__ int values[2][kThreads];
  __shared__ alignas(16) char bytes[64];
  __shared__ unsigned mine;
  const cg::cluster_group c = cg::this_cluster();
  const unsigned r = c.block_rank(), n = c.num_blocks(), t = threadIdx.x;
  values[0][t] = static_cast<int>(r * 1000 + t);
  if (t < 64) bytes[t] = static_cast<char>(r + t);
  unsigned from;  // in the window shared::cluster
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(from)
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&mine))), "r"((r + 1) % n));
  int own, other;
  asm("{ .reg .pred p; isspacep.shared::cta p, %1; selp.s32 %0, 1, 0, p; }"
      : "=r"(own)
      : "l"(c.map_shared_rank(&mine, (r + 1) % n)));
  asm("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.s32 %0, 1, 0, p; }"
      : "=r"(other)
      : "l"(c.map_shared_rank(&mine, (r + 1) % n)));
  if (t == 0) mine = r + 100;
  c.sync();
  for (int i = 0; i < rounds; ++i) {
    const int* next = c.map_shared_rank(&values[i % 2][0], (r + 1) % n);
    values[(i + 1) % 2][t] = next[t];
    auto token = c.barrier_arrive();
    c.barrier_wait(std::move(token));
  }
  unsigned rank;
  asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(from));
  unsigned handed;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(handed) : "r"(from) : "memory");
  const int4 wide = *reinterpret_cast<const int4*>(c.map_shared_rank(bytes + 16, (r + 1) % n));
  const char narrow = *c.map_shared_rank(bytes + 7, (r + 1) % n);
  c.sync();
  int ok = rank == (r + 1) % n && handed == (r + 1) % n + 100;
  ok = ok && own == (n == 1) && other == 1 && c.query_shared_rank(&mine) == r;
  ok = ok && narrow == static_cast<char>((r + 1) % n + 7);
  ok = ok && static_cast<char>(wide.y) == static_cast<char>((r + 1) % n + 20);
  out[blockIdx.x * kThreads + t] = ok ? values[rounds % 2][t] : -1;
}

void check_ring() {
  int* out;
  CUDA(cudaMallocManaged(&out, 32 * kThreads * sizeof(int)));
  CUDA(cudaFuncSetAttribute(ring, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  for (const unsigned n : {1u, 2u, 5u, 8u, 16u}) {
    for (const int rounds : {1, 4}) {
      cudaLaunchConfig_t config = {};
      config.gridDim = 2 * n;
      config.blockDim = kThreads;
      cudaLaunchAttribute attribute = {};
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim.x = n;
      attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
      config.attrs = &attribute;
      config.numAttrs = 1;
      CUDA(cudaLaunchKernelEx(&config, ring, out, rounds));
      CUDA(cudaDeviceSynchronize());
      for (unsigned b = 0; b < 2 * n; ++b)
        for (int t = 0; t < kThreads; ++t)
          CHECK(out[b * kThreads + t] ==
                static_cast<int>((b % n + static_cast<unsigned>(rounds)) % n * 1000) + t);
    }
  }
  CUDA(cudaFree(out));
}

// --- Barriers in the shared memory of another block; messages with release and acquire
// ------------

__global__ void __cluster_dims__(4, 1, 1) messages(int* out, int rounds) {
  namespace ptx = cuda::ptx;
  __shared__ uint64_t full;
  __shared__ int inbox[4];
  __shared__ int flag;
  const cg::cluster_group c = cg::this_cluster();
  const unsigned r = c.block_rank();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 4);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    flag = 0;
  }
  c.sync();
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x == 0) {  // all blocks write to block i mod 4
      const unsigned to = static_cast<unsigned>(i) % 4;
      *c.map_shared_rank(inbox + r, to) = static_cast<int>(100 * i + r);
      ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                           c.map_shared_rank(&full, to));
    }
    if (r == static_cast<unsigned>(i) % 4) {
      while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full,
                                            static_cast<unsigned>(i) / 4 % 2))
        continue;
      if (threadIdx.x < 4) atomicAdd(out, inbox[threadIdx.x]);
    }
    c.sync();
  }
  // A flag in another block's shared memory.
  if (threadIdx.x == 0 && r == 1) {
    *c.map_shared_rank(inbox, 0) = 7;
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    *const_cast<volatile int*>(c.map_shared_rank(&flag, 0)) = 1;
  }
  if (threadIdx.x == 0 && r == 0) {
    while (*const_cast<volatile int*>(&flag) == 0) continue;
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    atomicAdd(out + 1, inbox[0]);
  }
  c.sync();
}

void check_messages() {
  int* out;
  CUDA(cudaMallocManaged(&out, 2 * sizeof(int)));
  out[0] = out[1] = 0;
  messages<<<4, 32>>>(out, 10);
  CUDA(cudaDeviceSynchronize());
  CHECK(out[0] == 4 * 100 * 45 + 10 * 6);
  CHECK(out[1] == 7);
  CUDA(cudaFree(out));
}

// Threads that have ended are not waited for.
__global__ void __cluster_dims__(2, 1, 1) early_exit(int* out) {
  if (blockIdx.x == 1 && threadIdx.x >= 32) return;
  cg::this_cluster().sync();
  atomicAdd(out, 1);
}

// --- Limits --------------------------------------------------------------------------------------

__global__ void __cluster_dims__(2, 1, 1) compiled_for_two(Place* out) {
  const Place p = place();
  if (threadIdx.x == 0) out[blockIdx.x] = p;
}

void check_limits() {
  Place* p;
  CUDA(cudaMallocManaged(&p, 64 * sizeof(Place)));
  int supported;
  CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrClusterLaunch, 0));
  CHECK(supported == 1);
  FAILS(cudaErrorInvalidClusterSize, launch(places, 5, 2, p));    // does not divide the grid
  FAILS(cudaErrorInvalidClusterSize, launch(places, 32, 16, p));  // not portable
  FAILS(cudaErrorInvalidClusterSize, launch(compiled_for_two, 8, 4, p));
  CUDA(cudaFuncSetAttribute(places, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CUDA(launch(places, 32, 16, p));
  FAILS(cudaErrorInvalidClusterSize, launch(places, 64, 32, p));
  CUDA(cudaFuncSetAttribute(places, cudaFuncAttributeNonPortableClusterSizeAllowed, 0));
  CUDA(launch(places, 8, 4, p, true));  // cooperative, too
  CUDA(launch(compiled_for_two, 8, 2, p));
  compiled_for_two<<<8, kThreads>>>(p);
  CUDA(cudaDeviceSynchronize());
  CHECK(p[3].blocks == 2 && p[3].rank == 1 && p[3].cluster_x == 1);
  cudaFuncAttributes attributes;
  CUDA(cudaFuncGetAttributes(&attributes, compiled_for_two));
  CHECK(attributes.requiredClusterWidth == 2 && attributes.requiredClusterHeight == 1);
  CHECK(attributes.clusterDimMustBeSet == 1 && attributes.nonPortableClusterSizeAllowed == 0);

  cudaLaunchConfig_t config = {};
  config.gridDim = 16;
  config.blockDim = kThreads;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 4;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters, blocks, sms, most;
  CUDA(cudaOccupancyMaxActiveClusters(&clusters, places, &config));
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, places, kThreads, 0));
  CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK(clusters == blocks * sms / 4);
  CUDA(cudaOccupancyMaxPotentialClusterSize(&most, places, &config));
  CHECK(most == 8);

  int* count;
  CUDA(cudaMallocManaged(&count, sizeof(int)));
  *count = 0;
  early_exit<<<2, kThreads>>>(count);
  CUDA(cudaDeviceSynchronize());
  CHECK(*count == kThreads + 32);
  CUDA(cudaFree(count));
  CUDA(cudaFree(p));
}

// --- Mistakes ------------------------------------------------------------------------------------

__global__ void __cluster_dims__(2, 1, 1) without_last_barrier(int* out) {
  __shared__ int s;
  const cg::cluster_group c = cg::this_cluster();
  s = 1;
  c.sync();
  if (c.block_rank() == 1) return;
  out[0] = *c.map_shared_rank(&s, 1);
}
__global__ void __cluster_dims__(2, 1, 1) beyond(int* out) {
  __shared__ int s;
  out[0] = *cg::this_cluster().map_shared_rank(&s, 5);
}
__global__ void __cluster_dims__(2, 1, 1) half_waits(int* out) {
  if (cg::this_cluster().block_rank() == 0)
    cg::this_cluster().sync();
  else
    __syncthreads();
  if (threadIdx.x == 0) out[0] = 1;
  if (cg::this_cluster().block_rank() == 0)
    cg::this_cluster().sync();
  else
    while (*const_cast<volatile int*>(out) != 5) continue;
}
__global__ void __cluster_dims__(2, 1, 1) races(int* out) {
  __shared__ int s[32];
  const cg::cluster_group c = cg::this_cluster();
  c.sync();
  *c.map_shared_rank(s + threadIdx.x, 1 - c.block_rank()) = 1;
  // no barrier of the cluster
  __syncthreads();
  out[c.thread_rank()] = s[threadIdx.x];
  c.sync();
}

int main(int argc, char** argv) {
  if (argc > 1) {
    int* out;
    CUDA(cudaMallocManaged(&out, 64 * sizeof(int)));
    switch (argv[1][0]) {
      case 'e':
        without_last_barrier<<<2, 1>>>(out);
        break;
      case 'b':
        beyond<<<2, 1>>>(out);
        break;
      case 'd':
        half_waits<<<2, 32>>>(out);
        break;
      case 'r':
        races<<<2, 32>>>(out);
        CUDA(cudaDeviceSynchronize());
        return passed();
    }
    CHECK(cudaDeviceSynchronize() != cudaSuccess);
    return passed();
  }
  check_places();
  check_histogram();
  check_ring();
  check_messages();
  check_limits();
  return passed();
}
