// Vocabulary of PTX that the parser, the compiler and the executor share: types, spaces, opcodes.
#pragma once

#include <cstdint>

namespace nearwarp::ptx {

/// Fundamental types of PTX ISA 9.0, section 5.2.
enum class Type : uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBF16,
  kBF16x2,
  kF32,
  kF64,
};

/// Size of a value of `type` in bytes; 0 for kNone and kPred.
constexpr unsigned size_of(Type type) {
  switch (type) {
    case Type::kB8:
    case Type::kU8:
    case Type::kS8:
      return 1;
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBF16:
      return 2;
    case Type::kB32:
    case Type::kU32:
    case Type::kS32:
    case Type::kF32:
    case Type::kF16x2:
    case Type::kBF16x2:
      return 4;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64:
      return 8;
    case Type::kB128:
      return 16;
    case Type::kNone:
    case Type::kPred:
      return 0;
  }
  return 0;
}
/// The untyped, unsigned or signed type of so many bytes: 1, 2, 4, else 8.
constexpr Type bits_type(uint64_t bytes) {
  return bytes == 1 ? Type::kB8 : bytes == 2 ? Type::kB16 : bytes == 4 ? Type::kB32 : Type::kB64;
}
constexpr Type unsigned_type(uint64_t bytes) {
  return bytes == 1 ? Type::kU8 : bytes == 2 ? Type::kU16 : bytes == 4 ? Type::kU32 : Type::kU64;
}
constexpr Type signed_type(uint64_t bytes) {
  return bytes == 1 ? Type::kS8 : bytes == 2 ? Type::kS16 : bytes == 4 ? Type::kS32 : Type::kS64;
}
constexpr bool is_signed(Type t) {
  return t == Type::kS8 || t == Type::kS16 || t == Type::kS32 || t == Type::kS64;
}
constexpr bool is_float(Type t) {
  return t == Type::kF16 || t == Type::kF16x2 || t == Type::kBF16 || t == Type::kBF16x2 ||
         t == Type::kF32 || t == Type::kF64;
}

enum class Space : uint8_t { kNone, kGeneric, kGlobal, kShared, kLocal, kConst, kParam };

enum class Opcode : uint8_t {
  // Integer and floating-point arithmetic; Instruction::type tells them apart.
  kAdd,
  kSub,
  kMul,
  kMad,
  kFma,
  kMul24,
  kMad24,
  kDiv,
  kRem,
  kNeg,
  kAbs,
  kMin,
  kMax,
  kAddc,
  kSubc,
  kMadc,  // carry in; Modifiers::carry_out for `.cc` on any of them
  kSad,
  kRcp,
  kSqrt,
  kRsqrt,
  kSin,
  kCos,
  kLg2,
  kEx2,
  kTanh,
  kCopysign,
  kTestp,
  // Logic, shifts, bit fields.
  kAnd,
  kOr,
  kXor,
  kNot,
  kCnot,
  kShl,
  kShr,
  kShf,
  kLop3,
  kPopc,
  kClz,
  kBrev,
  kBfind,
  kBfe,
  kBfi,
  kBmsk,
  kPrmt,
  kDp4a,
  kDp2a,
  kSzext,
  kFns,
  kVideo,  ///< vadd ... vset and their 2- and 4-way forms; Modifiers::detail
  // Comparison and selection.
  kSetp,
  kSet,
  kSelp,
  kSlct,
  // Data movement. kMov also takes packing and unpacking: several dsts or several srcs.
  kMov,
  kCvt,
  kCvta,
  kIsspacep,
  kLd,
  kLdu,
  kSt,
  kPrefetch,
  kAtom,
  kRed,
  kTex,  ///< tex, tld4; Modifiers::detail
  kSuld,
  kSust,
  kCpAsync,   ///< executed as a load and a store
  kMbarrier,  ///< executed as atomics on shared memory; Modifiers::detail is an MbarrierOp
  kLdmatrix,  ///< executed as shuffles and shared loads
  kStmatrix,
  kMovmatrix,
  kWmmaLoad,  ///< executed as loads
  kWmmaStore,
  kMma,  ///< mma, wmma.mma; Modifiers::detail
  kMapa,
  kCreatePolicy,
  // Warp-level.
  kShfl,
  kVote,
  kMatch,
  kActivemask,
  kRedux,
  kBarWarp,
  kElect,
  // Control.
  kBra,
  kBrx,
  kCall,
  kRet,
  kExit,
  kTrap,
  kBar,
  kBarRed,
  kMembar,
  kNanosleep,
  kSystem,  ///< a call of the CUDA runtime (vprintf, malloc, ...); Modifiers::system says which
  kNop,
  // Tiles' instructions, from sm_90 on. Modifiers::detail is a TensorDetail or a WarpMatrixDetail.
  kTensorSize,    ///< how many steps a copy of a box takes, and its bytes
  kTensorLoad,    ///< one step: up to 32 pieces of 16 bytes from global to shared memory
  kTensorStore,   ///< the same from shared to global memory
  kTensorReduce,  ///< the same, combined with what is there
  kWarpMma,       ///< wgmma, and mma of numbers that registers have no types for
  kWgmmaCommit,   ///< the products of a warp until here are a group
  kWgmmaWait,     ///< for groups
  kPhaseWait,     ///< the end of mbarrier.try_wait: lanes whose phase is over go on
  kAlloca,        ///< alloca, stacksave, stackrestore: Modifiers::detail is a StackOp
  kCount,         ///< of opcodes; none itself
};

