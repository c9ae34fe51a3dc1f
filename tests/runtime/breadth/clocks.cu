// Waiting by the clock, in the forms that programs have.
extern "C" __global__ void by_clock64(long long ticks, int* out) {
  const long long begun = clock64();
  while (clock64() - begun < ticks) {
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

extern "C" __global__ void by_elapsed_time(long long ticks, int* out) {
  const long long begun = clock64();
  long long elapsed = 0;
  while (elapsed < ticks) elapsed = clock64() - begun;
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

extern "C" __global__ void by_clock32(long long ticks, int* out) {
  const unsigned begun = static_cast<unsigned>(clock());
  while (static_cast<unsigned>(clock()) - begun < static_cast<unsigned>(ticks)) {
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__device__ unsigned long long globaltimer() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

extern "C" __global__ void by_globaltimer(long long ticks, int* out) {
  const unsigned long long begun = globaltimer();
  while (globaltimer() - begun < ticks) {
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

extern "C" __global__ void by_sleeping(long long ticks, int* out) {
  const long long begun = clock64();
  while (clock64() - begun < ticks) __nanosleep(100);
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// Beside a flag that nobody sets.
extern "C" __global__ void by_time_out(long long ticks, int* out) {
  const long long begun = clock64();
  int* mine = out + blockIdx.x * blockDim.x + threadIdx.x;
  while (clock64() - begun < ticks)
    if (*reinterpret_cast<volatile int*>(mine) == 9) break;
  *mine = 1;
}

// Only odd lanes wait.
extern "C" __global__ void by_some_lanes(long long ticks, int* out) {
  const long long begun = clock64();
  if (threadIdx.x % 2 == 1)
    while (clock64() - begun < ticks) {
    }
  __syncwarp();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// The other warps of the block wait at a barrier for the first, which waits.
extern "C" __global__ void before_a_barrier(long long ticks, int* out) {
  const long long begun = clock64();
  if (threadIdx.x < 32)
    while (clock64() - begun < ticks) {
    }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// Block 0 waits for the flag that block 1 sets `after` so long; out[0]: in time?
extern "C" __global__ void flag_with_time_out(long long ticks, long long after, volatile int* flag,
                                              int* out) {
  const long long begun = clock64();
  if (blockIdx.x == 0) {
    int in_time = 0;
    while (clock64() - begun < ticks)
      if (*flag != 0) {
        in_time = 1;
        break;
      }
    *out = in_time;
  } else {
    while (clock64() - begun < after) {
    }
    *flag = 1;
  }
}

// Reads the clock again and again, but what it waits for is a flag that nobody sets.
extern "C" __global__ void flag_in_vain(const volatile int* flag, long long* out) {
  long long now = 0;
  while (*flag == 0) now = clock64();
  *out = now;
}

// Sums up how long short pieces of work took, without a store in between.
extern "C" __global__ void sums(int rounds, long long* out) {
  long long total = 0;
  unsigned x = threadIdx.x;
  for (int i = 0; i < rounds; ++i) {
    const long long begun = clock64();
#pragma unroll 1
    for (int k = 0; k < 8; ++k) x = x * 1664525u + 1013904223u;
    total += clock64() - begun;
  }
  out[0] = total;
  out[1] = x;
}

// How long a wait of `ticks` took by the clock, and that of the work before it.
extern "C" __global__ void measured(long long ticks, long long* out) {
  const long long begun = clock64();
  unsigned x = threadIdx.x;
  for (int i = 0; i < 1000000; ++i) x = x * 1664525u + 1013904223u;
  const long long worked = clock64();
  while (clock64() - worked < ticks) {
  }
  out[0] = worked - begun;
  out[1] = clock64() - worked;
  out[2] = x;
}
