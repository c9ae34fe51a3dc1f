// Modifiers::detail of instructions whose modifiers form families of their own.
#pragma once

#include <cstdint>

namespace nearwarp::ptx {

/// A cp.async that is no bulk copy, and the load that it is lowered to: where lines are kept.
enum class CopyCache : uint32_t { kAll, kPastL1 };

/// kHalf: f16 or bf16, where random bits round to it.
enum class SmallFloat : uint8_t { kNone, kE4M3, kE5M2, kTF32, kE2M3, kE3M2, kE2M1, kUE8M0, kHalf };

/// kCvt of formats that registers have no types for; 0: any other conversion.
struct SmallFloatDetail {
  SmallFloat format = SmallFloat::kNone;
  bool widens = false;  ///< from 8 bits or less to f16x2 or bf16x2
  bool bf16 = false;    ///< rather than f16, as the halves of either side

  constexpr uint32_t pack() const {
    return static_cast<uint32_t>(format) | uint32_t{widens} << 4 | uint32_t{bf16} << 5;
  }
  static constexpr SmallFloatDetail unpack(uint32_t v) {
    return {static_cast<SmallFloat>(v & 15), (v >> 4 & 1) != 0, (v >> 5 & 1) != 0};
  }
};

enum class Geometry : uint8_t { k1d, k2d, k3d, kA1d, kA2d, kCube, kACube };

/// kTex, kSuld, kSust.
struct TextureDetail {
  Geometry geometry = Geometry::k1d;
  enum class Lod : uint8_t { kNone, kLevel, kGrad } lod = Lod::kNone;
  uint8_t gather = 0;  ///< tld4: component + 1
  uint8_t vector = 1;  ///< elements of a surface access
  enum class Outside : uint8_t { kTrap, kClamp, kZero } outside = Outside::kTrap;

  constexpr uint32_t pack() const {
    return static_cast<uint32_t>(geometry) | static_cast<uint32_t>(lod) << 4 |
           uint32_t{gather} << 8 | uint32_t{vector} << 12 | static_cast<uint32_t>(outside) << 16;
  }
  static constexpr TextureDetail unpack(uint32_t v) {
    return {static_cast<Geometry>(v & 15), static_cast<Lod>(v >> 4 & 15),
            static_cast<uint8_t>(v >> 8 & 15), static_cast<uint8_t>(v >> 12 & 15),
            static_cast<Outside>(v >> 16 & 15)};
  }
};

enum class MatrixType : uint8_t { kF16, kBF16, kTF32, kF32, kF64, kU8, kS8, kS32 };

/// kMma, kWmmaLoad, kWmmaStore.
struct MatrixDetail {
  uint8_t m = 0;      ///< up to 63
  uint16_t n = 0;     ///< up to 511
  uint8_t k = 0;      ///< up to 127
  bool wmma = false;  ///< fragments laid out as wmma.load and wmma.store here do
  bool a_column = false, b_column = true;
  uint8_t operand = 0;  ///< wmma.load, wmma.store: 0 a, 1 b, 2 c or d
  bool saturate = false;
  constexpr uint32_t pack() const {
    return uint32_t{m} | uint32_t{n} << 6 | uint32_t{k} << 15 | uint32_t{wmma} << 22 |
           uint32_t{a_column} << 23 | uint32_t{b_column} << 24 | uint32_t{operand} << 25 |
           uint32_t{saturate} << 27;
  }
  static constexpr MatrixDetail unpack(uint32_t v) {
    return {static_cast<uint8_t>(v & 63),
            static_cast<uint16_t>(v >> 6 & 511),
            static_cast<uint8_t>(v >> 15 & 127),
            (v >> 22 & 1) != 0,
            (v >> 23 & 1) != 0,
            (v >> 24 & 1) != 0,
            static_cast<uint8_t>(v >> 25 & 3),
            (v >> 27 & 1) != 0};
  }
};

enum class MbarrierOp : uint8_t {
  kNone,
  kInit,
  kInval,
  kArrive,
  kArriveExpect,  ///< arrive, and expect bytes of asynchronous copies
  kDrop,          ///< arrive, and expect one arrival less from the next phase on
  kDropExpect,
  kExpect,
  kComplete,  ///< bytes have been copied
  kPendingCount,
  kTestWait,
  kTryWait,
  kCopiesArrive,  ///< cp.async.mbarrier.arrive.noinc
};

/// Formats of factors and results of kWarpMma.
enum class Factor : uint8_t {
  kF16,
  kBF16,
  kTF32,
  kE4M3,
  kE5M2,
  kE2M3,
  kE3M2,
  kE2M1,
  kPackedE2M1,  ///< without a byte of its own
  kU8,
  kS8,
  kU4,
  kS4,
  kB1
};
/// Bits of a factor in registers and in memory. Those of 6 and 4 bits of floating point have a byte
/// each: the lowest 6 bits, or the 4 in the middle (PTX ISA 9.0, mma).
constexpr uint32_t bits_of(Factor f) {
  switch (f) {
    case Factor::kTF32:
      return 32;
    case Factor::kF16:
    case Factor::kBF16:
      return 16;
    case Factor::kPackedE2M1:
    case Factor::kU4:
    case Factor::kS4:
      return 4;
    case Factor::kB1:
      return 1;
    default:
      return 8;
  }
}

/// kWarpMma: products of matrices of small numbers, by a warp (mma), or by its part of a warp group
/// (wgmma, of whose 64 rows a warp has 16). Sources: of a warp a, b, c, then what says where a's
/// numbers are, then the scales of a and of b, each with the byte and the thread that has them; of
/// a warp group whether c counts, b, a, c, where a's numbers are.
struct WarpMatrixDetail {
  uint8_t m = 16;   ///< 8, 16 or 64
  uint16_t n = 8;   ///< a multiple of 8 up to 256
  uint16_t k = 16;  ///< a power of 2, 4 to 256
  Factor a = Factor::kF16, b = Factor::kF16;
  enum class Result : uint8_t { kF16, kF32, kS32 } result = Result::kF32;
  bool sparse = false;                      ///< a has every other element, and says which
  bool a_in_memory = false;                 ///< wgmma: by a descriptor
  bool a_column = false, b_column = false;  ///< wgmma: the matrix lies along m or n; m8n8k4: .col
  bool negate_a = false, negate_b = false;
  bool saturate = false;
  bool exclusive_or = false;  ///< of b1: .xor.popc rather than .and.popc
  uint8_t scales = 0;         ///< blocks of a row that have a scale each: 1, 2 or 4; 0: no scales
  bool scales_ue4m3 = false;  ///< the scales are ue4m3 rather than ue8m0

