// Executes the thread blocks of one launch: it schedules warps, completes barriers, and finds
// blocks that wait for others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "host/core/error.h"
#include "host/functional/decode/decoded_kernel.h"
#include "host/functional/exec/device_runtime.h"
#include "host/functional/exec/execution_rules.h"
#include "host/functional/instructions/texture.h"
#include "host/functional/memory/device_heap.h"
#include "host/functional/memory/device_memory.h"
#include "host/recording/recording.h"

namespace nearwarp::racecheck {
class Checker;
}

namespace nearwarp::runtime {

/// The limit that ended traces of a thread block before their warps ended (TraceLimit).
enum class TraceCut : uint8_t { kNone, kInstructions, kBytes };

/// Receives the traces of finished thread blocks, in order.
class BlockSink {
 public:
  virtual ~BlockSink() = default;
  /// `warps[w]` is the trace of warp w; the counts are those of the instructions in the traces.
  virtual void block(std::span<const std::span<const uint64_t>> warps, uint64_t warp_instructions,
                     uint64_t thread_instructions, TraceCut cut) = 0;
};

/// Limits of the traces. When a thread block begins, its warps get equal shares of the remaining
/// thread-instructions; the trace of a warp that has used up its share ends, and the warp continues
/// without one. The limits are checked at barriers, at every turn (kTurn), and where the buffer of
/// a trace must grow.
struct TraceLimit {
  uint64_t thread_instructions = ~uint64_t{0};  ///< most in all traces of the launch
  uint64_t bytes = ~uint64_t{0};                ///< most for traces that are in memory together
};

struct ExecutorOptions {
  BlockSink* sink = nullptr;  ///< nullptr: no traces
  TraceLimit trace_limit;
  uint64_t max_thread_instructions = 0;  ///< stop after the block that reaches this; 0: never
  /// Called every few ten thousand warp-instructions with the number executed in this launch. It
  /// returns false to interrupt the launch.
  std::function<bool(uint64_t)> progress;
  /// Receives the printed text of each block, in the order of the blocks.
  std::function<void(std::string_view)> print;
  const TextureTable* textures = nullptr;
  bool cooperative = false;                      ///< all blocks are resident from the start
  Dim3 cluster;                                  ///< blocks per cluster, a divisor of the grid
  bool explicit_cluster = false;                 ///< value of %is_explicit_cluster
  uint32_t stack_bytes = compiler::kStackBytes;  ///< per thread, for recursive functions
  uint64_t grid_workspace = 0;       ///< %envreg1, %envreg2: device address for grid-wide barriers
  DeviceHeap* heap = nullptr;        ///< needed by kernels that call malloc or free
  DeviceRuntime* runtime = nullptr;  ///< needed by kernels that call the CUDA runtime
  racecheck::Checker* checker = nullptr;  ///< only for a kernel that was decoded as `checked`
  ExecutionRules rules;  ///< max_thread_instructions holds what is left for this launch
  /// Called with a message on the first access beside an allocation that lies in one of its pages.
  /// Such accesses succeed, as on a GPU; without this function they are faults.
  std::function<void(const std::string& message)> stray;
};

struct ExecutorResult {
  uint64_t blocks = 0;  ///< finished blocks, whose instructions are counted below
  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;
  bool interrupted = false;
  // For LaunchRecord's members of the same names:
  uint64_t local_base = 0;
  uint32_t local_bytes = 0;
};

/// Blocks run one after the other, in order, each warp until it waits or exits; blocks of a cluster
/// are resident together, and clusters follow one another. When the warps of all resident blocks
/// only poll memory, further blocks become resident, so that blocks may wait for one another.
/// Throws nearwarp::Error for memory errors and deadlocks of the kernel.
///
/// A warp polls if it repeats volatile, ordered or atomic accesses, or if it returns to the same
/// state of all its registers without having stored. A warp that shows neither, but stores nothing
/// for long, lets others have their turns.
class Executor {
 public:
  Executor(const DecodedKernel& kernel, const std::string& path, DeviceMemory& memory,
           const LaunchRecord& launch, std::span<const std::byte> parameters,
           ExecutorOptions options);
  ~Executor();
  ExecutorResult run();
  /// The work so far, with that of blocks that have not ended. It may be called after run() threw.
  ExecutorResult executed() const;

 private:
  struct Barrier {
    uint32_t waiting = 0;  ///< warps that wait (bit mask)
    uint32_t arrived = 0;  ///< warps that have arrived, waiting or not
    uint32_t popc = 0;
    bool all = true, any = false;
  };
  struct Slot;     // executor_slot.h
  struct Cluster;  // executor_slot.h
  struct Watch;    // executor_watch.h
  enum class Turn : uint8_t {
    kFinished,
    kPolling,
    kBusy,  ///< it has used up its turn; it may wait for others in a way that is not recognised
    kWaiting
  };
  enum class WarpTurn : uint8_t { kGoesOn, kPolls, kTries, kBusy };

