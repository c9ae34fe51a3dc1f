// Operation codes of the decoded form.
#pragma once

#include <cstdint>

#include "host/functional/instructions/alu_table.h"
#include "host/functional/instructions/decoded.h"
#include "host/functional/instructions/slow_table.h"

namespace nearwarp::exec {

/// Predicate entry 0 is all ones, entry 1 the carry flag of add.cc and its like.
inline constexpr uint16_t kTruePredicate = 0;
inline constexpr uint16_t kCarryPredicate = 1;
inline constexpr uint16_t kFirstPredicate = 2;

/// "Predicate operand" below: index times two, plus one if negated.
enum Code : uint16_t {
#define NW_TWO(name, ...) k##name, k##name##M,
  NW_EXEC_UNARY(NW_TWO) NW_EXEC_BINARY(NW_TWO) NW_EXEC_TERNARY(NW_TWO)
#undef NW_TWO
#define NW_SETP(name, ...) kSetp##name,
      NW_EXEC_COMPARE(NW_SETP)  // d: predicate
#undef NW_SETP
  kCvtF32S64,  // to the nearest, of all lanes at once
  kCvtF32S64M,
  kCvtF32U64,
  kCvtF32U64M,
  kPredicateAnd,  // d: predicate; a, b: predicate operands
  kPredicateOr,
  kPredicateXor,
  kSelect32,  // d = c ? a : b; c: predicate operand
  kSelect32M,
  kSelect64,
  kSelect64M,
  // Memory: d/b data row, a address row, c descriptor, imm offset. `Full`: unguarded, full warps.
  kLoadGlobal32Full,
  kLoadGlobal64Full,
  kLoadGlobal32M,
  kLoadGlobal64M,
  kStoreGlobal32M,
  kStoreGlobal64M,
  kStoreGlobal32Full,
  kStoreGlobal64Full,
  kLoadShared32Full,  // 32-bit addresses
  kLoadShared64Full,
  kStoreShared32Full,
  kStoreShared64Full,
  kLoadShared32Known,  // b: access before it in the block that had the same addresses but for imm
  kLoadShared64Known,
  kLoadShared32FullA64,  // 64-bit addresses
  kStoreShared32FullA64,
  kLoad,
  kStore,
  kAtomic,
  kExtended,  // imm: ExtendedDesc
  // In place of the above where races are looked for (host/functional/racecheck): operands as
  // kLoad.
  kCheckedAccess,
  kCheckedSync,  // imm: racecheck::SyncRules of the kernel
  // Control; always the last operation of a block.
  kNext,         // on to the following block
  kJump,         // to block imm
  kBranch,       // lanes of the guard x to block imm, the others to the following block
  kBranchTable,  // a: row of indexes; imm: first table entry; d | b << 16: entries; c | x << 16:
                 // instruction
  kExit,         // lanes of the guard x exit, the others go on to the following block
  kBarrier,      // imm: barrier descriptor
  kSystem,       // imm: descriptor of a call of the runtime
  kTrap,         // guard x; imm: PTX instruction
  kPhaseWait,    // a + imm: the mbarrier, b: predicate of who need not wait, c: memory; guard x
  // Operations between the lanes.
  kShuffle,  // a: value, b: lane, c: clamp; imm: mode | (predicate + 1) << 8
  kVote,     // a: predicate operand, b: member row; imm: mode; d: row or predicate
  kActiveMask,
  kSlowBegin,  // from here on: execute_slow()
#define NW_ONE(name, ...) k##name,
  NW_EXEC_SLOW(NW_ONE)
#undef NW_ONE
      kFloatRounded,  // imm: FloatFlags
  kConvert,           // imm: ConvertFlags
  kCarry,             // imm: CarryFlags
  kHalf,              // imm: HalfFlags
  kHalfCompare,       // d: predicate; c: second predicate + 1; imm: HalfFlags
  kConvertSmall,      // cvt of small floats, tf32: a, b, random bits c; imm: SmallFlags
  kConvertPair,  // cvt.{f16x2,bf16x2}.f32: a: upper, b: lower half; imm: ConvertFlags | relu << 24
  kVideo,        // imm: ptx::VideoDetail; operands already selected and extended
  kSzext,        // imm: bit 0 signed, bit 1 wrap
  kFns,
  kMatch,    // a: value, b: members; imm: bit 0 all, bit 1 64-bit, predicate + 1 << 8
  kRedux,    // a: value, b: members; imm: AtomOp | signed << 8 | f32 << 9 | abs << 10 | NaN << 11
  kElect,    // b: members; imm: predicate + 1; d: row of the leader or kNoRow
  kClock,    // d: row; imm: 0 low, 1 high, 2 both; + 4 * instructions of the block to come
  kIsSpace,  // a: 64-bit row; d: predicate; imm: MemSpace
  kCodeCount,
};

/// Number format of an operand of kConvert.
enum class Number : uint8_t {
  kU8,
  kS8,
  kU16,
  kS16,
  kU32,
  kS32,
  kU64,
  kS64,
  kF16,
  kBF16,
  kF32,
  kF64
};

NW_HD inline bool is_float(Number n) { return n >= Number::kF16; }
NW_HD inline bool is_signed_number(Number n) {
  return n == Number::kS8 || n == Number::kS16 || n == Number::kS32 || n == Number::kS64;
}

/// A NaN becomes an integer with the top bit alone, not 0 (PTX ISA 9.0, cvt).
NW_HD inline bool nan_has_top_bit(Number from, Number to) {
  return from == Number::kF64 || to == Number::kS64 || to == Number::kU64;
}
NW_HD inline unsigned bits_of(Number n) {
  switch (n) {
    case Number::kU8:
    case Number::kS8:
      return 8;
    case Number::kU16:
    case Number::kS16:
    case Number::kF16:
    case Number::kBF16:
      return 16;
    case Number::kU32:
    case Number::kS32:
    case Number::kF32:
      return 32;
    default:
      return 64;
  }
}

/// Rounding of kFloatRounded and kConvert.
enum class Round : uint8_t { kNearest, kZero, kDown, kUp, kNearestAway };

/// imm of kConvert: source, destination, rounding, integral rounding, ftz, sat, register bytes.
struct ConvertFlags {
  Number from, to;
  Round round;
  bool integral;  ///< .rni, .rzi, .rmi, .rpi between floating-point types
  bool ftz, saturate;
  uint8_t reg_bytes;  ///< of the destination register: 2, 4 or 8

