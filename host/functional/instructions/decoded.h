// The decoded form of a kernel: what the interpreter executes.
//
// A warp owns a register file of 128-byte rows (32 lanes of 4 bytes; 64-bit values take two
// neighbouring rows, read as 32 lanes of 8 bytes). Immediates, parameters and launch constants are
// rows too, filled once per warp slot, so that every source operand is a row. Predicates are
// 32-bit masks in an array of their own; entry 0 is always all ones.
//
// Each basic block exists twice: once for full warps (32 active lanes), once for partial ones,
// where values that outlive the block are written under the active mask.
#pragma once

#include <cstdint>

#include "device/core/macros.h"

namespace nearwarp::exec {

inline constexpr uint32_t kLanes = 32;
inline constexpr uint32_t kFullMask = 0xffffffffu;
inline constexpr uint32_t kRowBytes = 128;
inline constexpr uint32_t kNoBlock = 0xffffffffu;

/// Generic addresses of the shared and local windows; device memory begins at kDeviceBase.
inline constexpr uint64_t kSharedGenericBase = 0x7f2a'0000'0000;
inline constexpr uint64_t kLocalGenericBase = 0x7f2b'0000'0000;
inline constexpr uint32_t kWindowBits = 24;
inline constexpr uint64_t kWindowBytes = uint64_t{1} << kWindowBits;
/// Shared windows of a cluster follow one another: that of the running block itself, then those of
/// all blocks by their rank.
inline constexpr uint32_t kMaxClusterBlocks = 16;
inline constexpr uint64_t kClusterWindows = 32;
inline constexpr uint64_t kClusterBytes = kWindowBytes * kClusterWindows;
static_assert(kMaxClusterBlocks < kClusterWindows);
inline constexpr uint64_t kDeviceBase = 0x7f2d'0000'0000;

/// One decoded operation. `d`, `a`, `b`, `c` are rows or predicates, by the code. `x` is the guard
/// of masked codes: predicate index times two, plus one if negated.
struct alignas(16) Op {
  uint16_t code = 0;
  uint16_t d = 0, a = 0, b = 0, c = 0, x = 0;
  int32_t imm = 0;
};
static_assert(sizeof(Op) == 16);

/// Facts on a basic block that the interpreter needs at its head.
struct BlockInfo {
  uint32_t full = 0;          ///< first operation of the form for full warps
  uint32_t partial = 0;       ///< first operation of the form for partial warps
  uint32_t count = 0;         ///< PTX instructions
  uint32_t ipdom = kNoBlock;  ///< immediate post-dominator
  uint32_t trace_words = 0;   ///< most words one execution can add to the trace
};

enum class MemSpace : uint8_t { kGlobal, kShared, kLocal, kGeneric };

enum class AtomOp : uint8_t {
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
  kArrive,  ///< mbarrier.arrive on the word that mbarrier.init made (see MbarrierWord)
};

/// How a value in memory becomes a value in a register.
enum class Extend : uint8_t { kZero, kSign };

/// One memory instruction. `lo` and `span` cache the allocation that it last touched.
struct MemDesc {
  uint64_t lo = 0;    ///< first address of the cached allocation
  uint64_t span = 0;  ///< its bytes; 0: nothing cached
  uint64_t last = 0;  ///< where the last full warp's access began, to prefetch the next
  MemSpace space = MemSpace::kGlobal;
  Extend extend = Extend::kZero;
  uint8_t bytes = 4;      ///< of one element in memory
  uint8_t vector = 1;     ///< elements per lane
  uint8_t reg_bytes = 4;  ///< width of the data registers' lanes: 2 (kept in 4), 4 or 8
  uint8_t address64 = 1;  ///< the address row has 64-bit lanes
  uint8_t traced = 1;     ///< leaves a memory record
  uint8_t guarded = 0;    ///< the record is preceded by a mask word
  uint8_t polls = 0;      ///< volatile, ordered or atomic: another thread may be waited for
  uint8_t is_store = 0;
  AtomOp atomic = AtomOp::kNone;
  uint8_t is_signed = 0;     ///< atomics: signed minimum and maximum
  uint8_t is_float = 0;      ///< atomics: 1 floating point, 2 f16 or f16x2, 4 the same of bf16
  uint8_t has_result = 0;    ///< atomics: atom rather than red
  uint8_t matrices = 0;      ///< ldmatrix, stmatrix: how many; lanes share rows (matrix_rows.h)
  uint8_t transposed = 0;    ///< these
  uint16_t rows[4] = {};     ///< data registers; 0xffff: discarded (`_`)
  uint16_t operand_b = 0;    ///< atomics: first operand after the address
  uint16_t operand_c = 0;    ///< atomics: second operand (cas)
  uint32_t instruction = 0;  ///< index of the PTX instruction, for errors
};

inline constexpr uint16_t kNoRow = 0xffff;

/// An operation with more operands than an Op has: textures, surfaces, matrices, copies of tensors.
struct ExtendedDesc {
  /// wgmma of 256 columns has 128 registers of results, which are sources too.
  static constexpr uint32_t kMaxSources = 140, kMaxDestinations = 128;
  enum class Kind : uint8_t {
    kTexture,
    kSurfaceLoad,
    kSurfaceStore,
    kMatrix,
    kWarpMatrix,
    kTensorSize,
    kTensorLoad,
    kTensorStore,
    kTensorReduce
  };
  Kind kind = Kind::kTexture;
  uint8_t num_sources = 0, num_destinations = 0;
  uint8_t guarded = 0;      ///< its record is preceded by a mask word
  uint8_t type = 0;         ///< a ptx::Type: textures: of the result; surfaces: of an element
  uint8_t source_type = 0;  ///< a ptx::Type: of the coordinates; of matrix a (b: in `extra`)
  uint8_t atomic = 0;       ///< an AtomOp: what kTensorReduce does
  uint16_t extra = 0;
  uint32_t detail = 0;       ///< ptx::Modifiers::detail
  uint32_t wide = 0;         ///< sources with 64-bit lanes; of the first 32
  uint32_t instruction = 0;  ///< index of the PTX instruction, for errors
  uint16_t sources[kMaxSources] = {};
  uint16_t destinations[kMaxDestinations] = {};
};

/// Fields of the 64-bit word of an mbarrier: arrivals still missing in this phase, arrivals of a
/// phase, bytes of asynchronous copies still missing (or ahead: two's complement), and the parity
/// of the phase in the top bit. What arrives has the same fields: arrivals, those of them that are
/// dropped for good, and bytes expected (or, negative, done).
struct MbarrierWord {
  static constexpr uint64_t kCount = (uint64_t{1} << 20) - 1;
  static constexpr int kExpectedShift = 20;
  static constexpr uint64_t kBytes = (uint64_t{1} << 21) - 1;
  static constexpr int kBytesShift = 40;
  static constexpr int kPhaseShift = 63;
};

/// Counts of an mbarrier for traces alone: trace::PhaseEvent. Shared memory of kernels
/// with mbarriers is followed by one for each of its words of 8 bytes, and one more in which
/// `phase` is how many mbarriers have a number.
struct MbarrierPhases {
  uint32_t phase = 0;              ///< those that are over
  uint32_t events : 22 = 0;        ///< of the phase under way
  uint32_t others : 1 = 0;         ///< other blocks have arrived in it,
  uint32_t others_before : 1 = 0;  ///< and in the one before
  uint32_t number : 8 = 0;         ///< from 1; 0: none
};
static_assert(sizeof(MbarrierPhases) == 8);

/// A live allocation, sorted by address.
struct Range {
  uint64_t lo = 0;
  uint64_t bytes = 0;
};

/// Why a warp returned to the scheduler.
enum class Status : uint8_t {
  kExited,     ///< every lane has exited
  kBarrier,    ///< reached the barrier `Warp::barrier`
  kYield,      ///< instruction budget used up at a block head
  kSystem,     ///< calls the runtime: `Warp::barrier` is the call, `barrier_mask` the lanes
  kTries,      ///< waits in vain for an mbarrier; stands at the head of the block that does
  kTraceFull,  ///< the trace buffer must grow before the next block
  kFault,      ///< Context::fault says why
};

enum class FaultKind : uint8_t {
  kNone,
  kInvalid,
  kMisaligned,
  kTrap,
  kBadBranch,
  kBadTexture,  ///< address: the handle
  kOutsideSurface,
};

/// Functions that the device's runtime provides to kernels.
enum class SystemKind : uint8_t { kPrintf, kAssert, kMalloc, kFree, kDevice };

/// A memory error (or trap) of one lane.
struct Fault {
  FaultKind kind = FaultKind::kNone;
  bool is_write = false;
  bool is_atomic = false;
  bool is_tensor_map = false;  ///< kBadTexture: it should be one
  MemSpace space = MemSpace::kGlobal;
  uint32_t lane = 0;
  uint32_t bytes = 0;
  uint32_t instruction = 0;
  uint64_t address = 0;
};

/// An entry of the reconvergence stack: lanes that wait to run `block` until `reconverge`.
struct StackEntry {
  uint32_t block = 0;
  uint32_t reconverge = kNoBlock;
  uint32_t mask = 0;
};

/// State of one warp between two visits of the interpreter.
struct Warp {
  uint8_t* rows = nullptr;  ///< register file, 128-byte aligned
  uint32_t* predicates = nullptr;
  StackEntry* stack = nullptr;
  uint32_t depth = 0;  ///< entries below the current one
  uint32_t block = 0;  ///< current entry: next block, reconvergence point, active lanes
  uint32_t reconverge = kNoBlock;
  uint32_t active = 0;
  uint32_t exited = 0;
  uint32_t barrier = 0;           ///< operation index of the barrier the warp waits at
  uint32_t barrier_mask = 0;      ///< lanes that take part in it
  uint32_t index = 0;             ///< warp within the thread block
  uint8_t* local = nullptr;       ///< local memory, lane by lane
  uint64_t local_trace_base = 0;  ///< device address of the warp's local memory in traces
  uint64_t* trace = nullptr;      ///< buffer; nullptr: not traced
  uint64_t trace_size = 0, trace_capacity = 0;
  uint64_t trace_last = 0;  ///< index of the last control word
  uint32_t tries = 0;       ///< in vain, at the mbarrier at which the warp waits
};

/// The last access to shared memory by one instruction, for the next one by it:
/// how the lanes of a full warp lay there when an access with 32-bit addresses was last
/// executed: rows of 2^shift with equal steps, as of thread blocks that are 16 or 8 wide, or one of
/// all lanes. They mostly lie so again, further on, which is found out faster than how they lie.
struct SharedRows {
  static constexpr uint32_t kNobody = ~0u;
  uint32_t access = kNobody;  ///< MemDesc; the rest means nothing for others
  uint32_t shift = 0;
  int32_t step = 0, distance = 0;             ///< bytes from lane to lane, and from row to row
  int64_t low = 0;                            ///< of the lowest lane, from the first one
  uint64_t most = 0;                          ///< where that may begin in shared memory at most
  uint64_t tile = 0;                          ///< second word of its records
  alignas(32) uint32_t offsets[kLanes] = {};  ///< from the first one
};

struct Context {  // shared by the warps of a launch that one host thread executes
  const Op* ops = nullptr;
  const BlockInfo* blocks = nullptr;
  MemDesc* memory = nullptr;
  const uint32_t* tables = nullptr;  ///< brx targets
  uint8_t* arena = nullptr;          ///< host address of kDeviceBase
  uint64_t arena_bytes = 0;
  const Range* ranges = nullptr;
  uint32_t num_ranges = 0;
  const Range* pages = nullptr;  ///< pages with allocations, where accesses beside these pass
  uint32_t num_pages = 0;
  const ExtendedDesc* extended = nullptr;
  const void* textures = nullptr;  ///< the host's runtime::TextureTable
  void* checker = nullptr;         ///< the host's racecheck::Checker; nullptr: none
  uint8_t* shared = nullptr;       ///< of the running thread block
  /// Shared memory of the blocks of its cluster, by rank; nullptr for those that have ended.
  uint8_t* const* cluster_shared = nullptr;
  uint32_t cluster_blocks = 0;
  uint32_t cluster_rank = 0;  ///< of the running block
  uint32_t shared_bytes = 0;
  uint32_t local_bytes = 0;  ///< of one thread
  /// Where MbarrierPhases begin behind a block's shared memory; 0: there are none.
  uint32_t phases_at = 0;
  /// Memory that others see may have changed since the scheduler cleared this; the same of a
  /// thread's own.
  bool stored = false, stored_locally = false;
  bool polled = false;       ///< a volatile, ordered or atomic access was executed, or a clock read
  bool read_clock = false;   ///< a clock was read
  uint64_t clock_ahead = 0;  ///< clocks tell the warp-instructions executed and so much more
  bool clock_stands = false;  ///< they all tell `clock_at` for a while
  uint64_t clock_at = 0;
  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;
  static constexpr uint32_t kSharedRows = 64;
  SharedRows shared_rows[kSharedRows];  ///< by the last bits of the access
  /// Instructions among them that are in no trace: tries in vain, which are made again.
  uint64_t retried_warp_instructions = 0, retried_thread_instructions = 0;
  Fault fault;
  Fault stray;  ///< the first access that only its page let pass
};

}  // namespace nearwarp::exec
