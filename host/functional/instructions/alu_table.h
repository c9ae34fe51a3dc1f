// Arithmetic operations of the interpreter's fast path, one line each:
//   X(name, destination, source types..., expression over a, b, c)
// Every name stands for two codes: kName writes all lanes, kNameM those of the guarded mask.
// 16-bit values live zero-extended in 32-bit lanes.
#pragma once

#include "host/functional/instructions/approx.h"
#include "host/functional/instructions/scalar.h"

// clang-format off
#define NW_EXEC_UNARY(X)                                                                         \
  X(Mov32, uint32_t, uint32_t, a)                                                                \
  X(Mov64, uint64_t, uint64_t, a)                                                                \
  X(Not32, uint32_t, uint32_t, ~a)                                                               \
  X(Not64, uint64_t, uint64_t, ~a)                                                               \
  X(Not16, uint32_t, uint32_t, ~a & 0xffffu)                                                     \
  X(Neg32, uint32_t, uint32_t, 0u - a)                                                           \
  X(Neg64, uint64_t, uint64_t, uint64_t{0} - a)                                                  \
  X(Abs32, uint32_t, int32_t, a < 0 ? 0u - static_cast<uint32_t>(a) : static_cast<uint32_t>(a))  \
  X(Popc32, uint32_t, uint32_t, static_cast<uint32_t>(__builtin_popcount(a)))                    \
  X(Popc64, uint32_t, uint64_t, static_cast<uint32_t>(__builtin_popcountll(a)))                  \
  X(Clz32, uint32_t, uint32_t, clz32(a))                                                         \
  X(Brev32, uint32_t, uint32_t, brev32(a))                                                       \
  X(NegF32, uint32_t, uint32_t, a ^ 0x80000000u)                                                 \
  X(AbsF32, uint32_t, uint32_t, a & 0x7fffffffu)                                                 \
  X(NegF64, uint64_t, uint64_t, a ^ (uint64_t{1} << 63))                                         \
  X(AbsF64, uint64_t, uint64_t, a & ~(uint64_t{1} << 63))                                        \
  X(SatF32, float, float, saturate(a))                                                           \
  X(SqrtF32, float, float, std::sqrt(a))                                                         \
  X(SqrtF64, double, double, std::sqrt(a))                                                       \
  X(RcpF32, float, float, 1.0f / a)                                                              \
  X(RcpF64, double, double, 1.0 / a)                                                             \
  X(RsqrtF32, float, float, rsqrt_approx(a))                                                     \
  X(Ex2F32, float, float, ex2_approx(a))                                                         \
  X(Ex2F32Z, float, float, flush(ex2_approx(flush(a))))                                          \
  X(Lg2F32, float, float, lg2_approx(a))                                                         \
  X(Lg2F32Z, float, float, flush(lg2_approx(flush(a))))                                          \
  X(SinF32, float, float, sin_approx(a))                                                         \
  X(CosF32, float, float, cos_approx(a))                                                         \
  X(SinF32Z, float, float, flush(sin_approx(flush(a))))                                          \
  X(CosF32Z, float, float, flush(cos_approx(flush(a))))                                          \
  X(RcpF32Z, float, float, flush(1.0f / flush(a)))                                               \
  X(SqrtF32Z, float, float, flush(std::sqrt(flush(a))))                                          \
  X(RsqrtF32Z, float, float, flush(rsqrt_approx(flush(a))))                                      \
  X(TanhF32, float, float, tanh_approx(a))                                                       \
  X(CvtU64U32, uint64_t, uint32_t, uint64_t{a})                                                  \
  X(CvtS64S32, int64_t, int32_t, int64_t{a})                                                     \
  X(CvtU32U64, uint32_t, uint64_t, static_cast<uint32_t>(a))                                     \
  X(Hi64, uint32_t, uint64_t, static_cast<uint32_t>(a >> 32))                                    \
  X(CvtF32S32, float, int32_t, static_cast<float>(a))                                            \
  X(CvtF32U32, float, uint32_t, static_cast<float>(a))                                           \
  X(CvtF64S32, double, int32_t, static_cast<double>(a))                                          \
  X(CvtF64U32, double, uint32_t, static_cast<double>(a))                                         \
  X(CvtF64F32, double, float, static_cast<double>(a))                                            \
  X(CvtF32F64, float, double, static_cast<float>(a))                                             \
  X(CvtS32F32, int32_t, float, truncated_s32(a))                                                 \
  X(CvtU32F32, uint32_t, float, truncated_u32(a))                                                \
  X(CvtS32F64, int32_t, double, truncated_s32(a))                                                \
  X(CvtF64S64, double, int64_t, static_cast<double>(a))                                          \
  X(CvtF32F16, float, uint32_t, half_to_float(a))                                                \
  X(CvtF16F32, uint32_t, float, float_to_half(a))                                                \
  X(FloorF32, float, float, number_or_nan(std::floor(a)))                                        \
  X(CeilF32, float, float, number_or_nan(std::ceil(a)))                                          \
  X(TruncF32, float, float, number_or_nan(std::trunc(a)))                                        \
  X(RintF32, float, float, number_or_nan(std::rint(a)))                                          \
  X(FloorF64, double, double, number_or_nan(std::floor(a)))                                      \
  X(CeilF64, double, double, number_or_nan(std::ceil(a)))                                        \
  X(TruncF64, double, double, number_or_nan(std::trunc(a)))                                      \
  X(RintF64, double, double, number_or_nan(std::rint(a)))                                        \
  X(LowS64, int64_t, uint64_t, static_cast<int64_t>(static_cast<int32_t>(a)))                    \
  X(LowU64, uint64_t, uint64_t, a & 0xffffffffu)                                                 \
  X(ExtU8, uint32_t, uint32_t, a & 0xffu)                                                        \
  X(ExtU16, uint32_t, uint32_t, a & 0xffffu)                                                     \
  X(ExtS8, uint32_t, uint32_t, static_cast<uint32_t>(static_cast<int32_t>(a << 24) >> 24))       \
  X(ExtS16, uint32_t, uint32_t, static_cast<uint32_t>(static_cast<int32_t>(a << 16) >> 16))

