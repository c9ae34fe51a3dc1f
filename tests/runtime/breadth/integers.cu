// Video instructions, bit fields and carries, by inline assembly.
constexpr int kResults = 16;

extern "C" __global__ void integers(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
  unsigned* o = out + kResults * i;
  asm("vadd.s32.u32.s32.sat %0, %1.b0, %2.h1;" : "=r"(o[0]) : "r"(a), "r"(b));
  asm("vabsdiff.u32.u32.u32.add %0, %1.b1, %2.b2, %3;" : "=r"(o[1]) : "r"(a), "r"(b), "r"(c));
  asm("vmad.s32.s32.u32.shr7 %0, %1.h0, %2.b0, %3;" : "=r"(o[2]) : "r"(a), "r"(b), "r"(c));
  asm("vshl.u32.u32.u32.wrap %0, %1, %2;" : "=r"(o[3]) : "r"(a), "r"(b));
  asm("vset.u32.u32.lt %0, %1.b0, %2.b1;" : "=r"(o[4]) : "r"(a), "r"(b));
  asm("vmax.s32.s32.s32.min %0, %1, %2, %3;" : "=r"(o[5]) : "r"(a), "r"(b), "r"(c));
  asm("szext.wrap.s32 %0, %1, %2;" : "=r"(o[6]) : "r"(a), "r"(b));
  asm("szext.clamp.u32 %0, %1, %2;" : "=r"(o[7]) : "r"(a), "r"(b % 40));
  asm("fns.b32 %0, %1, %2, %3;" : "=r"(o[8]) : "r"(a), "r"(b % 33), "r"(c % 11 - 5));
  o[9] = __vabsdiffu4(a, b);
  o[10] = __vsadu4(a, b);
  asm("vsub2.s32.u32.u32.sat %0, %1, %2, %3;" : "=r"(o[11]) : "r"(a), "r"(b), "r"(0));
  asm("{ .reg .u32 t; add.cc.u32 t, %1, %2; addc.cc.u32 t, %2, %3; addc.u32 %0, t, 0; }"
      : "=r"(o[12])
      : "r"(a), "r"(b), "r"(c));
  asm("{ .reg .u32 t; mad.lo.cc.u32 t, %1, %2, %3; madc.hi.u32 %0, %1, %2, %3; }"
      : "=r"(o[13])
      : "r"(a), "r"(b), "r"(c));
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(o[14]) : "r"(a % 40), "r"(b % 40));
  asm("vavrg4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(o[15]) : "r"(a), "r"(b), "r"(0));
}
