// Kernels as the timing model sees them: static tables, read-only, shared by every component.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/core/macros.h"

namespace nearwarp::sm {

/// The issue port an instruction needs: one of several alike, but for the last two.
enum class Unit : uint8_t { kSp, kSfu, kDp, kInt, kMatrix, kLsu, kControl };
inline constexpr uint32_t kNumUnits = 7, kNumPortUnits = 5;

/// The class of energy that a lane of an instruction costs; the host has the values.
enum class EnergyClass : uint8_t {
  kInteger,
  kIntegerMultiply,
  kIntegerDivide,
  kFp32,
  kFp32Divide,
  kFp64,
  kFp64Divide,
  kSpecial,
  kShuffle,
  kConstant,
  kMemory,
  kControl,
};
inline constexpr uint32_t kNumEnergyClasses = 12;

/// The action of an instruction at its issue, besides occupying its port.
enum class Action : uint8_t {
  kCompute,
  kLoad,       ///< global, local or generic memory
  kAsyncLoad,  ///< cp.async: to shared memory, which groups of copies are waited for
  kStore,
  kAtomic,  ///< returns a value
  kReduce,  ///< does not
  kSharedLoad,
  kSharedStore,
  kSharedAtomic,
  kPhaseEvents,    ///< arrives at mbarriers, in shared memory
  kProductCommit,  ///< the products until here are a group
  kConstant,       ///< a load of constants or parameters
  kBarrier,        ///< waits for the block's other warps
  kBarrierArrive,  ///< announces itself and goes on
  kFence,          ///< waits for the warp's own memory operations
  kPhaseWait,      ///< waits for phases of mbarriers
  kExit,
  // Bulk copies. Steps of a box follow one another, then comes its end.
  kCopyRead,      ///< a step of a box: from global to shared memory
  kCopyWrite,     ///< from shared to global memory
  kCopyReduce,    ///< the same, combined with what is there
  kCopyEnd,       ///< the end of a box, with a record if mbarriers are told of it
  kCopyCommit,    ///< the boxes until here are a group
  kCopyWait,      ///< waits for all but some groups
  kCopyWaitRead,  ///< waits until shared memory has been read for them
  kProductWait,   ///< waits for all but some groups of a warp group's products
  kLoadCommit,    ///< the asynchronous loads until here are a group
  kLoadWait,      ///< waits for all but some groups of them
  kLoadWaitAll,   ///< waits for all of them
  kLoadsArrive,   ///< arrives at mbarriers when the loads until here are done
};

enum InstrFlags : uint8_t {
  kGuarded = 1,    ///< the trace has a mask word before the memory record
  kBranch = 2,     ///< the next instruction waits for the branch to resolve
  kHasRecord = 4,  ///< the trace has a memory record
  kLocal = 8,      ///< of local memory
};

inline constexpr uint32_t kMaxSlots = 9;

/// One static instruction; 32 bytes.
struct ImageInstr {
  Unit unit = Unit::kSp;
  Action action = Action::kCompute;
  uint8_t num_dsts = 0;            ///< slots[0, num_dsts) are written
  uint8_t num_slots = 0;           ///< slots[0, num_slots) must be ready before issue
  uint16_t latency = 1;            ///< core cycles from issue to result
  uint16_t interval = 1;           ///< core cycles that the port is occupied
  uint16_t slots[kMaxSlots] = {};  ///< scoreboard slots; the last one: number()
  uint8_t flags = 0;               ///< InstrFlags; above them the EnergyClass
  uint8_t marks = 0;               ///< bit m: mechanism m wants to know when a warp comes here
  uint8_t edges = 0;               ///< the same of warps that it watches
  uint8_t lane_bytes = 0;          ///< memory: bytes per lane; barrier: its number
  uint8_t register_reads = 0;      ///< of a lane, in 32-bit registers
  uint8_t register_writes = 0;     ///< likewise