  constexpr uint32_t pack() const {
    const uint32_t rows = m == 64 ? 2 : m / 8 - 1;
    uint32_t log_k = 0;
    while ((4u << log_k) < k) ++log_k;
    return rows | (n / 8 - 1u) << 2 | log_k << 7 | static_cast<uint32_t>(a) << 10 |
           static_cast<uint32_t>(b) << 14 | static_cast<uint32_t>(result) << 18 |
           uint32_t{sparse} << 20 | uint32_t{a_in_memory} << 21 | uint32_t{a_column} << 22 |
           uint32_t{b_column} << 23 | uint32_t{negate_a} << 24 | uint32_t{negate_b} << 25 |
           uint32_t{saturate} << 26 | uint32_t{exclusive_or} << 27 |
           (scales == 4 ? 3u : uint32_t{scales}) << 28 | uint32_t{scales_ue4m3} << 30;
  }
  static constexpr WarpMatrixDetail unpack(uint32_t v) {
    const auto flag = [v](int bit) { return (v >> bit & 1) != 0; };
    WarpMatrixDetail d;
    d.m = (v & 3) == 2 ? 64 : static_cast<uint8_t>(((v & 3) + 1) * 8);
    d.n = static_cast<uint16_t>(((v >> 2 & 31) + 1) * 8);
    d.k = static_cast<uint16_t>(4u << (v >> 7 & 7));
    d.a = static_cast<Factor>(v >> 10 & 15);
    d.b = static_cast<Factor>(v >> 14 & 15);
    d.result = static_cast<Result>(v >> 18 & 3);
    d.sparse = flag(20);
    d.a_in_memory = flag(21);
    d.a_column = flag(22);
    d.b_column = flag(23);
    d.negate_a = flag(24);
    d.negate_b = flag(25);
    d.saturate = flag(26);
    d.exclusive_or = flag(27);
    d.scales = static_cast<uint8_t>((v >> 28 & 3) == 3 ? 4 : v >> 28 & 3);
    d.scales_ue4m3 = flag(30);
    return d;
  }
  constexpr bool of_group() const { return m == 64; }
  /// Rows that one warp has.
  constexpr uint32_t warp_rows() const { return m == 64 ? 16 : m; }
  /// Numbers of a row of a that are there.
  constexpr uint32_t stored_k() const { return sparse ? k / 2u : k; }
  /// 32-bit registers that a thread has: of a, of b, of the result.
  constexpr uint32_t a_registers() const { return warp_rows() * stored_k() * bits_of(a) / 1024; }
  constexpr uint32_t b_registers() const { return k * n * bits_of(b) / 1024u; }
  constexpr uint32_t result_registers() const {
    return warp_rows() * n / 32 / (result == Result::kF16 ? 2 : 1);
  }
};

/// kTensorSize to kTensorReduce, and cp.async.bulk.tensor before it is lowered.
struct TensorDetail {
  uint8_t dimensions = 0;    ///< 0: a row of bytes, of no tensor
  bool im2col = false;       ///< pixels of a bounding box rather than a box
  bool has_offsets = false;  ///< of im2col: two more coordinates for each pixel
  bool multicast = false;    ///< to several blocks of the cluster, by a mask
  bool four_rows = false;    ///< of a plane, each by its own coordinate (gather4, scatter4)
  /// Pixels of im2col: along the width alone, with more behind all of them or behind each 32.
  enum class Along : uint8_t { kAll, kWidth, kWidth128 } along = Along::kAll;

