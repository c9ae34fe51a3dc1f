// State of one streaming multiprocessor: main SMs and stack SMs are the same component.
#pragma once

#include "device/cache/l1_cache.h"
#include "device/core/channel.h"
#include "device/core/event_log.h"
#include "device/core/home_table.h"
#include "device/core/mechanisms.h"
#include "device/core/translation.h"
#include "device/core/types.h"
#include "device/core/warp_set.h"
#include "device/sm/clusters_state.h"
#include "device/sm/coalescer.h"
#include "device/sm/constants_state.h"
#include "device/sm/copies_state.h"
#include "device/sm/fetch_state.h"
#include "device/sm/kernel_image.h"
#include "device/sm/load_entry.h"
#include "device/sm/tlb.h"
#include "device/sm/trace_cursor.h"

namespace nearwarp::sm {

/// Words of the warp sets of an SM with more than 64 warps.
inline constexpr uint32_t kWideWords = 4;
inline constexpr uint32_t kMaxWarps = WarpSet<kWideWords>::kCapacity;
inline constexpr uint32_t kMaxSchedulers = 4;
inline constexpr uint32_t kMaxPorts = 4;
inline constexpr uint32_t kMaxPortQueue = 8;
inline constexpr uint32_t kMaxLsuQueue = 16;
inline constexpr uint32_t kMaxBarriers = 17;  // those of the block, and that of its cluster
inline constexpr uint32_t kWheelSlots = 64;
inline constexpr uint32_t kEpochs = 8;
using nearwarp::kMaxMechanisms;
/// A register whose value is on its way from memory; no time is known.
inline constexpr uint32_t kPendingLoad = 0xffffffffu;

enum class SchedulerPolicy : uint8_t { kGreedyThenOldest, kLooseRoundRobin };

/// Fixed properties, shared by all SMs of a kind. Times in core cycles unless said otherwise.
struct SmParams {
  uint32_t period = 1;  ///< ticks per core cycle
  uint32_t num_warps = 48;
  uint32_t num_blocks = 8;
  uint32_t num_schedulers = 2;
  SchedulerPolicy policy = SchedulerPolicy::kGreedyThenOldest;
  uint32_t ports[kNumPortUnits] = {2, 1, 0, 0, 0};  ///< by Unit
  bool sub_cores = false;        ///< scheduler k issues to port k of each kind alone
  uint8_t port_queue = 0;        ///< issued instructions that can wait: PortQueue
  uint32_t slots_per_warp = 64;  ///< scoreboard entries
  uint32_t lsu_queue = 8;
  uint32_t load_entries = 64;
  uint32_t shared_latency = 26;
  uint32_t remote_shared = 0;  ///< that of other blocks of a cluster takes so much longer
  uint32_t shared_banks = 32;
  uint32_t branch_latency = 1;
  LineGrid grid;
  uint32_t local_sms =
      0;  ///< SMs whose warp slots have local memory (place_local); 0: threads have
  uint32_t header_bytes = 8;
  uint32_t sector_bytes = 32;
  uint32_t line_address_bytes = 8;
  uint32_t register_bytes = 4;
  AddressMaps map;
  Translation translation;
  cache::L1Params l1;
  TlbParams tlb;
  FetchParams fetch;
  ConstantParams constants;
  // Endpoints.
  HomeTable homes;  ///< of lines in the GPU's memory: L2 slices, or vaults for a stack SM
  Endpoint front_end{};
  bool in_stack = false;      ///< a logic-layer SM: misses go to vaults
  bool all_local = false;     ///< it finds all data in its own stack: a bound, not a design
  uint8_t local_map = 0;      ///< with all_local: the number of the map under which data lies there
  bool count_rounds = false;  ///< of atomics: lanes that want one address are served one by one
  bool mark_words = false;    ///< of stores: packets tell which words they write
  AtomicPackets atomic_packets = AtomicPackets::kLines;
  bool copies = false;    ///< the program has bulk copies or mbarriers
  bool clusters = false;  ///< it has clusters, and the SMs of a GPC have a network
};

enum class Phase : uint8_t {
  kFree,  ///< no warp in the slot
  kRunning,
  kAtBarrier,
  kAtFence,     ///< waits for the warp's own memory operations
  kAtFetch,     ///< its instruction buffer has not got what comes next
  kAtConstant,  ///< the constant cache cannot look up what its next instruction loads
  kFinished,    ///< trace at its end; memory operations may be outstanding
  kHeld,        ///< a mechanism has it: Warp::holder
  kAtMbarrier,  ///< waits for phases of mbarriers
  kAtCopy,      ///< the copy engine has no room, or its groups are not done
};
inline constexpr uint32_t kNumPhases = 10;

/// The use of a cycle: see cycles.h.
enum class CycleUse : uint8_t {
  kIssued,  ///< a scheduler issued an instruction
  // Warps are ready, and none can be issued:
  kLsu,      ///< the load-store unit's queue is full, and it works at its head
  kMisses,   ///< it is full, and its head waits for a page, MSHR, merge, way or load entry
  kNetwork,  ///< it is full, and its head waits for the network to take a packet
  kPorts,    ///< the ports that they need are busy
  // None is ready; most wait
  kMemory,      ///< for their own loads and stores
  kDependency,  ///< for results of instructions under way, or a branch
  kBarrier,     ///< for others of their block: at barriers, mbarriers, for bulk copies
  kFetch,       ///< for instructions or constants
  kAway,        ///< for what is executed elsewhere for them: offloaded
  kMechanism,   ///< for a mechanism: its decisions, what precedes an offload, registers that move
  kNoWarp,      ///< there is no warp
};
inline constexpr uint32_t kNumCycleUses = 12;

struct Warp {
  Cursor at;
  uint32_t first_block = 0;   ///< of the kernel in the block table
  uint32_t thread_block = 0;  ///< index into SystemView::trace
  uint32_t wake = 0;          ///< cycle at which the timer wheel has it ready
  uint16_t stores = 0;        ///< written lines not yet acknowledged
  uint16_t kernel = 0;
  uint8_t loads = 0;  ///< memory operations in flight, stores' acknowledgements apart
  uint8_t block_slot = 0;
  uint8_t space = 0;  ///< address space
  Phase phase = Phase::kFree;
  Unit unit = Unit::kSp;  ///< of the next instruction
  uint8_t watch = 0;   ///< mechanisms that want to know when it comes to ImageInstr::edges, as bits
  uint8_t count = 0;   ///< those that want to know of each instruction that it issues
  uint8_t holder = 0;  ///< the one that holds it, as a bit
  uint8_t guest_of = 0;        ///< the one that brought it here, as a bit; 0: a block's warp
  uint8_t constant_lines = 0;  ///< that its next instruction has looked up
  // State of its instruction buffer, where fetching takes time.
  uint8_t fetched = 0;    ///< instructions, from fetch_pc on
  uint32_t fetch_pc = 0;  ///< where the next fetch goes on, when there are none
};

/// A memory instruction between issue and the end of its line look-ups.
struct LsuOp {
  uint32_t pc = 0;
  uint32_t mask = 0;
  uint32_t record = 0;
  uint32_t thread_block = 0;
  uint8_t warp = 0;
  uint8_t entry = 0;  ///< load entry, for loads and atomics
  uint8_t epoch = 0;  ///< of a store, modulo kEpochs; it counts as one in flight until it leaves
  bool shared = false;
  uint8_t watch = 0;  ///< mechanisms that want to know of its lines, as bits
  uint8_t space = 0;  ///< address space
};

/// An operation that waits beside the queue for its page, so that those behind it can go on.
struct ParkedOp {
  LsuOp op;
  uint32_t next_line = 0;  ///< lines before it have been handled
  uint32_t page = 0;
  uint32_t since = 0;  ///< cycle from which it has waited
};

template <uint32_t kWords>
struct BlockSlotOf {
  uint32_t thread_block = 0;
  uint32_t alive = 0;       ///< warps that have not come to the end of their traces
  uint32_t launch = 0;      ///< index into ProgramImage::launches
  WarpSet<kWords> warps;    ///< warp slots it occupies
  WarpSet<kWords> running;  ///< of these, not yet retired
  bool used = false;
};

/// A barrier of a thread block.
struct BarrierState {
  uint16_t arrived = 0;   ///< warps
  uint16_t expected = 0;  ///< warps; 0: all of the block that have not ended
};

/// Why the operation at the load-store unit's head does not move.
enum class LsuStall : uint8_t {
  kNone,
  kCredit,  ///< the channel to the network is full or busy
  kReply,   ///< a page, or an MSHR, merge or way is wanted: only a reply helps
};

/// Issued instructions that wait for a port: in collectors, and in the latches around them. Of a
/// scheduler's own port with sub-cores, else of all ports of a kind.
struct PortQueue {
  uint32_t starts[kMaxPortQueue] = {};  ///< cycles in which the last ones began; a ring
  uint32_t oldest = 0;                  ///< of these
};

/// The ports of a kind.
struct UnitPorts {
  /// Cycle from which a port is free; kPendingLoad: there is none.
  uint32_t free_at[kMaxPorts] = {};
  uint32_t accepts[kMaxPorts] = {};  ///< with sub-cores: as SmStateOf::unit_accepts, of each port
  PortQueue queue[kMaxPorts];
  uint64_t busy = 0;  ///< cycles that instructions take them, summed
};

/// An SM's cycles, by what they were spent on.
template <uint32_t kWords>
struct CycleCountsOf {
  uint32_t from = 0;                 ///< the first cycle that is in no count yet
  uint32_t since = 0;                ///< the first cycle that leaves the SM's state as it is
  CycleUse use = CycleUse::kNoWarp;  ///< of the cycles [from, since)
  /// Is it the use of cycles that follow too, while `timed` is as it was? (Asked anew, it would
  /// depend on when it is asked: mechanisms take schedulers' turns for so many cycles.)
  bool known = false;
  WarpSet<kWords> timed;              ///< SmStateOf's; `ready` was empty
  uint64_t uses[kNumCycleUses] = {};  ///< of the kernel to which cycles belong, since it does ...
  uint32_t row = 0;                   ///< ... and in `counts` before
  Ref<uint64_t> counts;               ///< by kernel and CycleUse
  uint64_t warp_cycles = 0;           ///< warps here, summed over cycles, up to `warps_since`
  uint32_t warps_since = 0;
};

/// Event counts; the host reads them by name.
struct SmCounters {
  uint64_t redundant = 0;                   ///< warp-instructions that are executed again elsewhere
  uint64_t redundant_threads = 0;           ///< the same in thread-instructions
  uint64_t issued_by_unit[kNumUnits] = {};  ///< warp-instructions
  // For the energy account, by active lane.
  uint64_t threads_by_class[kNumEnergyClasses] = {};  ///< thread-instructions
  uint64_t register_reads = 0, register_writes = 0;   ///< 32-bit registers
  uint64_t active_cycles = 0;                         ///< cycles in which an instruction was issued
  uint64_t loads = 0, stores = 0, atomics = 0;        ///< warp-instructions to global memory
  uint64_t load_lines = 0, store_lines = 0, atomic_lines = 0;
  uint64_t shared_accesses = 0, shared_cycles = 0;
  uint64_t miss_latency = 0;  ///< cycles from a miss's request to its reply, summed
  uint64_t barriers = 0;
  uint64_t warps_finished = 0, blocks_finished = 0;

