// Arithmetic that is rare in real kernels: same form as alu_table.h, one (masked) code each,
// executed out of line. All have three sources; unused ones read row 0.
#pragma once

#include "host/functional/instructions/scalar.h"

// clang-format off
#define NW_EXEC_SLOW(X)                                                                            \
  X(MadHiU32, uint32_t, uint32_t, uint32_t, uint32_t, static_cast<uint32_t>(uint64_t{a} * b >> 32) + c) \
  X(MadHiS32, uint32_t, int32_t, int32_t, uint32_t, static_cast<uint32_t>(int64_t{a} * b >> 32) + c) \
  X(MulHiU64, uint64_t, uint64_t, uint64_t, uint32_t, mulhi_u64(a, b))                             \
  X(MulHiS64, int64_t, int64_t, int64_t, uint32_t, mulhi_s64(a, b))                                \
  X(MadHiU64, uint64_t, uint64_t, uint64_t, uint64_t, mulhi_u64(a, b) + c)                         \
  X(MadHiS64, uint64_t, int64_t, int64_t, uint64_t, static_cast<uint64_t>(mulhi_s64(a, b)) + c)    \
  X(DivU64, uint64_t, uint64_t, uint64_t, uint32_t, div_u(a, b))                                   \
  X(RemU64, uint64_t, uint64_t, uint64_t, uint32_t, rem_u(a, b))                                   \
  X(DivS64, int64_t, int64_t, int64_t, uint32_t, (div_s<int64_t, uint64_t>(a, b)))                 \
  X(RemS64, int64_t, int64_t, int64_t, uint32_t, rem_s(a, b))                                      \
  X(Abs64, uint64_t, int64_t, uint32_t, uint32_t, a < 0 ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a)) \
  X(SadU32, uint32_t, uint32_t, uint32_t, uint32_t, c + (a > b ? a - b : b - a))                   \
  X(SadS32, uint32_t, int32_t, int32_t, uint32_t, c + (a > b ? uint32_t(a) - uint32_t(b) : uint32_t(b) - uint32_t(a))) \
  X(SadU64, uint64_t, uint64_t, uint64_t, uint64_t, c + (a > b ? a - b : b - a))                   \
  X(SadS64, uint64_t, int64_t, int64_t, uint64_t, c + (a > b ? uint64_t(a) - uint64_t(b) : uint64_t(b) - uint64_t(a))) \
  X(Mul24LoU, uint32_t, uint32_t, uint32_t, uint32_t, (a & 0xffffffu) * (b & 0xffffffu))           \
  X(Mul24LoS, uint32_t, uint32_t, uint32_t, uint32_t, static_cast<uint32_t>(int64_t{sext24(a)} * sext24(b))) \
  X(Mul24HiU, uint32_t, uint32_t, uint32_t, uint32_t, static_cast<uint32_t>(uint64_t{a & 0xffffffu} * (b & 0xffffffu) >> 16)) \
  X(Mul24HiS, uint32_t, uint32_t, uint32_t, uint32_t, static_cast<uint32_t>(int64_t{sext24(a)} * sext24(b) >> 16)) \
  X(Mad24LoU, uint32_t, uint32_t, uint32_t, uint32_t, (a & 0xffffffu) * (b & 0xffffffu) + c)       \
  X(Mad24LoS, uint32_t, uint32_t, uint32_t, uint32_t, static_cast<uint32_t>(int64_t{sext24(a)} * sext24(b)) + c) \
  X(Mad24HiU, uint32_t, uint32_t, uint32_t, uint32_t, static_cast<uint32_t>(uint64_t{a & 0xffffffu} * (b & 0xffffffu) >> 16) + c) \
  X(Mad24HiS, uint32_t, uint32_t, uint32_t, uint32_t, static_cast<uint32_t>(int64_t{sext24(a)} * sext24(b) >> 16) + c) \
  X(AddSatS32, int32_t, int32_t, int32_t, uint32_t, clamp_s32(int64_t{a} + b))                     \
  X(SubSatS32, int32_t, int32_t, int32_t, uint32_t, clamp_s32(int64_t{a} - b))                     \
  X(MadHiSatS32, int32_t, int32_t, int32_t, int32_t, clamp_s32((int64_t{a} * b >> 32) + c))        \
  X(Cnot16, uint32_t, uint32_t, uint32_t, uint32_t, (a & 0xffffu) == 0 ? 1u : 0u)                  \
  X(Cnot32, uint32_t, uint32_t, uint32_t, uint32_t, a == 0 ? 1u : 0u)                              \
  X(Cnot64, uint64_t, uint64_t, uint32_t, uint32_t, a == 0 ? uint64_t{1} : uint64_t{0})            \
  X(Clz64, uint32_t, uint64_t, uint32_t, uint32_t, clz64(a))                                       \
  X(Brev64, uint64_t, uint64_t, uint32_t, uint32_t, brev64(a))                                     \
  X(BfindU32, uint32_t, uint32_t, uint32_t, uint32_t, bfind_u32(a, op.imm != 0))                   \
  X(BfindS32, uint32_t, int32_t, uint32_t, uint32_t, bfind_s32(a, op.imm != 0))                    \
  X(BfindU64, uint32_t, uint64_t, uint32_t, uint32_t, bfind_u64(a, op.imm != 0))                   \
  X(BfindS64, uint32_t, int64_t, uint32_t, uint32_t, bfind_s64(a, op.imm != 0))                    \
  X(BfeU32, uint32_t, uint32_t, uint32_t, uint32_t, (bfe<uint32_t, 32>(a, b, c, false)))           \
  X(BfeS32, uint32_t, uint32_t, uint32_t, uint32_t, (bfe<uint32_t, 32>(a, b, c, true)))            \
  X(BfeU64, uint64_t, uint64_t, uint32_t, uint32_t, (bfe<uint64_t, 64>(a, b, c, false)))           \
  X(BfeS64, uint64_t, uint64_t, uint32_t, uint32_t, (bfe<uint64_t, 64>(a, b, c, true)))            \
  X(FieldSpec, uint32_t, uint32_t, uint32_t, uint32_t, (a & 0xffu) | (b & 0xffu) << 8)             \
  X(Bfi32, uint32_t, uint32_t, uint32_t, uint32_t, (bfi<uint32_t, 32>(a, b, c, c >> 8)))           \
  X(Bfi64, uint64_t, uint64_t, uint64_t, uint32_t, (bfi<uint64_t, 64>(a, b, c, c >> 8)))           \
  X(Bmsk, uint32_t, uint32_t, uint32_t, uint32_t, bmsk(a, b, op.imm != 0))                         \
  X(Prmt, uint32_t, uint32_t, uint32_t, uint32_t, prmt(a, b, c, op.imm))                           \
  X(Dp4a, uint32_t, uint32_t, uint32_t, uint32_t, dp4a(a, b, c, static_cast<uint32_t>(op.imm)))    \
  X(Dp2a, uint32_t, uint32_t, uint32_t, uint32_t, dp2a(a, b, c, static_cast<uint32_t>(op.imm)))    \
  X(ShfLeftClamp, uint32_t, uint32_t, uint32_t, uint32_t, funnel_left_clamp(a, b, c))              \
  X(ShfRightClamp, uint32_t, uint32_t, uint32_t, uint32_t, funnel_right(a, b, c))                  \
  X(MulHiU16, uint32_t, uint32_t, uint32_t, uint32_t, (a & 0xffffu) * (b & 0xffffu) >> 16)         \
  X(MulHiS16, uint32_t, uint32_t, uint32_t, uint32_t, static_cast<uint32_t>(s16(a) * s16(b)) >> 16) \
  X(MulWideU16, uint32_t, uint32_t, uint32_t, uint32_t, (a & 0xffffu) * (b & 0xffffu))             \
  X(MulWideS16, uint32_t, uint32_t, uint32_t, uint32_t, static_cast<uint32_t>(s16(a) * s16(b)))    \
  X(Mad16, uint32_t, uint32_t, uint32_t, uint32_t, (a * b + c) & 0xffffu)                          \
  X(MadHiU16, uint32_t, uint32_t, uint32_t, uint32_t, (((a & 0xffffu) * (b & 0xffffu) >> 16) + c) & 0xffffu) \
  X(MadHiS16, uint32_t, uint32_t, uint32_t, uint32_t, ((static_cast<uint32_t>(s16(a) * s16(b)) >> 16) + c) & 0xffffu) \
  X(MadWideU16, uint32_t, uint32_t, uint32_t, uint32_t, (a & 0xffffu) * (b & 0xffffu) + c)         \
  X(MadWideS16, uint32_t, uint32_t, uint32_t, uint32_t, static_cast<uint32_t>(s16(a) * s16(b)) + c) \
  X(DivU16, uint32_t, uint32_t, uint32_t, uint32_t, div_u(a & 0xffffu, b & 0xffffu) & 0xffffu)     \
  X(RemU16, uint32_t, uint32_t, uint32_t, uint32_t, rem_u(a & 0xffffu, b & 0xffffu))               \
  X(DivS16, uint32_t, uint32_t, uint32_t, uint32_t, static_cast<uint32_t>(div_s<int32_t, uint32_t>(s16(a), s16(b))) & 0xffffu) \
  X(RemS16, uint32_t, uint32_t, uint32_t, uint32_t, static_cast<uint32_t>(rem_s(s16(a), s16(b))) & 0xffffu) \
  X(MinU16, uint32_t, uint32_t, uint32_t, uint32_t, (a & 0xffffu) < (b & 0xffffu) ? a & 0xffffu : b & 0xffffu) \
  X(MaxU16, uint32_t, uint32_t, uint32_t, uint32_t, (a & 0xffffu) > (b & 0xffffu) ? a & 0xffffu : b & 0xffffu) \
  X(MinS16, uint32_t, uint32_t, uint32_t, uint32_t, (s16(a) < s16(b) ? a : b) & 0xffffu)           \
  X(MaxS16, uint32_t, uint32_t, uint32_t, uint32_t, (s16(a) > s16(b) ? a : b) & 0xffffu)           \
  X(Neg16, uint32_t, uint32_t, uint32_t, uint32_t, (0u - a) & 0xffffu)                             \
  X(Abs16, uint32_t, uint32_t, uint32_t, uint32_t, static_cast<uint32_t>(s16(a) < 0 ? -s16(a) : s16(a)) & 0xffffu) \
  X(SadU16, uint32_t, uint32_t, uint32_t, uint32_t, (c + ((a & 0xffffu) > (b & 0xffffu) ? a - b : b - a)) & 0xffffu) \
  X(SadS16, uint32_t, uint32_t, uint32_t, uint32_t, (c + static_cast<uint32_t>(s16(a) > s16(b) ? s16(a) - s16(b) : s16(b) - s16(a))) & 0xffffu) \
  X(Shl16, uint32_t, uint32_t, uint32_t, uint32_t, b > 15 ? 0u : (a << b) & 0xffffu)               \
  X(ShrU16, uint32_t, uint32_t, uint32_t, uint32_t, b > 15 ? 0u : (a & 0xffffu) >> b)              \
  X(ShrS16, uint32_t, uint32_t, uint32_t, uint32_t, static_cast<uint32_t>(s16(a) >> (b > 15 ? 15 : b)) & 0xffffu) \
  X(MinNanF32, float, float, float, uint32_t, a != a || b != b ? canonical_nan(a) : float_min(a, b)) \
  X(MaxNanF32, float, float, float, uint32_t, a != a || b != b ? canonical_nan(a) : float_max(a, b)) \
  X(MinNanF32Z, float, float, float, uint32_t, a != a || b != b ? canonical_nan(a) : float_min(flush(a), flush(b))) \
  X(MaxNanF32Z, float, float, float, uint32_t, a != a || b != b ? canonical_nan(a) : float_max(flush(a), flush(b))) \
  X(CopysignF32, float, float, float, uint32_t, copysign_f(a, b))                                  \
  X(CopysignF64, double, double, double, uint32_t, copysign_f(a, b))                               \
  X(NegF32Z, float, float, uint32_t, uint32_t, -flush(a))                                          \
  X(AbsF32Z, float, float, uint32_t, uint32_t, std::fabs(flush(a)))                                \
  X(SatF32Z, float, float, uint32_t, uint32_t, saturate(flush(a)))                                 \
  X(SatF64, double, double, uint32_t, uint32_t, saturate(a))                                       \
  X(FlushF32, float, float, uint32_t, uint32_t, flush(a))                                          \
  X(RsqrtF64, double, double, uint32_t, uint32_t, 1.0 / std::sqrt(a))                              \
  X(SlctS32x32, uint32_t, uint32_t, uint32_t, int32_t, c >= 0 ? a : b)                             \
  X(SlctS32x64, uint64_t, uint64_t, uint64_t, int32_t, c >= 0 ? a : b)                             \
  X(SlctF32x32, uint32_t, uint32_t, uint32_t, float, c >= 0.0f ? a : b)                            \
  X(SlctF32x64, uint64_t, uint64_t, uint64_t, float, c >= 0.0f ? a : b)                            \
  X(SlctF32Zx32, uint32_t, uint32_t, uint32_t, float, flush(c) >= 0.0f ? a : b)                    \
  X(SlctF32Zx64, uint64_t, uint64_t, uint64_t, float, flush(c) >= 0.0f ? a : b)                    \
  X(Half0, uint32_t, uint32_t, uint32_t, uint32_t, a & 0xffffu)                                    \
  X(Half1, uint32_t, uint32_t, uint32_t, uint32_t, a >> 16)                                        \
  X(Quarter, uint32_t, uint64_t, uint32_t, uint32_t, static_cast<uint32_t>(a >> (16 * op.imm)) & 0xffffu) \
  X(Byte, uint32_t, uint32_t, uint32_t, uint32_t, a >> (8 * op.imm) & 0xffu)                       \
  X(Pack32, uint32_t, uint32_t, uint32_t, uint32_t, (a & 0xffffu) | b << 16)                       \
  X(InsertByte, uint32_t, uint32_t, uint32_t, uint32_t, (a & ~(0xffu << (8 * op.imm))) | (b & 0xffu) << (8 * op.imm)) \
  X(InsertHalf, uint64_t, uint64_t, uint32_t, uint32_t, (a & ~(uint64_t{0xffff} << (16 * op.imm))) | uint64_t{b & 0xffffu} << (16 * op.imm)) \
  X(TestpF32, uint32_t, float, uint32_t, uint32_t, testp(a, op.imm))                               \
  X(TestpF64, uint32_t, double, uint32_t, uint32_t, testp(a, op.imm))
