// Modifiers::detail of instructions whose modifiers form families of their own.
#pragma once

#include <cstdint>

namespace nearwarp::ptx {

enum class SmallFloat : uint8_t { kNone, kE4M3, kE5M2, kTF32 };

/// kCvt of formats that registers have no types for; 0: any other conversion.
struct SmallFloatDetail {
  SmallFloat format = SmallFloat::kNone;
  bool widens = false;  ///< from 8 bits to f16x2

  constexpr uint32_t pack() const { return static_cast<uint32_t>(format) | uint32_t{widens} << 4; }
  static constexpr SmallFloatDetail unpack(uint32_t v) {
    return {static_cast<SmallFloat>(v & 15), (v >> 4 & 1) != 0};
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

/// What a cp.async copies: mode of Opcode::kCpAsync.
enum class BulkCopy : uint8_t {
  kNone,        ///< some bytes of each thread
  kFromGlobal,  ///< cp.async.bulk to shared memory, which an mbarrier counts
  kToGlobal,
  kToCluster,  ///< from a block's shared memory to another's, which an mbarrier counts
};

/// Of kBar and kBarRed, unless of a cluster: have all threads to execute the same instruction?
enum class BarrierForm : uint8_t { kAligned, kUnaligned };

/// What a kNop stands for where copies are made at once: cp.async.commit_group and its like.
enum class CopyGroup : uint8_t { kNone, kCommit, kWaitAll, kWaitGroup };

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