  /// Warp-instructions.
  NW_HD uint64_t issued() const {
    uint64_t n = 0;
    for (uint32_t u = 0; u < kNumUnits; ++u) n += issued_by_unit[u];
    return n;
  }
  /// Thread-instructions.
  NW_HD uint64_t issued_threads() const {
    uint64_t n = 0;
    for (uint32_t c = 0; c < kNumEnergyClasses; ++c) n += threads_by_class[c];
    return n;
  }
  /// A warp has issued an instruction in `threads` lanes, which reads and writes so many registers.
  NW_HD NW_INLINE void count_issue(const ImageInstr& in, uint32_t threads, uint32_t reads,
                                   uint32_t writes) {
    issued_by_unit[static_cast<uint32_t>(in.unit)] += 1;
    threads_by_class[static_cast<uint32_t>(in.energy_class())] += threads;
    register_reads += threads * reads;
    register_writes += threads * writes;
  }
  NW_HD NW_INLINE void count_issue(const ImageInstr& in, uint32_t threads) {
    count_issue(in, threads, in.register_reads, in.register_writes);
  }
};

/// `kWords`: words of its warp sets; it has at most 64 warps per word.
template <uint32_t kWords>
struct SmStateOf {
  Endpoint endpoint{};
  StackId stack{};                    ///< stack SMs: where it is
  uint16_t index = 0, reserved0 = 0;  ///< among all SMs
  // Channels.
  Ref<Channel> to_network, from_network;      ///< crossbar (main) or logic-layer switch (stack)
  Ref<Channel> from_banks;                    ///< below banks of its own only (count 0 otherwise)
  Ref<Channel> to_front_end, from_front_end;  ///< main SMs only (count 0 otherwise)
  // Mechanisms, by their number in the family's list.
  uint8_t attached = 0;       ///< those that are on this SM, as bits
  uint8_t halted_by = 0;      ///< those that want nothing to be issued
  uint8_t awaits_stores = 0;  ///< those that want to know of acknowledgements of stores
  uint8_t wants_network = 0;  ///< those that have something to send over the network
  uint8_t wants_control = 0;  ///< those that may have something to send to the front end
  uint8_t own_channels = 0;   ///< those that have channels of their own to this SM
  uint8_t places_pages = 0;   ///< those that are shown walks (WalkHooks): SmViewOf::placers()
  /// Mechanisms that count all accesses of warps: meanwhile others leave them to the load-store
  /// unit.
  uint8_t counts_accesses = 0;
  bool simple = false;  ///< is_simple()
  uint32_t mechanism_state[kMaxMechanisms] = {}, mechanism_params[kMaxMechanisms] = {};
  // Warp slots.
  WarpSet<kWords> free_warps;
  WarpSet<kWords> ready;                  ///< the next instruction's operands are there
  WarpSet<kWords> unit_warps[kNumUnits];  ///< of the ready ones, by the port they need
  WarpSet<kWords> in_phase[kNumPhases];   ///< by Phase; of free slots those that have been used
  WarpSet<kWords> at_rest;                ///< in other phases than kFree and kRunning
  WarpSet<kWords> away;                   ///< something of them is executed elsewhere
  WarpSet<kWords> timed;                  ///< those in the timer wheel
  WarpSet<kWords> wheel[kWheelSlots];     ///< by cycle modulo kWheelSlots
  uint64_t wheel_used = 0;                ///< slots that are not empty
  // Ports.
  /// Cycle from which an instruction can be issued to one of them, to wait there or to begin.
  uint32_t unit_accepts[kNumPortUnits] = {};
  UnitPorts ports[kNumPortUnits];
  uint8_t last_warp[kMaxSchedulers] = {};
  uint32_t slot_taken[kMaxSchedulers] = {};  ///< cycle from which on a scheduler's turns are free
  // Thread blocks; `block_order` lists used slots from the oldest on.
  uint8_t block_order[WarpSet<kWords>::kCapacity] = {};
  uint32_t num_block_order = 0;
  uint64_t recheck_barriers = 0;  ///< main SMs: block slots whose barriers may be complete
  uint64_t blocks_done = 0;       ///< main SMs: block slots whose end has not been reported yet
  uint32_t newest_launch = 0;     ///< of which a thread block came: the how many-th to begin
  // Load-store unit.
  uint64_t free_loads = 0;
  uint32_t lsu_head = 0, lsu_count = 0;
  uint32_t lsu_busy_until = 0;  ///< shared memory: bank conflicts
  bool lines_valid = false;     ///< `lines` belongs to the operation at the head
  LsuStall lsu_stall = LsuStall::kNone;
  LineList lines;
  LsuOp lsu[kMaxLsuQueue];
  ParkedOp parked[kMaxLsuQueue];
  uint32_t parked_ops = 0;    ///< mask over `parked`
  uint32_t parked_ready = 0;  ///< of these, those whose page has come
  uint32_t resume_line = 0;   ///< where the operation at the head goes on, once its lines are found
  // Stores in flight, by epoch (see store_epochs.h).
  uint32_t epoch = 0, oldest_epoch = 0;
  uint32_t epoch_stores[kEpochs] = {};
  // Arrays.
  Ref<Warp> warps;
  Ref<uint32_t> scoreboard;  ///< num_warps x slots_per_warp: cycle from which a slot is ready
  Ref<LoadEntry> load_entries;
  Ref<BlockSlotOf<kWords>> blocks;
  Ref<WarpSet<kWords>> barrier_waiting;  ///< main SM: num_blocks x kMaxBarriers: warps
  Ref<BarrierState> barriers;            ///< main SM: num_blocks x kMaxBarriers
  // Bulk copies and mbarriers, where the program has them.
  WarpSet<kWords> waiting;      ///< at mbarriers, after their try
  uint32_t boxes_to_send = 0;   ///< those in CopyEngine::order
  uint32_t boxes_to_share = 0;  ///< with something to send on, as bits
  Ref<CopyEngine> copies;
  Ref<WarpCopies> warp_copies;
  Ref<MbarrierState> mbarriers;  ///< num_blocks x trace::kMaxMbarriers
  // Clusters, where the program has them.
  uint64_t at_cluster_barrier = 0;  ///< block slots of which the front end is to be told
  Ref<ClusterPort> cluster;
  Ref<ClusterSlot> cluster_slots;  ///< by block slot
  Ref<SharedBox> shared_boxes;     ///< by box, with bulk copies
  cache::L1State l1;
  TlbState tlb;
  FetchStateOf<kWords> fetch;
  ConstantStateOf<kWords> constants;
  SmCounters counters;
  CycleCountsOf<kWords> cycles;
  EventLog log;
};

/// Every main SM, and stack SMs of at most 64 warps.
using SmState = SmStateOf<1>;
using BlockSlot = BlockSlotOf<1>;
/// Stack SMs of 65 to kMaxWarps warps.
using WideSmState = SmStateOf<kWideWords>;

}  // namespace nearwarp::sm
