// The executor's main loop: residency of thread blocks, turns of warps, and their limits.
#include "host/functional/exec/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/core/error.h"
#include "host/functional/exec/executor_slot.h"
#include "host/functional/exec/executor_watch.h"
#include "host/functional/exec/interpreter.h"
#include "host/functional/racecheck/checker.h"

namespace nearwarp::runtime {

using exec::Status;
using ptx::SpecialReg;

namespace {

// Turns, in warp-instructions: of a warp that only polled in its last turn; and of one whose other
// lanes wait for the running ones, or that waits by the clock.
constexpr int64_t kPollingTurn = 1 << 10;
constexpr int64_t kShortTurn = 1 << 6;
constexpr int kTurnsWhilePolling = 16;  // turns in a row of a warp that polls and also stores
constexpr uint64_t kDeadlockBudget = uint64_t{1} << 24;  // warp-instructions without any effect
// Warp-instructions after which others have a turn: of a warp without a store, and of a block
// between two barriers.
constexpr uint64_t kQuiet = uint64_t{1} << 22;
constexpr uint64_t kBlockShare = uint64_t{1} << 24;
constexpr uint64_t kResidentBytes = uint64_t{2} << 30;  // most memory for resident blocks

/// Is the warp at the head of a basic block, with more to come?
bool stands_at_block(Status status) {
  return status == Status::kYield || status == Status::kBarrier || status == Status::kSystem;
}

/// While it lives, %clock and its like do not advance, if `stands`.
class StandingClock {
 public:
  StandingClock(exec::Context& context, bool stands) : context_(context) {
    context.clock_stands = stands;
    context.clock_at = context.clock_ahead + context.warp_instructions;
  }
  ~StandingClock() { context_.clock_stands = false; }
  StandingClock(const StandingClock&) = delete;