  NW_HD static ConvertFlags unpack(int32_t imm) {
    const uint32_t v = static_cast<uint32_t>(imm);
    return {static_cast<Number>(v & 15),
            static_cast<Number>(v >> 4 & 15),
            static_cast<Round>(v >> 8 & 7),
            (v >> 11 & 1) != 0,
            (v >> 12 & 1) != 0,
            (v >> 13 & 1) != 0,
            static_cast<uint8_t>(v >> 16 & 15)};
  }
  NW_HD int32_t pack() const {
    return static_cast<int32_t>(static_cast<uint32_t>(from) | static_cast<uint32_t>(to) << 4 |
                                static_cast<uint32_t>(round) << 8 | uint32_t{integral} << 11 |
                                uint32_t{ftz} << 12 | uint32_t{saturate} << 13 |
                                uint32_t{reg_bytes} << 16);
  }
};

enum class FloatOp : uint8_t { kAdd, kSub, kMul, kFma, kDiv, kRcp, kSqrt };

/// imm of kFloatRounded.
struct FloatFlags {
  FloatOp op;
  Round round;
  bool ftz, saturate, is_double;

  NW_HD static FloatFlags unpack(int32_t imm) {
    const uint32_t v = static_cast<uint32_t>(imm);
    return {static_cast<FloatOp>(v & 15), static_cast<Round>(v >> 4 & 7), (v >> 8 & 1) != 0,
            (v >> 9 & 1) != 0, (v >> 10 & 1) != 0};
  }
  NW_HD int32_t pack() const {
    return static_cast<int32_t>(static_cast<uint32_t>(op) | static_cast<uint32_t>(round) << 4 |
                                uint32_t{ftz} << 8 | uint32_t{saturate} << 9 |
                                uint32_t{is_double} << 10);
  }
};

enum class HalfOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kFma,
  kNeg,
  kAbs,
  kMin,
  kMax,
  kEx2,
  kTanh,
};

