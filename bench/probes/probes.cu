// Probe programs: what 'nearwarp probe' runs on a machine to see its latencies and bandwidths.
//
// Chases are one thread's loads of which each has its address from the one before, in rounds of
// eight, or of sixteen: between two runs of as many rounds there is nothing but loads. Streams are
// accesses of whole warps, eight of a warp under way at a time. A mechanism that offloads code can
// take the whole of a loop.
#define EIGHT(step) step step step step step step step step

extern "C" __global__ void chase_loads(void **p, int rounds, void **out) {
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    EIGHT(p = (void **)*p;)
  }
  *out = (void *)p;
}

extern "C" __global__ void chase_loads_16(void **p, int rounds, void **out) {
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    EIGHT(p = (void **)*p; p = (void **)*p;)
  }
  *out = (void *)p;
}

extern "C" __global__ void chase_atomics(unsigned long long *p, int rounds,
                                         unsigned long long *out) {
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    EIGHT(p = (unsigned long long *)atomicAdd(p, 0ull);)
  }
  *out = (unsigned long long)p;
}

__device__ __forceinline__ void fill(int (&next)[32]) {
  for (int i = 0; i < 32; ++i) next[i] = (i + 1) % 32;
}

extern "C" __global__ void chase_shared(int rounds, int *out) {
  __shared__ int next[32];
  fill(next);
  int p = 0;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    EIGHT(p = next[p];)
  }
  *out = p;
}

extern "C" __global__ void chase_shared_16(int rounds, int *out) {
  __shared__ int next[32];
  fill(next);
  int p = 0;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    EIGHT(p = next[p]; p = next[p];)
  }
  *out = p;
}

// Loads that nothing reorders, with few instructions beside them: eight, 128 bytes apart, all sent
// before a value is used. Each value is used, or all of them could have one register and wait for it.
#define LOAD(k) asm volatile("ld.global.u32 %0, [%1+%2];" : "=r"(v[k]) : "l"(p), "n"(128 * k))
__device__ __forceinline__ void load_eight(const unsigned *p, unsigned (&v)[8]) {
  LOAD(0);
  LOAD(1);
  LOAD(2);
  LOAD(3);
  LOAD(4);
  LOAD(5);
  LOAD(6);
  LOAD(7);
}
__device__ __forceinline__ void use(unsigned &any, unsigned a, unsigned b) {
  asm volatile("lop3.b32 %0, %0, %1, %2, 0xfe;" : "+r"(any) : "r"(a), "r"(b));
}
__device__ __forceinline__ void use(unsigned &any, const unsigned (&v)[8]) {
  use(any, v[0], v[1]);
  use(any, v[2], v[3]);
  use(any, v[4], v[5]);
  use(any, v[6], v[7]);
}

// Access i of a warp is to a chunk of eight times 128 bytes, modulo the working set, of which there
// is a power of two of chunks.
struct Walk {
  unsigned chunk, stride, mask;
  __device__ Walk(unsigned sms, unsigned sm_offset, unsigned block_offset, unsigned stride_,
                  unsigned mask_)
      : stride(stride_), mask(mask_) {
    chunk = blockIdx.x % sms * sm_offset + blockIdx.x / sms * block_offset + threadIdx.x / 32;
  }
  // Its word of the calling lane.
  __device__ __forceinline__ unsigned next() {
    const unsigned word = (chunk & mask) * 256 + threadIdx.x % 32;
    chunk += stride;
    return word;
  }
};

__device__ __forceinline__ void read_rounds(const unsigned *data, Walk &walk, int rounds,
                                            unsigned &any) {
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    unsigned v[8];
    load_eight(data + walk.next(), v);
    use(any, v);
  }
}

// All warps of a block go on together behind their first rounds.
extern "C" __global__ void stream_read(const unsigned *data, unsigned *out, int first, unsigned sms,
                                       unsigned sm_offset, unsigned block_offset, unsigned stride,
                                       unsigned mask, int rounds) {
  Walk walk(sms, sm_offset, block_offset, stride, mask);
  unsigned any = 0;
  read_rounds(data, walk, first, any);
  __syncthreads();
  read_rounds(data, walk, rounds, any);
  if (any == 1) *out = any;
}

extern "C" __global__ void stream_write(unsigned *data, unsigned sms, unsigned sm_offset,
                                        unsigned block_offset, unsigned stride, unsigned mask,
                                        int rounds) {
  Walk walk(sms, sm_offset, block_offset, stride, mask);
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    unsigned *to = data + walk.next();
#pragma unroll
    for (int k = 0; k < 8; ++k) to[32 * k] = i;
  }
}

extern "C" __global__ void stream_copy(const unsigned *from, unsigned *to, unsigned sms,
                                       unsigned sm_offset, unsigned block_offset, unsigned stride,
                                       unsigned mask, int rounds) {
  Walk walk(sms, sm_offset, block_offset, stride, mask);
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    unsigned v[8];
    const unsigned at = walk.next();
    load_eight(from + at, v);
#pragma unroll
    for (int k = 0; k < 8; ++k) to[at + 32 * k] = v[k];
  }
}