  /// Does it access data? Of what leaves a record, all but loads of constants do.
  NW_HD NW_INLINE bool accesses_data() const {
    return (flags & kHasRecord) != 0 && action != Action::kConstant;
  }
  NW_HD NW_INLINE bool accesses_shared() const {
    return action == Action::kSharedLoad || action == Action::kSharedStore ||
           action == Action::kSharedAtomic || meets_mbarriers();
  }
  NW_HD NW_INLINE bool loads() const {
    return action == Action::kLoad || action == Action::kAsyncLoad;
  }
  NW_HD NW_INLINE bool meets_mbarriers() const {
    return action == Action::kPhaseWait || action == Action::kPhaseEvents;
  }
  /// Instructions with few registers keep a number in the last slot. kConstant without a record:
  /// the byte of the bank of parameters that it loads; a barrier: warps expected, 0: all of the
  /// block; kCopyWait and its like: groups that may be under way; kAsyncLoad: 1 if it goes past the
  /// L1.
  NW_HD uint32_t number() const { return slots[kMaxSlots - 1]; }
  /// Slots for registers.
  uint32_t most_slots() const {
    const bool has_number = action == Action::kConstant || action == Action::kBarrier ||
                            action == Action::kBarrierArrive || action == Action::kCopyWait ||
                            action == Action::kCopyWaitRead || action == Action::kProductWait ||
                            action == Action::kLoadWait || action == Action::kAsyncLoad;
    return kMaxSlots - (has_number ? 1 : 0);
  }
  void set_number(uint32_t number) { slots[kMaxSlots - 1] = static_cast<uint16_t>(number); }
  NW_HD EnergyClass energy_class() const { return static_cast<EnergyClass>(flags >> 4); }
  void set_energy_class(EnergyClass c) {
    flags = static_cast<uint8_t>((flags & 15) | static_cast<uint32_t>(c) << 4);
  }
};
static_assert(sizeof(ImageInstr) == 32);

/// One basic block.
struct ImageBlock {
  uint32_t first = 0;  ///< index into the instruction table
  uint32_t count = 0;
  uint32_t records = 0;  ///< memory records that one execution leaves
};

struct KernelInfo {
  uint32_t first_block = 0;  ///< index into the block table; trace block b is first_block + b
  uint32_t num_slots = 0;    ///< scoreboard slots per warp
};

/// Resources that thread blocks take of an SM.
struct SmResources {
  uint32_t blocks = 0, warps = 0, threads = 0;
  uint32_t registers = 0;  ///< of 32 bits, rounded up as they are allocated
  uint32_t shared_bytes = 0;

  NW_HD bool holds(const SmResources& need) const {
    return blocks >= need.blocks && warps >= need.warps && threads >= need.threads &&
           registers >= need.registers && shared_bytes >= need.shared_bytes;
  }
  NW_HD void take(const SmResources& need) {
    blocks -= need.blocks;
    warps -= need.warps;
    threads -= need.threads;
    registers -= need.registers;
    shared_bytes -= need.shared_bytes;
  }
  NW_HD void give_back(const SmResources& need) {
    blocks += need.blocks;
    warps += need.warps;
    threads += need.threads;
    registers += need.registers;
    shared_bytes += need.shared_bytes;
  }
};

struct LaunchInfo {
  uint32_t kernel = 0;
  uint32_t num_blocks = 0;
  uint16_t warps_per_block = 0;
  uint16_t space = 0;        ///< address space of its accesses; below kMaxSpaces
  uint32_t first_block = 0;  ///< number of its first thread block, counted over all launches
  SmResources needs;         ///< of a thread block
  uint32_t waits_for = 0;    ///< launches that have to end before it begins
  /// Launches that wait for it: ProgramImage::waiting, from there on.
  uint32_t first_waiting = 0, num_waiting = 0;
  /// Local memory in the traces: its first line, lines of a warp (0: not known), and warps that the
  /// GPU can hold at a time, as many blocks on each SM as there are, or have room.
  uint32_t local_line = 0, local_lines = 0, local_warps = 0;
  /// Thread blocks in a row that go to the same group of SMs (device/frontend/block_queues.h).
  uint32_t row = 1;
  /// Thread blocks of a cluster, in a row; 1 too where the machine places each by itself.
  uint32_t cluster = 1;
  uint32_t stacks = 0;  ///< its blocks run on SMs of these alone, as bits; 0: of all
  bool cut = false;     ///< traces of its warps may end before the warps did (Recording::truncated)
};

/// Read-only tables of a program on a machine.
struct ProgramImage {
  const ImageInstr* instrs = nullptr;
  const ImageBlock* blocks = nullptr;
  const KernelInfo* kernels = nullptr;
  const LaunchInfo* launches = nullptr;
  const uint32_t* waiting = nullptr;  ///< launches; see LaunchInfo::first_waiting
  uint32_t num_launches = 0;
};

/// Where a thread block's traces are; null while its chunk is not loaded. The host loads every
/// chunk before a block of it can be dispatched.
struct TraceBlock {
  const uint64_t* words = nullptr;        ///< the chunk's words
  const uint32_t* warp_offset = nullptr;  ///< of the block's first warp
};

/// Data that every step function may read beside its own state and channels.
struct SystemView {
  std::byte* arena = nullptr;
  ProgramImage image;
  const TraceBlock* traces = nullptr;  ///< by thread block, over all launches
  /// Traces are made ready by the host as they are wanted; it is told of thread blocks that have
  /// ended.
  bool on_demand = true;

  NW_HD NW_INLINE const TraceBlock& trace(uint32_t thread_block) const {
    return traces[thread_block];
  }
};

}  // namespace nearwarp::sm