// clang-format on

namespace nearwarp::exec {

NW_HD NW_INLINE int32_t clamp_s32(int64_t v) {
  if (v > INT32_MAX) return INT32_MAX;
  return v < INT32_MIN ? INT32_MIN : static_cast<int32_t>(v);
}
NW_HD NW_INLINE int32_t s16(uint32_t a) { return static_cast<int16_t>(a); }
NW_HD NW_INLINE uint32_t funnel_left_clamp(uint32_t lo, uint32_t hi, uint32_t n) {
  return n >= 32 ? lo : funnel_left(lo, hi, n);
}

/// testp: kind 1 finite, 2 infinite, 3 number, 4 not a number, 5 normal, 6 subnormal.
template <class T>
NW_HD NW_INLINE uint32_t testp(T a, int kind) {
  const bool nan = a != a, finite = !nan && a - a == T{0};
  const T magnitude = a < 0 ? -a : a;
  const T least_normal = static_cast<T>(sizeof(T) == 4 ? 0x1p-126 : 0x1p-1022);
  switch (kind) {
    case 1:
      return finite;
    case 2:
      return !nan && !finite;
    case 3:
      return !nan;
    case 4:
      return nan;
    case 5:
      return finite && magnitude >= least_normal;
    default:
      return finite && magnitude > 0 && magnitude < least_normal;
  }
}

}  // namespace nearwarp::exec