  std::unique_ptr<Slot> make_slot();
  void start_blocks(uint64_t sequence);
  void start_block(Slot& slot, uint64_t sequence);
  void fill_block_rows(Slot& slot);
  void fill_row(Slot& slot, uint32_t warp, const RowInit& init);
  uint32_t reserved_shared() const;
  uint32_t special_value(const Slot& slot, ptx::SpecialReg reg, uint32_t warp, uint32_t lane) const;
  Turn run_block(Slot& slot);
  /// Calls ExecutorOptions::progress; returns false if the launch is to be interrupted.
  bool report_progress();
  /// Runs a warp until it waits, exits, polls or has used up its turn.
  WarpTurn run_warp_turn(Slot& slot, uint32_t warp);
  void arrive(Slot& slot, uint32_t warp);
  void complete_barriers(Slot& slot);
  void complete_groups(Slot& slot);
  void release(Slot& slot, Barrier& barrier);
  void grow_trace(exec::Warp& warp, std::vector<uint64_t>& buffer);
  // executor_traces.cpp: traces that a TraceLimit ends
  void begin_traces(Slot& slot);
  void count_traced(Slot& slot, uint32_t warp, uint64_t warp_instructions,
                    uint64_t thread_instructions);
  bool may_grow(const exec::Warp& warp, const Slot& slot) const;
  void cut_trace(Slot& slot, uint32_t warp, TraceCut why);
  void retire(std::unique_ptr<Slot> slot);
  void flush_finished();
  void begin_check();
  // executor_cluster.cpp: clusters of blocks
  void place_block(Slot& slot, uint64_t sequence) const;
  uint32_t cluster_value(const Slot& slot, ptx::SpecialReg reg) const;
  void join_cluster(Slot& slot, std::shared_ptr<Cluster>& cluster) const;
  void cluster_arrive(Slot& slot, uint32_t warp, const BarrierDesc& desc);
  void cluster_wait(Slot& slot, uint32_t warp);
  void cluster_exit(Slot& slot, uint32_t warp);
  void complete_cluster(Cluster& cluster);
  std::string shared_detail(const Slot& slot, uint64_t address) const;
  // executor_lanes.cpp: lanes of a warp that wait for one another
  void rotate_lanes(Slot& slot, uint32_t warp);
  exec::Status run_parted_lanes(Slot& slot, uint32_t warp, int64_t& budget);
  bool meet(Slot& slot, uint32_t warp, uint32_t& stopped);
  bool meet_members(Slot& slot, uint32_t warp, uint32_t row);
  bool ready_to_run(Slot& slot, uint32_t warp);
  bool let_go_held_lanes();
  // executor_spins.cpp: warps that wait by plain loads or by the clock
  enum class Spin : uint8_t { kNo, kLook, kRepeats };
  Spin look_for_spin(const Slot& slot, uint32_t warp, bool looking);
  bool endless() const;
  bool pass_time();
  // executor_system.cpp: calls of the device's runtime
  void system_call(Slot& slot, uint32_t warp);
  void made_fresh(uint64_t address, uint64_t bytes);
  uint64_t runtime_call(const Slot& slot, uint32_t warp, uint32_t lane, const SystemDesc& desc,
                        const uint64_t* arguments);
  const uint8_t* lane_memory(const Slot& slot, uint32_t warp, uint32_t lane, uint64_t address,
                             uint64_t bytes) const;
  std::string lane_string(const Slot& slot, uint32_t warp, uint32_t lane, uint64_t address) const;
  void print_pending(const Slot& running) const;
  /// The stack of recursive functions, if the kernel has one.
  const compiler::Symbol* stack() const;
  bool overflows_stack(const exec::Fault& fault) const;
  std::string access_message(const Slot& slot, uint32_t warp, const exec::Fault& fault) const;
  [[noreturn]] void report_fault(const Slot& slot, uint32_t warp) const;
  [[noreturn]] void report_deadlock(const Slot& slot, const std::string& why) const;
  std::string thread_name(const Slot& slot, uint32_t warp, uint32_t lane) const;
  std::string where(uint32_t instruction) const;

  const DecodedKernel& kernel_;
  const std::string& path_;
  DeviceMemory& memory_;
  const LaunchRecord& launch_;
  std::span<const std::byte> parameters_;
  ExecutorOptions options_;
  ExecutorResult result_;
  exec::Context context_;
  std::vector<exec::MemDesc> memory_descs_;
  std::vector<RowInit> block_inits_;  ///< rows to refill for every thread block
  uint64_t shared_allocated_ = 0;  ///< bytes of a block's shared memory and its mbarriers' phases
  uint32_t warps_per_block_ = 0;
  uint32_t stack_entries_ = 0;
  std::vector<std::unique_ptr<Slot>> resident_;
  std::vector<std::unique_ptr<Slot>> spare_;
  std::map<uint64_t, std::unique_ptr<Slot>> finished_;  ///< waiting for earlier blocks
  uint64_t progress_reported_ = 0;
  uint64_t idle_since_ = 0;        ///< warp-instructions at the last sign of progress
  uint64_t changed_since_ = 0;     ///< warp-instructions at the last store or end of a warp
  uint64_t more_since_ = 0;        ///< warp-instructions when further blocks became resident
  std::unique_ptr<Watch> watch_;   ///< the earlier state of the warp whose turn it is
  uint64_t traced_threads_ = 0;    ///< thread-instructions in traces
  bool traces_cut_ = false;        ///< a limit has ended traces, so later blocks are not traced
  uint64_t cluster_meetings_ = 0;  ///< completed phases of clusters' barriers
  bool waits_by_clock_ = false;    ///< in this round, some warp only waited for the clock
  uint64_t still_since_ = 0;       ///< changed_since_ in the last call of pass_time()
  uint64_t passed_ = 0;            ///< ticks by which pass_time() has advanced clocks since then
  bool waits_for_lanes_ = true;    ///< parted lanes wait at instructions that need the whole warp
};

}  // namespace nearwarp::runtime
