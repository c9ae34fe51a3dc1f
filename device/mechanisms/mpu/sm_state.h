// The state of an MPU core besides an SM's (MPU, figure 2): the offload engine with its register
// track table and move engines in the subcores, and the near-bank units.
#pragma once

#include "device/core/channel.h"
#include "device/mechanisms/mpu/program.h"

namespace nearwarp::mpu {

inline constexpr uint32_t kMaxUnits = 4;
inline constexpr uint32_t kMaxCollectors = 8;
/// Instructions of a warp that are near the banks at a time, at most.
inline constexpr uint32_t kNearOps = 8;
inline constexpr uint32_t kNearWheelSlots = 64;
inline constexpr uint32_t kNoOp = 0xffffffffu;
/// SmSideState: nothing is due.
inline constexpr uint32_t kNotDue = 0xffffffffu;

struct SmSideParams {
  uint32_t units = 4;             ///< near-bank units; warp w has its registers in unit w mod units
  uint32_t collectors = 4;        ///< operand collectors of a unit
  uint32_t near_ops = kNearOps;   ///< instructions of a warp that may be near the banks
  uint32_t word_bytes = 8;        ///< an instruction, a commit, or a register's name, on the TSVs
  uint32_t front_cycles = 1;      ///< of an operation's latency: from issue to operand collector
  uint32_t access_bytes = 16;     ///< an offloaded access: address, register and unit
  uint32_t track_words = 1;       ///< of 32 registers, of a warp's row in the track table
  bool offloads_accesses = true;  ///< the load-store unit's test may find an access to be near
  Ref<InstrPlace> places;         ///< by instruction
};

/// Why a warp is held.
enum class Step : uint8_t {
  kNone,
  kValue,     ///< a register must move and has not got its value yet
  kMove,      ///< until its registers have moved
  kOperands,  ///< of an instruction that is to be executed near the banks
  kRoom,      ///< it has as many there as it may
};
inline constexpr uint32_t kNumSteps = 5;

/// A warp slot.
struct WarpSide {
  uint32_t full_mask = 0;    ///< lanes that the warp began with
  uint32_t held_since = 0;   ///< cycle
  uint8_t moving = 0;        ///< registers
  uint8_t ops = 0;           ///< of its kNearOps, as bits
  uint8_t coming = 0;        ///< accesses to shared memory that have no NearOp yet
  bool near_access = false;  ///< what the test has found of its next access to memory
  Step step = Step::kNone;
};

/// An instruction near the banks.
struct NearOp {
  uint32_t pc = 0;
  /// Cycle in which it was issued; of a load entry: in which its first line was offloaded.
  uint32_t since = 0;
  uint32_t due = 0;       ///< cycle in which it has been executed there
  uint32_t next = kNoOp;  ///< in its slot of the wheel
  uint32_t latency = 0;   ///< shared memory: with its bank conflicts
};

struct NearUnit {
  uint64_t port_cycles = 0;              ///< in which its ALU was busy
  uint32_t port_free = 0;                ///< cycle
  uint32_t starts[kMaxCollectors] = {};  ///< cycles in which the last ones began; a ring
  uint32_t oldest = 0;
};

/// A packet that waits for the TSVs.
struct QueuedPacket {
  uint16_t kind = 0;  ///< PacketKind
  uint16_t bytes = 0;
  uint16_t tag = 0;  ///< warp | number << 8
  uint16_t reply_bytes = 0;
};

struct Counters {
  uint64_t near = 0, far = 0;  ///< warp-instructions of Kind::kAny by where they were executed
  uint64_t fixed = 0;          ///< warp-instructions of the far-bank operation set
  uint64_t shared = 0;         ///< accesses to the near-bank shared memory
  uint64_t near_threads = 0;   ///< thread-instructions of `near` and `shared`
  // Accesses to memory by what the load-store unit finds.
  uint64_t loads_near = 0, stores_near = 0;
  uint64_t inactive = 0;        ///< not all lanes take part
  uint64_t scattered = 0;       ///< not one run of bytes
  uint64_t remote = 0;          ///< of another core
  uint64_t other_unit = 0;      ///< of another near-bank unit of the core
  uint64_t loaded_to_near = 0;  ///< registers of loads that were not offloaded
  uint64_t moves_near = 0, moves_far = 0;
  uint64_t track_hits = 0;        ///< registers that were where they were wanted
  uint64_t held[kNumSteps] = {};  ///< cycles, by Step, summed over warps
  // Cycles from issue to commit, summed over instructions and accesses to shared memory: until a
  // packet has come to the near side, for an operand collector, for the ALU, executing, and until
  // the subcore knows of it. The parts are all of it.
  uint64_t near_cycles = 0;
  uint64_t near_tsv = 0, near_collector = 0, near_alu = 0, near_executing = 0, near_commit = 0;
  uint64_t shared_cycles = 0;  ///< of near_cycles: accesses to shared memory
  uint64_t load_cycles =
      0;  ///< of offloaded loads, from the first line's sending to the last reply
  uint64_t commits = 0;
};

/// `kWords`: words of its warp sets.
template <uint32_t kWords>
struct SmSideState {
  Ref<Channel> down_out, down_in;  ///< the near side's: what the subcores send, through the TSVs
  Ref<Channel> up_out;             ///< what the near-bank units send; it comes as local data does
  Ref<WarpSide> warps;
  Ref<uint32_t> near_valid, far_valid;  ///< track table: by warp slot, track_words each
  /// By warp slot, kNearOps each; behind them one for each load entry of the SM.
  Ref<NearOp> ops;
  Ref<QueuedPacket> down, up;  ///< rings
  uint32_t down_head = 0, down_count = 0, up_head = 0, up_count = 0;
  uint32_t wheel[kNearWheelSlots] = {};
  uint64_t wheel_used = 0;
  uint32_t next_due = kNotDue;  ///< cycle
  uint32_t refused_until = 0;   ///< cycle until which the near side's head has no operand collector
  uint64_t near_loads = 0;      ///< load entries whose data stays near the banks
  NearUnit units[kMaxUnits];
  Counters counters;
};

}  // namespace nearwarp::mpu