#define NW_EXEC_BINARY(X)                                                                        \
  X(Add32, uint32_t, uint32_t, uint32_t, a + b)                                                  \
  X(Sub32, uint32_t, uint32_t, uint32_t, a - b)                                                  \
  X(Mul32, uint32_t, uint32_t, uint32_t, a * b)                                                  \
  X(MulHiU32, uint32_t, uint32_t, uint32_t, static_cast<uint32_t>(uint64_t{a} * b >> 32))        \
  X(MulHiS32, uint32_t, int32_t, int32_t, static_cast<uint32_t>(int64_t{a} * b >> 32))           \
  X(MulWideU32, uint64_t, uint32_t, uint32_t, uint64_t{a} * b)                                   \
  X(MulWideS32, int64_t, int32_t, int32_t, int64_t{a} * b)                                       \
  X(MinU32, uint32_t, uint32_t, uint32_t, a < b ? a : b)                                         \
  X(MaxU32, uint32_t, uint32_t, uint32_t, a > b ? a : b)                                         \
  X(MinS32, int32_t, int32_t, int32_t, a < b ? a : b)                                            \
  X(MaxS32, int32_t, int32_t, int32_t, a > b ? a : b)                                            \
  X(And32, uint32_t, uint32_t, uint32_t, a & b)                                                  \
  X(Or32, uint32_t, uint32_t, uint32_t, a | b)                                                   \
  X(Xor32, uint32_t, uint32_t, uint32_t, a ^ b)                                                  \
  X(Shl32, uint32_t, uint32_t, uint32_t, shl32(a, b))                                            \
  X(ShrU32, uint32_t, uint32_t, uint32_t, shr_u32(a, b))                                         \
  X(ShrS32, int32_t, int32_t, uint32_t, shr_s32(a, b))                                           \
  X(DivU32, uint32_t, uint32_t, uint32_t, div_u(a, b))                                           \
  X(RemU32, uint32_t, uint32_t, uint32_t, rem_u(a, b))                                           \
  X(DivS32, int32_t, int32_t, int32_t, (div_s<int32_t, uint32_t>(a, b)))                         \
  X(RemS32, int32_t, int32_t, int32_t, rem_s(a, b))                                              \
  X(Add64, uint64_t, uint64_t, uint64_t, a + b)                                                  \
  X(Sub64, uint64_t, uint64_t, uint64_t, a - b)                                                  \
  X(Mul64, uint64_t, uint64_t, uint64_t, a * b)                                                  \
  X(And64, uint64_t, uint64_t, uint64_t, a & b)                                                  \
  X(Or64, uint64_t, uint64_t, uint64_t, a | b)                                                   \
  X(Xor64, uint64_t, uint64_t, uint64_t, a ^ b)                                                  \
  X(Shl64, uint64_t, uint64_t, uint32_t, shl64(a, b))                                            \
  X(ShrU64, uint64_t, uint64_t, uint32_t, shr_u64(a, b))                                         \
  X(ShrS64, int64_t, int64_t, uint32_t, shr_s64(a, b))                                           \
  X(MinU64, uint64_t, uint64_t, uint64_t, a < b ? a : b)                                         \
  X(MaxU64, uint64_t, uint64_t, uint64_t, a > b ? a : b)                                         \
  X(MinS64, int64_t, int64_t, int64_t, a < b ? a : b)                                            \
  X(MaxS64, int64_t, int64_t, int64_t, a > b ? a : b)                                            \
  X(Add16, uint32_t, uint32_t, uint32_t, (a + b) & 0xffffu)                                      \
  X(Sub16, uint32_t, uint32_t, uint32_t, (a - b) & 0xffffu)                                      \
  X(Mul16, uint32_t, uint32_t, uint32_t, (a * b) & 0xffffu)                                      \
  X(AddF32, float, float, float, a + b)                                                          \
  X(SubF32, float, float, float, a - b)                                                          \
  X(MulF32, float, float, float, a * b)                                                          \
  X(DivF32, float, float, float, a / b)                                                          \
  X(MinF32, float, float, float, float_min(a, b))                                                \
  X(MaxF32, float, float, float, float_max(a, b))                                                \
  X(AddF32Z, float, float, float, flush(flush(a) + flush(b)))                                    \
  X(SubF32Z, float, float, float, flush(flush(a) - flush(b)))                                    \
  X(MulF32Z, float, float, float, flush(flush(a) * flush(b)))                                    \
  X(DivF32Z, float, float, float, flush(flush(a) / flush(b)))                                    \
  X(MinF32Z, float, float, float, float_min(flush(a), flush(b)))                                 \
  X(MaxF32Z, float, float, float, float_max(flush(a), flush(b)))                                 \
  X(AddF64, double, double, double, a + b)                                                       \
  X(SubF64, double, double, double, a - b)                                                       \
  X(MulF64, double, double, double, a * b)                                                       \
  X(DivF64, double, double, double, a / b)                                                       \
  X(MinF64, double, double, double, float_min(a, b))                                             \
  X(MaxF64, double, double, double, float_max(a, b))                                             \
  X(Pack64, uint64_t, uint32_t, uint32_t, uint64_t{b} << 32 | a)