/// The number that stands in a box for what lies outside of its tensor, of f16 and bf16: no number
/// to arithmetic, of which it is never a result. PTX does not say which it is; this one is
/// published as measured on GPUs of compute capability 12.0.
inline constexpr uint16_t kOutsideHalf = 0x7ff7;

/// imm of kHalf and kHalfCompare: arithmetic on f16 and bf16, single or in pairs.
struct HalfFlags {
  HalfOp op;
  bool bf16, pair, ftz, saturate, relu, nan, xorsign;
  bool zero_outside;  ///< the result is 0 where a factor is kOutsideHalf
  uint8_t compare;    ///< of kHalfCompare: a ptx::Compare

  NW_HD static HalfFlags unpack(int32_t imm) {
    const uint32_t v = static_cast<uint32_t>(imm);
    return {static_cast<HalfOp>(v & 15), (v >> 4 & 1) != 0,
            (v >> 5 & 1) != 0,           (v >> 6 & 1) != 0,
            (v >> 7 & 1) != 0,           (v >> 8 & 1) != 0,
            (v >> 9 & 1) != 0,           (v >> 10 & 1) != 0,
            (v >> 11 & 1) != 0,          static_cast<uint8_t>(v >> 16)};
  }
  NW_HD int32_t pack() const {
    return static_cast<int32_t>(static_cast<uint32_t>(op) | uint32_t{bf16} << 4 |
                                uint32_t{pair} << 5 | uint32_t{ftz} << 6 | uint32_t{saturate} << 7 |
                                uint32_t{relu} << 8 | uint32_t{nan} << 9 | uint32_t{xorsign} << 10 |
                                uint32_t{zero_outside} << 11 | uint32_t{compare} << 16);
  }
};

/// imm of kCarry: sums (and differences) of up to three addends with the carry flag.
struct CarryFlags {
  bool subtract, carry_in, carry_out, wide, mad, high, is_signed;

  NW_HD static CarryFlags unpack(int32_t v) {
    return {(v & 1) != 0,  (v & 2) != 0,  (v & 4) != 0, (v & 8) != 0,
            (v & 16) != 0, (v & 32) != 0, (v & 64) != 0};
  }
  NW_HD int32_t pack() const {
    return int32_t{subtract} | carry_in << 1 | carry_out << 2 | wide << 3 | mad << 4 | high << 5 |
           is_signed << 6;
  }
};

/// The synchronisation by lanes of a kCheckedSync, besides accesses to memory.
enum class CheckedSync : uint8_t {
  kWarp,
  kFence,
  kClusterFence,
  kBlockFence,
  kCommit,
  kWaitAll,
  kWaitGroup,
  kStoreCommit,    ///< a group of bulk copies out of shared memory
  kStoreWait,      ///< for such groups, or until they have been read
  kProductCommit,  ///< a group of products of a warp group
  kProductFence,   ///< between such products and other accesses to their registers
  kTouch           ///< an instruction that may touch registers of such products
};

/// Executes kCheckedAccess and kCheckedSync; false on a fault.
bool execute_checked(Context& ctx, Warp& warp, const Op& op, uint32_t mask);

/// Executes kExtended; false on a fault.
bool execute_extended(Context& ctx, Warp& warp, const Op& op, uint32_t mask);

/// Executes the codes after kSlowBegin under `mask`; the out-of-line part of the interpreter.
void execute_slow(Context& ctx, Warp& warp, const Op& op, uint32_t mask);

}  // namespace nearwarp::exec