  constexpr uint32_t pack() const {
    return uint32_t{dimensions} | uint32_t{im2col} << 3 | uint32_t{has_offsets} << 4 |
           uint32_t{multicast} << 5 | uint32_t{four_rows} << 6 | static_cast<uint32_t>(along) << 7;
  }
  static constexpr TensorDetail unpack(uint32_t v) {
    return {static_cast<uint8_t>(v & 7), (v >> 3 & 1) != 0, (v >> 4 & 1) != 0,
            (v >> 5 & 1) != 0,           (v >> 6 & 1) != 0, static_cast<Along>(v >> 7 & 3)};
  }
};

/// The kind of a cp.async's copy: mode of Opcode::kCpAsync.
enum class BulkCopy : uint8_t {
  kNone,        ///< some bytes of each thread
  kFromGlobal,  ///< cp.async.bulk to shared memory, which an mbarrier counts
  kToGlobal,
  kToCluster,      ///< from a block's shared memory to another's, which an mbarrier counts
  kReduceGlobal,   ///< cp.reduce.async.bulk
  kReduceCluster,  ///< the same to shared memory, which an mbarrier counts
  kTensorLoad,     ///< cp.async.bulk.tensor; the detail is a TensorDetail
  kTensorStore,
  kTensorReduce,
  kWord,            ///< st.async, red.async: values of registers, which an mbarrier counts
  kNoCancellation,  ///< clusterlaunchcontrol.try_cancel: its answer, which an mbarrier counts
  kMap,             ///< tensormap.cp_fenceproxy: a tensor map, by a warp
  kMapField,        ///< tensormap.replace: the detail is a MapField
};

/// The field of a map that tensormap.replace changes.
enum class MapField : uint8_t {
  kAddress,
  kRank,
  kBox,
  kSize,
  kStride,
  kStep,
  kType,
  kInterleave,
  kSwizzle,
  kFill
};

/// For kBar and kBarRed, unless of a cluster: have all threads to execute the same instruction?
enum class BarrierForm : uint8_t { kAligned, kUnaligned };

/// The instruction that a kNop stands for where copies are made at once: cp.async.commit_group and
/// its like; of bulk copies; the end of one that no mbarrier counts.
enum class CopyGroup : uint8_t {
  kNone,
  kCommit,
  kWaitAll,
  kWaitGroup,
  kBulkCommit,
  kBulkWait,
  kBulkWaitRead,
  kBulkEnd,
};

/// kAlloca: room on the thread's stack, and the place where it ends.
enum class StackOp : uint8_t { kAllocate, kSave, kRestore };

/// kVideo: v<op>{2,4}.dtype.atype.btype with selectors, a secondary operation and modifiers.
struct VideoDetail {
  enum class Op : uint8_t { kAdd, kSub, kAbsdiff, kMin, kMax, kShl, kShr, kMad, kSet, kAvrg };
  enum class Second : uint8_t { kNone, kAdd, kMin, kMax };
  Op op = Op::kAdd;
  Second second = Second::kNone;
  uint8_t lanes = 1;  ///< 1, 2 or 4
  bool d_signed = false, a_signed = false, b_signed = false;
  bool saturate = false, wrap = false;
  uint8_t shift = 0;    ///< vmad: 0, 7 or 15
  uint8_t compare = 0;  ///< vset: 0 eq, 1 ne, 2 lt, 3 le, 4 gt, 5 ge
  constexpr uint32_t pack() const {
    return static_cast<uint32_t>(op) | static_cast<uint32_t>(second) << 4 | uint32_t{lanes} << 6 |
           uint32_t{d_signed} << 9 | uint32_t{a_signed} << 10 | uint32_t{b_signed} << 11 |
           uint32_t{saturate} << 12 | uint32_t{wrap} << 13 | uint32_t{shift} << 14 |
           uint32_t{compare} << 18;
  }
  static constexpr VideoDetail unpack(uint32_t v) {
    VideoDetail d;
    d.op = static_cast<Op>(v & 15);
    d.second = static_cast<Second>(v >> 4 & 3);
    d.lanes = static_cast<uint8_t>(v >> 6 & 7);
    d.d_signed = (v >> 9 & 1) != 0;
    d.a_signed = (v >> 10 & 1) != 0;
    d.b_signed = (v >> 11 & 1) != 0;
    d.saturate = (v >> 12 & 1) != 0;
    d.wrap = (v >> 13 & 1) != 0;
    d.shift = static_cast<uint8_t>(v >> 14 & 15);
    d.compare = static_cast<uint8_t>(v >> 18 & 7);
    return d;
  }
};

}  // namespace nearwarp::ptx