#define NW_EXEC_TERNARY(X)                                                                       \
  X(Mad32, uint32_t, uint32_t, uint32_t, uint32_t, a * b + c)                                    \
  X(MadWideU32, uint64_t, uint32_t, uint32_t, uint64_t, uint64_t{a} * b + c)                     \
  X(MadWideS32, uint64_t, int32_t, int32_t, uint64_t, static_cast<uint64_t>(int64_t{a} * b) + c) \
  X(Mad64, uint64_t, uint64_t, uint64_t, uint64_t, a * b + c)                                    \
  X(FmaF32, float, float, float, float, __builtin_fmaf(a, b, c))                                 \
  X(FmaF32Z, float, float, float, float, flush(__builtin_fmaf(flush(a), flush(b), flush(c))))    \
  X(FmaF64, double, double, double, double, __builtin_fma(a, b, c))                              \
  X(Lop3, uint32_t, uint32_t, uint32_t, uint32_t, lop3(a, b, c, static_cast<uint32_t>(op.imm)))  \
  X(ShfLeft, uint32_t, uint32_t, uint32_t, uint32_t, funnel_left(a, b, c & 31))                  \
  X(ShfRight, uint32_t, uint32_t, uint32_t, uint32_t, funnel_right(a, b, c & 31))

// Comparisons: X(name, type, expression); the result is a predicate.
#define NW_EXEC_COMPARE(X)                                                                       \
  X(Eq32, uint32_t, a == b) X(Ne32, uint32_t, a != b)                                            \
  X(LtU32, uint32_t, a < b) X(LeU32, uint32_t, a <= b)                                           \
  X(GtU32, uint32_t, a > b) X(GeU32, uint32_t, a >= b)                                           \
  X(LtS32, int32_t, a < b) X(LeS32, int32_t, a <= b)                                             \
  X(GtS32, int32_t, a > b) X(GeS32, int32_t, a >= b)                                             \
  X(Eq64, uint64_t, a == b) X(Ne64, uint64_t, a != b)                                            \
  X(LtU64, uint64_t, a < b) X(LeU64, uint64_t, a <= b)                                           \
  X(GtU64, uint64_t, a > b) X(GeU64, uint64_t, a >= b)                                           \
  X(LtS64, int64_t, a < b) X(LeS64, int64_t, a <= b)                                             \
  X(GtS64, int64_t, a > b) X(GeS64, int64_t, a >= b)                                             \
  X(EqF32, float, a == b) X(NeuF32, float, !(a == b))                                            \
  X(NeF32, float, a < b || a > b) X(EquF32, float, !(a < b || a > b))                            \
  X(LtF32, float, a < b) X(GeuF32, float, !(a < b))                                              \
  X(LeF32, float, a <= b) X(GtuF32, float, !(a <= b))                                            \
  X(GtF32, float, a > b) X(LeuF32, float, !(a > b))                                              \
  X(GeF32, float, a >= b) X(LtuF32, float, !(a >= b))                                            \
  X(NumF32, float, a == a && b == b) X(NanF32, float, a != a || b != b)                          \
  X(EqF64, double, a == b) X(NeuF64, double, !(a == b))                                          \
  X(NeF64, double, a < b || a > b) X(EquF64, double, !(a < b || a > b))                          \
  X(LtF64, double, a < b) X(GeuF64, double, !(a < b))                                            \
  X(LeF64, double, a <= b) X(GtuF64, double, !(a <= b))                                          \
  X(GtF64, double, a > b) X(LeuF64, double, !(a > b))                                            \
  X(GeF64, double, a >= b) X(LtuF64, double, !(a >= b))                                          \
  X(NumF64, double, a == a && b == b) X(NanF64, double, a != a || b != b)
// clang-format on