// All warps of an SM, which are one block, read four chunks again and again, which lie in the L1.
extern "C" __global__ void resident_read(const unsigned *data, unsigned *out, int rounds) {
  const unsigned *p = data + threadIdx.x % 32;
  unsigned any = 0, first[8];
  load_eight(p + 256 * (threadIdx.x / 32 % 4), first);
  use(any, first);
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      unsigned v[8];
      load_eight(p + 256 * k, v);
      use(any, v);
    }
  }
  if (any == 1) *out = any;
}

// Every lane reads a word of a random sector of 32 bytes, of a power of two of them.
extern "C" __global__ void random_sectors(const unsigned *data, unsigned *out, unsigned mask,
                                          int rounds) {
  unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u, any = 0;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    unsigned v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      x = x * 1664525u + 1013904223u;
      const unsigned mixed = x ^ x >> 15;
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[k]) : "l"(data + (mixed & mask) * 8));
    }
    use(any, v);
  }
  if (any == 1) *out = any;
}

// Lines that a table lists by their first words, `each` for a warp: those of a memory stack, say.
// Constants cost no memory traffic.
__constant__ uint4 lines[4096];

__device__ __forceinline__ unsigned load_at(const unsigned *data, unsigned word) {
  unsigned v;
  asm volatile(
      "{\n\t.reg .u64 at;\n\tmad.wide.u32 at, %1, 4, %2;\n\tld.global.u32 %0, [at];\n\t}"
      : "=r"(v)
      : "r"(word), "l"(data));
  return v;
}
__device__ __forceinline__ void store_at(unsigned *data, unsigned word, unsigned v) {
  asm volatile(
      "{\n\t.reg .u64 at;\n\tmad.wide.u32 at, %0, 4, %1;\n\tst.global.u32 [at], %2;\n\t}" ::"r"(
          word),
      "l"(data), "r"(v));
}
__device__ __forceinline__ const uint4 *list_of_warp(unsigned each) {
  return lines + (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * (each / 4);
}

extern "C" __global__ void listed_read(const unsigned *data, unsigned *out, unsigned each,
                                       int rounds) {
  const uint4 *at = list_of_warp(each);
  data += threadIdx.x % 32;
  unsigned any = 0;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    const uint4 a = at[0], b = at[1];
    unsigned v[8];
    v[0] = load_at(data, a.x), v[1] = load_at(data, a.y);
    v[2] = load_at(data, a.z), v[3] = load_at(data, a.w);
    v[4] = load_at(data, b.x), v[5] = load_at(data, b.y);
    v[6] = load_at(data, b.z), v[7] = load_at(data, b.w);
    use(any, v);
    at += 2;
  }
  if (any == 1) *out = any;
}

extern "C" __global__ void listed_write(unsigned *data, unsigned each, int rounds) {
  const uint4 *at = list_of_warp(each);
  data += threadIdx.x % 32;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    const uint4 a = at[0], b = at[1];
    store_at(data, a.x, i), store_at(data, a.y, i), store_at(data, a.z, i);
    store_at(data, a.w, i), store_at(data, b.x, i), store_at(data, b.y, i);
    store_at(data, b.z, i), store_at(data, b.w, i);
    at += 2;
  }
}

// For near-bank units: a grid's accesses to words in a row, and again `step` further on, so that every
// block finds those of the core that it is dispatched to, and every warp those of its unit. Values are used
// near the banks but where it is said.
__device__ __forceinline__ unsigned global_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void near_read(unsigned *data, unsigned step, int rounds) {
  unsigned at = global_thread(), any = 0;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    unsigned v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k, at += step) v[k] = load_at(data, at);
    use(any, v);
  }
  store_at(data, global_thread(), any);  // no branch asks for it
}

// The stored values come from the subcore, and move up once for a round.
extern "C" __global__ void near_write(unsigned *data, unsigned step, int rounds) {
  unsigned at = global_thread();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    unsigned lanes;
    asm volatile("activemask.b32 %0;" : "=r"(lanes));
#pragma unroll
    for (int k = 0; k < 8; ++k, at += step) store_at(data, at, lanes);
  }
}

// One load after the other; each value comes down for a special function.
extern "C" __global__ void near_down(const unsigned *data, unsigned *out, unsigned step, int rounds) {
  unsigned at = global_thread();
  float any = 0;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < 8; ++k, at += step) {
      const float v = __uint_as_float(load_at(data, at));
      asm volatile("ex2.approx.f32 %0, %1;" : "=f"(any) : "f"(v));
      at += any == 7.0f;  // the next load waits for it; words are 0
    }
  }
  if (any == 3.0f) *out = 1;
}

// Additions of which each waits for the one before, of a value that is stored.
extern "C" __global__ void near_chain(unsigned *out, int rounds) {
  unsigned *const at = out + global_thread();
  unsigned x = load_at(at, 0);
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    EIGHT(asm volatile("add.u32 %0, %0, 1;" : "+r"(x));)
  }
  store_at(at, 0, x);
}
