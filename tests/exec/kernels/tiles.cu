// Kernels of the tests of parts of a warp, of clocks and of reserved shared memory; tiles.ptx is
// made from this file by
//   nvcc -arch=sm_90 -ptx tiles.cu -o tiles.ptx

/// Lanes of one warp that name different members: halves, and lanes by their value.
extern "C" __global__ void votes_of_tiles(const int* in, unsigned* out) {
  const int t = threadIdx.x;
  const int v = in[t];
  const unsigned half = 0xffffu << (t & 16);
  unsigned* o = out + t;
  o[0] = __ballot_sync(half, v & 1);
  o[64] = __any_sync(half, v == 17);
  o[128] = __all_sync(half, v < 90);
  const unsigned alike = __match_any_sync(half, v % 3);
  o[192] = alike;
  o[256] = __ballot_sync(alike, v & 2);
  unsigned leader, leads;
  asm volatile(
      "{ .reg .pred p;\n elect.sync %0|p, %2;\n selp.u32 %1, 1, 0, p; }"
      : "=r"(leader), "=r"(leads)
      : "r"(alike));
  o[320] = leader * 2 + leads;
}

/// Times before and after a few instructions without a branch.
extern "C" __global__ void clocks(int* out, int x) {
  unsigned long long before, after;
  unsigned low_before, low_after;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(before)::"memory");
  asm volatile("mov.u32 %0, %%clock;" : "=r"(low_before)::"memory");
  asm volatile("add.s32 %0, %0, 5;" : "+r"(x)::"memory");
  asm volatile("mov.u32 %0, %%clock;" : "=r"(low_after)::"memory");
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(after)::"memory");
  out[0] = static_cast<int>(after - before);
  out[1] = static_cast<int>(low_after - low_before);
  out[2] = x;
}

/// Reverses 64 values through the shared memory that the system reserves, beside the kernel's own.
extern "C" __global__ void reserved(const int* in, int* out) {
  __shared__ int own[64];
  extern __shared__ int more[];
  const int t = threadIdx.x;
  unsigned begin, end, second, total;
  asm("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(begin));
  asm("mov.u32 %0, %%reserved_smem_offset_end;" : "=r"(end));
  asm("mov.u32 %0, %%reserved_smem_offset_1;" : "=r"(second));
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(total));
  own[t] = in[t] + 1;
  more[t] = in[t] + 2;
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(second + 4 * t), "r"(in[t]) : "memory");
  __syncthreads();
  int v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(second + 4 * (63 - t)) : "memory");
  out[t] = v;
  out[64 + t] = own[63 - t] + more[63 - t];
  if (t == 0) out[128] = static_cast<int>(end - begin);
  if (t == 0) out[129] = static_cast<int>(total);
  if (t == 0) out[130] = second >= begin && second + 256 <= end;
}

/// A lane that polls for what another lane writes meets the others where a register names them all.
extern "C" __global__ void meeting(volatile int* flag, int* out) {
  const int lane = threadIdx.x;
  unsigned all;
  asm volatile("mov.b32 %0, -1;" : "=r"(all));
  int v = lane;
  if (lane == 3) {
    do v = flag[0];
    while (v == 0);
    v += 99;
  }
  if (lane == 5) flag[0] = 1;
  asm volatile("bar.warp.sync %0;" ::"r"(all) : "memory");
  asm volatile("shfl.sync.idx.b32 %0, %0, 3, 31, %1;" : "+r"(v) : "r"(all) : "memory");
  out[lane] = v;
}