enum class Compare : uint8_t {
  kNone,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kLo,
  kLs,
  kHi,
  kHs,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan,
};
enum class BoolOp : uint8_t { kNone, kAnd, kOr, kXor };
/// kRni..kRpi round to integral values in floating point or on conversion to integers.
enum class Rounding : uint8_t { kNone, kRn, kRz, kRm, kRp, kRna, kRni, kRzi, kRmi, kRpi, kRs };
enum class MulPart : uint8_t { kNone, kLo, kHi, kWide };
enum class AtomicOp : uint8_t {
  kNone,
  kAdd,
  kMin,
  kMax,
  kAnd,
  kOr,
  kXor,
  kExch,
  kCas,
  kInc,
  kDec,
  kArrive,  ///< mbarrier.arrive
};
enum class ShflMode : uint8_t { kNone, kUp, kDown, kBfly, kIdx };
enum class VoteMode : uint8_t { kNone, kAll, kAny, kUni, kBallot };
enum class Testp : uint8_t { kNone, kFinite, kInfinite, kNumber, kNotanumber, kNormal, kSubnormal };

/// Functions that the device's runtime provides to kernels.
enum class SystemCall : uint8_t {
  kNone,
  kPrintf,
  kAssert,
  kMalloc,
  kFree,
  kDevice,  ///< of the CUDA runtime; Modifiers::detail is a DeviceCall
};

/// Special registers (PTX ISA 9.0, section 10). X, Y and Z of a vector register are neighbours.
enum class SpecialReg : uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kSmid,
  kNsmid,
  kGridid,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kClock,
  kClockHi,
  kClock64,
  kGlobaltimer,
  kGlobaltimerLo,
  kGlobaltimerHi,
  kDynamicSmemSize,
  kTotalSmemSize,
  kEnvreg1,  ///< address of the workspace of grid-wide barriers, upper half
  kEnvreg2,  ///< lower half
  kClusteridX,
  kClusteridY,
  kClusteridZ,
  kNclusteridX,
  kNclusteridY,
  kNclusteridZ,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterCtarank,
  kClusterNctarank,
  kIsExplicitCluster,
  kZero,               ///< registers that always read 0: %envreg
  kReservedSmemBegin,  ///< of a block's shared memory: what the system keeps for itself
  kReservedSmemEnd,
  kReservedSmemCap,
  kReservedSmem0,
  kReservedSmem1,
};

/// Everything that follows the dots of a mnemonic.
struct Modifiers {
  Type type = Type::kNone;      ///< the instruction's (destination's) type
  Type src_type = Type::kNone;  ///< cvt, set, selp-like: type of the source operands
  Space space = Space::kNone;
  Rounding rounding = Rounding::kNone;
  MulPart mul_part = MulPart::kNone;
  Compare compare = Compare::kNone;
  BoolOp bool_op = BoolOp::kNone;
  AtomicOp atomic = AtomicOp::kNone;
  ShflMode shfl = ShflMode::kNone;
  VoteMode vote = VoteMode::kNone;
  Testp testp = Testp::kNone;
  SystemCall system = SystemCall::kNone;
  uint8_t vector = 1;       ///< 1, 2 or 4 for ld and st
  uint8_t shf_left = 0;     ///< shf.l (1) or shf.r (0)
  uint8_t bar_arrive = 0;   ///< bar.arrive
  uint32_t detail = 0;      ///< textures, matrices, video instructions: see ptx/details.h
  uint8_t matrices = 0;     ///< ld and st of ldmatrix and stmatrix: 1, 2 or 4
  bool transposed = false;  ///< these
  uint8_t mode = 0;         ///< prmt mode, dp4a/dp2a variant, shf wrap (1) / clamp (0), bmsk wrap
  bool saturate : 1 = false;
  bool ftz : 1 = false;
  bool approx : 1 = false;         ///< .approx or .full
  bool full : 1 = false;           ///< div.full
  bool carry_out : 1 = false;      ///< .cc
  bool is_volatile : 1 = false;    ///< .volatile
  bool ordered : 1 = false;        ///< .relaxed, .acquire, .release, .acq_rel with a scope
  bool acquire : 1 = false;        ///< .acquire, .acq_rel, .sc
  bool release : 1 = false;        ///< .release, .acq_rel, .sc
  bool block_scope : 1 = false;    ///< .cta: orders threads of one block only
  bool async_copy : 1 = false;     ///< the store of a cp.async: not done before it is waited for
  bool non_coherent : 1 = false;   ///< ld.global.nc
  bool to_space : 1 = false;       ///< cvta.to
  bool uniform : 1 = false;        ///< bra.uni
  bool cache_hint : 1 = false;     ///< .L2::cache_hint
  bool relu : 1 = false;           ///< .relu
  bool shift_amount : 1 = false;   ///< bfind.shiftamt
  bool relu_nan : 1 = false;       ///< min.NaN, max.NaN
  bool abs : 1 = false;            ///< min/max.xorsign.abs
  bool cluster_scope : 1 = false;  ///< .cluster: orders threads of one cluster only
  bool zero_outside : 1 = false;   ///< fma.oob: 0 where a factor is what boxes are filled with
  bool pairs : 1 = false;          ///< .f32x2: `type` twice in a 64-bit register, until lowered
};

/// Limits that a kernel's directives set its launches; 0: none.
struct LaunchBounds {
  uint32_t max_threads = 0;          ///< of a block: the product of .maxntid or .reqntid
  uint32_t min_blocks = 0;           ///< of an SM: .minnctapersm
  uint32_t max_registers = 0;        ///< of a thread: .maxnreg
  uint32_t cluster[3] = {};          ///< blocks of a cluster: .reqnctapercluster
  uint32_t max_cluster = 0;          ///< .maxclusterrank
  bool explicit_cluster = false;     ///< .explicitcluster: a cluster must be given
  bool blocks_are_clusters = false;  ///< .blocksareclusters: the grid counts clusters
};

}  // namespace nearwarp::ptx