 private:
  exec::Context& context_;
};

/// Does the row have other contents in each thread block?
bool depends_on_block(const RowInit& init) {
  if (init.kind != RowInit::Kind::kSpecial) return false;
  return init.special == SpecialReg::kCtaidX || init.special == SpecialReg::kCtaidY ||
         init.special == SpecialReg::kCtaidZ || init.special == SpecialReg::kSmid ||
         (init.special >= SpecialReg::kClusteridX && init.special <= SpecialReg::kClusterCtarank);
}

}  // namespace

Executor::Executor(const DecodedKernel& kernel, const std::string& path, DeviceMemory& memory,
                   const LaunchRecord& launch, std::span<const std::byte> parameters,
                   ExecutorOptions options)
    : kernel_(kernel),
      path_(path),
      memory_(memory),
      launch_(launch),
      parameters_(parameters),
      options_(std::move(options)),
      memory_descs_(kernel.memory) {
  warps_per_block_ = static_cast<uint32_t>((launch.block.count() + 31) / 32);
  // Enough entries: those that wait for reconvergence are nested along the post-dominator tree, and
  // the others hold disjoint sets of lanes.
  stack_entries_ = static_cast<uint32_t>(std::min<size_t>(kernel.blocks.size(), 4096)) + 40;
  for (const RowInit& init : kernel.inits)
    if (depends_on_block(init)) block_inits_.push_back(init);
  context_.ops = kernel.ops.data();
  context_.blocks = kernel.blocks.data();
  context_.memory = memory_descs_.data();
  context_.tables = kernel.tables.data();
  context_.extended = kernel.extended.data();
  context_.textures = options_.textures;
  context_.checker = options_.checker;
  context_.arena = memory.arena();
  context_.arena_bytes = memory.arena_bytes();
  context_.ranges = memory.ranges().data();
  context_.num_ranges = static_cast<uint32_t>(memory.ranges().size());
  if (options_.stray) {
    context_.pages = memory.pages().data();
    context_.num_pages = static_cast<uint32_t>(memory.pages().size());
  }
  context_.shared_bytes = launch.shared_bytes;
  if (kernel.uses_reserved_shared) context_.shared_bytes = reserved_shared() + kReservedSharedBytes;
  shared_allocated_ = context_.shared_bytes;
  if (kernel.has_mbarriers) {
    const uint64_t words = (uint64_t{context_.shared_bytes} + 7) / 8;
    shared_allocated_ = words * 8 + (words + 1) * sizeof(exec::MbarrierPhases);
    context_.phases_at = static_cast<uint32_t>(words * 8);
  }
  context_.local_bytes = kernel.kernel->local_bytes;
  if (stack() != nullptr && options_.stack_bytes > compiler::kStackBytes)
    context_.local_bytes += options_.stack_bytes - compiler::kStackBytes;
}

Executor::~Executor() = default;

std::unique_ptr<Executor::Slot> Executor::make_slot() {
  if (!spare_.empty()) {
    auto slot = std::move(spare_.back());
    spare_.pop_back();
    return slot;
  }
  auto slot = std::make_unique<Slot>();
  const uint64_t row_bytes = uint64_t{kernel_.num_rows} * exec::kRowBytes;
  slot->rows = aligned_zeroed(row_bytes * warps_per_block_);
  slot->shared = aligned_zeroed(shared_allocated_);
  slot->local = aligned_zeroed(uint64_t{context_.local_bytes} * 32 * warps_per_block_);
  slot->predicates.assign(size_t{kernel_.num_predicates} * warps_per_block_, 0);
  slot->stacks.resize(size_t{stack_entries_} * warps_per_block_);
  slot->warps.resize(warps_per_block_);
  slot->states.resize(warps_per_block_);
  slot->polling.resize(warps_per_block_);
  slot->quiet.resize(warps_per_block_);
  slot->watch_at.resize(warps_per_block_);
  slot->split.resize(warps_per_block_);
  slot->parked.resize(warps_per_block_);
  slot->held.resize(warps_per_block_);
  slot->traces.resize(warps_per_block_);
  slot->traced_threads.resize(warps_per_block_);
  slot->arrivals.resize(warps_per_block_);
  slot->own_window = slot->shared.get();
  for (uint32_t w = 0; w < warps_per_block_; ++w) {
    exec::Warp& warp = slot->warps[w];
    warp.index = w;
    warp.rows = slot->rows.get() + row_bytes * w;
    warp.predicates = slot->predicates.data() + size_t{kernel_.num_predicates} * w;
    warp.predicates[exec::kTruePredicate] = exec::kFullMask;
    warp.stack = slot->stacks.data() + size_t{stack_entries_} * w;
    warp.local = slot->local.get() + uint64_t{context_.local_bytes} * 32 * w;
    if (options_.sink != nullptr) slot->traces[w].resize(1024);
  }
  return slot;
}

bool Executor::report_progress() {
  progress_reported_ = context_.warp_instructions;
  const uint64_t most = options_.rules.max_thread_instructions;
  if ((options_.progress && !options_.progress(context_.warp_instructions)) ||
      (most != 0 && context_.thread_instructions >= most))
    result_.interrupted = true;
  return !result_.interrupted;
}

Executor::WarpTurn Executor::run_warp_turn(Slot& slot, uint32_t w) {
  exec::Warp& warp = slot.warps[w];
  context_.shared = slot.shared.get();
  context_.cluster_shared = slot.cluster != nullptr ? slot.cluster->shared : &slot.own_window;
  context_.cluster_rank = slot.rank;
  if (options_.checker != nullptr) options_.checker->enter(slot.index);
  // Blocks of a cooperative launch often wait for each other. With long turns, most of the recorded
  // instructions would be polling.
  const int64_t share = options_.rules.interleave_instructions;
  const int64_t longest = options_.cooperative ? kPollingTurn : kTurn;
  const int64_t turn = share == 0 ? longest : std::min(share, longest);
  const int64_t most_turns = kTurnsWhilePolling * (kTurn / turn);
  int64_t turns = 0;
  const Slot::Polls before_turn = slot.polling[w];
  int64_t budget = turn;
  if (before_turn != Slot::Polls::kNothing)
    budget = slot.split[w] || before_turn == Slot::Polls::kClock ? kShortTurn : kPollingTurn;
  slot.polling[w] = Slot::Polls::kNothing;
  context_.polled = context_.read_clock = false;
  context_.stored = context_.stored_locally = false;
  Spin spin = Spin::kNo;
  // While the clock stands, a warp that waits by the clock returns to the same state; a warp that
  // measures time does not.
  const StandingClock standing(context_, before_turn == Slot::Polls::kClock);
  bool looks_at_clock = false;
  for (;;) {
    const uint64_t before = context_.warp_instructions;
    const uint64_t before_threads = context_.thread_instructions;
    const uint64_t retried = context_.retried_warp_instructions;
    const uint64_t retried_threads = context_.retried_thread_instructions;
    const Status status =
        slot.split[w] ? run_parted_lanes(slot, w, budget) : run_warp(context_, warp, budget);
    slot.warp_instructions += context_.warp_instructions - before;
    slot.thread_instructions += context_.thread_instructions - before_threads;
    slot.quiet[w] += context_.warp_instructions - before;
    if (warp.trace != nullptr) {
      count_traced(
          slot, w,
          context_.warp_instructions - before - (context_.retried_warp_instructions - retried),
          context_.thread_instructions - before_threads -
              (context_.retried_thread_instructions - retried_threads));
      if (slot.traced_threads[w] >= slot.trace_share && stands_at_block(status))
        cut_trace(slot, w, TraceCut::kInstructions);
    }
    if (context_.stored) {
      slot.quiet[w] = 0;
      slot.watch_at[w] = kTurn;
      idle_since_ = changed_since_ = context_.warp_instructions;
    }
    if (context_.stray.kind != exec::FaultKind::kNone && options_.stray) {
      options_.stray(access_message(slot, w, context_.stray));
      options_.stray = nullptr;
    }
    switch (status) {
      case Status::kTraceFull:
        // The block at the head may be the one to return to after a pop; double until it fits.
        if (may_grow(warp, slot))
          grow_trace(warp, slot.traces[w]);
        else
          cut_trace(slot, w, TraceCut::kBytes);
        continue;
      case Status::kTries:
        if (!context_.stored) slot.polling[w] = Slot::Polls::kMemory;
        rotate_lanes(slot, w);
        return WarpTurn::kTries;
      case Status::kFault:
        report_fault(slot, w);
      case Status::kExited:
        slot.states[w] = Slot::State::kExited;
        --slot.live;
        if (warp.trace != nullptr) {
          if (warp.trace_size == warp.trace_capacity) grow_trace(warp, slot.traces[w]);
          warp.trace[warp.trace_size++] = 0;
        }
        idle_since_ = changed_since_ = context_.warp_instructions;
        if (options_.checker != nullptr) options_.checker->exit(warp);
        complete_barriers(slot);
        if (slot.cluster != nullptr) cluster_exit(slot, w);
        return WarpTurn::kGoesOn;
      case Status::kBarrier:
        spin = Spin::kNo;
        if (slot.split[w]) {
          if (!meet(slot, w, slot.parked[w])) continue;
          if (!slot.split[w]) warp.barrier_mask |= warp.active;
        }
        arrive(slot, w);
        if (slot.states[w] != Slot::State::kRunnable) return WarpTurn::kGoesOn;
        continue;
      case Status::kSystem:
        spin = Spin::kNo;
        changed_since_ = context_.warp_instructions;
        system_call(slot, w);
        continue;
      case Status::kYield:
        break;
    }
    if (spin == Spin::kNo && context_.warp_instructions - progress_reported_ >= kPollingTurn &&
        !report_progress())
      return WarpTurn::kBusy;
    if (share != 0 && slot.quiet[w] < static_cast<uint64_t>(longest)) {  // the next warp's turn
      idle_since_ = context_.warp_instructions;
      return WarpTurn::kGoesOn;
    }
    if (context_.polled && (!context_.stored || ++turns >= most_turns)) {
      if (!context_.stored && context_.read_clock && context_.clock_stands) {
        const Spin clock = look_for_spin(slot, w, looks_at_clock);
        if (clock == Spin::kLook) {
          looks_at_clock = true;
          budget = 0;
          continue;
        }
        waits_by_clock_ = waits_by_clock_ || clock == Spin::kRepeats;
        if (clock != Spin::kRepeats) {
          // The warp computes, and measures how long that takes.
          idle_since_ = context_.warp_instructions;
          rotate_lanes(slot, w);
          return WarpTurn::kPolls;
        }
      }
      if (!context_.stored)
        slot.polling[w] = context_.read_clock ? Slot::Polls::kClock : Slot::Polls::kMemory;
      rotate_lanes(slot, w);
      return WarpTurn::kPolls;
    }
    if (context_.stored) {
      spin = Spin::kNo;
    } else if (slot.quiet[w] >= slot.watch_at[w]) {
      const bool looked = spin == Spin::kLook;
      spin = look_for_spin(slot, w, looked);
      if (spin == Spin::kLook) {
        budget = 0;  // to the head of the next block
        continue;
      }
      if (spin == Spin::kRepeats) {
        slot.polling[w] = Slot::Polls::kMemory;
        rotate_lanes(slot, w);
        return WarpTurn::kPolls;
      }
      slot.watch_at[w] = slot.quiet[w] * 2;
    }
    budget = turn;
    context_.clock_stands = false;
    idle_since_ = context_.warp_instructions;  // the warp computes
    if (slot.quiet[w] >= kQuiet) {
      rotate_lanes(slot, w);
      return WarpTurn::kBusy;
    }
    context_.polled = context_.read_clock = false;
    context_.stored = context_.stored_locally = false;
  }
}

Executor::Turn Executor::run_block(Slot& slot) {
  const uint64_t begun = context_.warp_instructions;
  for (;;) {
    bool ran = false, polls = false, tries = false, busy = false;
    const uint64_t changed = changed_since_;
    for (uint32_t w = 0; w < warps_per_block_; ++w) {
      if (slot.states[w] != Slot::State::kRunnable) continue;
      ran = true;
      const WarpTurn turn = run_warp_turn(slot, w);
      if (result_.interrupted) return Turn::kPolling;
      polls = polls || turn == WarpTurn::kPolls;
      tries = tries || turn == WarpTurn::kTries;
      busy = busy || turn == WarpTurn::kBusy;
    }
    if (slot.live == 0) return Turn::kFinished;
    if (!ran) {
      if (slot.cluster != nullptr) return Turn::kWaiting;  // other blocks may complete the barrier
      report_deadlock(slot, "all of its warps wait at barriers that cannot complete");
    }
    // Another round runs warps that a barrier has released, unless some of the block poll.
    if (busy || context_.warp_instructions - begun > kBlockShare) return Turn::kBusy;
    if (polls || (tries && changed_since_ == changed)) return Turn::kPolling;
  }
}

void Executor::flush_finished() {
  while (!finished_.empty() && finished_.begin()->first == result_.blocks) {
    std::unique_ptr<Slot> slot = std::move(finished_.begin()->second);
    finished_.erase(finished_.begin());
    if (options_.sink != nullptr) {
      std::span<const uint64_t> traces[32];
      for (uint32_t w = 0; w < warps_per_block_; ++w)
        traces[w] = {slot->traces[w].data(), slot->warps[w].trace_size};
      options_.sink->block({traces, warps_per_block_}, slot->traced_warp_instructions,
                           slot->traced_thread_instructions, slot->cut);
    }
    if (options_.print && !slot->printed.empty()) options_.print(slot->printed);
    result_.warp_instructions += slot->warp_instructions;
    result_.thread_instructions += slot->thread_instructions;
    ++result_.blocks;
    spare_.push_back(std::move(slot));
    if (options_.max_thread_instructions != 0 &&
        result_.thread_instructions >= options_.max_thread_instructions)
      return;
  }
}

void Executor::begin_check() {
  racecheck::LaunchFacts facts;
  facts.kernel = kernel_.kernel;
  facts.path = path_;
  facts.rules = kernel_.rules.data();
  facts.syncs = kernel_.syncs.data();
  facts.shared_bytes = context_.shared_bytes;
  facts.own_shared_bytes = launch_.shared_bytes;
  facts.written = memory_.written();
  const Dim3 &g = launch_.grid, &b = launch_.block;
  facts.grid = {g.x, g.y, g.z};
  facts.block = {b.x, b.y, b.z};
  facts.describe = [this](uint64_t address) { return memory_.describe(address); };
  options_.checker->begin_launch(std::move(facts));
}

ExecutorResult Executor::run() {
  if (options_.checker != nullptr) begin_check();
  result_.local_base = exec::kDeviceBase + context_.arena_bytes;
  result_.local_bytes = (context_.local_bytes + 3) / 4 * 4;
  const uint64_t total = launch_.grid.count();
  uint64_t next = 0;
  const uint64_t together = options_.cluster.count();
  uint64_t wanted = options_.cooperative ? total : together;  // resident blocks
  context_.cluster_blocks = static_cast<uint32_t>(together);
  const auto limit_reached = [&] {
    return options_.max_thread_instructions != 0 &&
           result_.thread_instructions >= options_.max_thread_instructions;
  };
  const uint64_t slot_bytes =
      (uint64_t{kernel_.num_rows} * exec::kRowBytes + uint64_t{context_.local_bytes} * 32) *
          warps_per_block_ +
      context_.shared_bytes;
  const uint64_t most_resident =
      std::clamp<uint64_t>(kResidentBytes / (slot_bytes + 1), 64, 65536) / together * together;
  if (options_.cooperative && total > most_resident)
    throw Error(
        fmt::format("a cooperative launch of {} thread blocks of kernel {} - at most {} of "
                    "this size are resident together",
                    total, kernel_.kernel->name, most_resident));
  while (result_.blocks < total && !limit_reached()) {
    while (resident_.size() < wanted && next < total) {
      start_blocks(next);
      next += together;
    }
    bool finished_any = false, all_wait = true, busy = false;
    waits_by_clock_ = false;
    const uint64_t meetings = cluster_meetings_;
    for (size_t i = 0; i < resident_.size() && !limit_reached();) {
      const Turn turn = run_block(*resident_[i]);
      all_wait = all_wait && turn == Turn::kWaiting;
      busy = busy || turn == Turn::kBusy;
      if (turn == Turn::kFinished) {
        finished_any = true;
        Slot& slot = *resident_[i];
        if (options_.checker != nullptr) options_.checker->end_block(slot.index);
        if (slot.cluster != nullptr) {
          slot.cluster->shared[slot.rank] = nullptr;
          slot.cluster->blocks[slot.rank] = nullptr;
          slot.cluster.reset();
        }
        finished_[slot.sequence] = std::move(resident_[i]);
        resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(i));
        flush_finished();
      } else {
        ++i;
      }
      if (context_.warp_instructions - progress_reported_ >= kTurn) report_progress();
      if (result_.interrupted) return result_;
    }
    if (finished_any) {
      if (resident_.empty() && !options_.cooperative) wanted = together;
      continue;
    }
    if (cluster_meetings_ != meetings) continue;  // warps that waited for a cluster go on
    if (all_wait && !resident_.empty() && !limit_reached())
      report_deadlock(*resident_.front(),
                      "all warps of its cluster wait at barriers that cannot complete");
    // All resident blocks wait: bring in more blocks, or give up. A block that seems to compute may
    // wait as well; but since more blocks take more memory, they are brought in slowly then.
    const bool more = next < total && resident_.size() < most_resident;
    if (more && busy && context_.warp_instructions - more_since_ < kQuiet * resident_.size())
      continue;
    if (!more && endless())
      report_deadlock(*resident_.front(),
                      fmt::format("{} warp-instructions of {} resident thread blocks have stored "
                                  "nothing, and no thread has ended",
                                  context_.warp_instructions - changed_since_, resident_.size()));
    if (more) {
      more_since_ = context_.warp_instructions;
      wanted = std::min<uint64_t>(resident_.size() * 2, most_resident);
    } else if (!busy && waits_by_clock_ && pass_time()) {
      continue;
    } else if (context_.warp_instructions - idle_since_ > kDeadlockBudget) {
      if (let_go_held_lanes()) continue;
      report_deadlock(*resident_.front(),
                      fmt::format("{} resident thread blocks poll memory that nobody changes{}",
                                  resident_.size(),
                                  next < total ? ", and no more blocks fit on the device" : ""));
    }
  }
  return result_;
}

ExecutorResult Executor::executed() const {
  ExecutorResult all = result_;
  all.warp_instructions = context_.warp_instructions;
  all.thread_instructions = context_.thread_instructions;
  return all;
}

}  // namespace nearwarp::runtime
