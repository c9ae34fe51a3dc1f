// Begins thread blocks: fills their registers and special registers, and resets their state.
#include <algorithm>
#include <cstring>
#include <utility>

#include "host/functional/exec/executor.h"
#include "host/functional/exec/executor_slot.h"
#include "host/functional/racecheck/checker.h"

namespace nearwarp::runtime {

using ptx::SpecialReg;

namespace {

constexpr uint64_t kLocalTraceBytes = uint64_t{1} << 36;  // address range of local memory in traces
constexpr uint32_t kVirtualSms = 64;                      // value of %nsmid

}  // namespace

/// Offset of the block's shared memory that is reserved for the system. On GPUs it is 0; here it is
/// behind the kernel's own, so that the addresses of kernels without it do not change. Cooperative
/// groups of several warps, compiled for 8.0 and later, use it for their barriers.
uint32_t Executor::reserved_shared() const { return (launch_.shared_bytes + 15) / 16 * 16; }

uint32_t Executor::special_value(const Slot& slot, SpecialReg reg, uint32_t warp,
                                 uint32_t lane) const {
  const Dim3 &b = launch_.block, &g = launch_.grid;
  const uint32_t thread = warp * 32 + lane;
  switch (reg) {
    case SpecialReg::kTidX:
      return thread % b.x;
    case SpecialReg::kTidY:
      return thread / b.x % b.y;
    case SpecialReg::kTidZ:
      return thread / b.x / b.y;
    case SpecialReg::kNtidX:
      return b.x;
    case SpecialReg::kNtidY:
      return b.y;
    case SpecialReg::kNtidZ:
      return b.z;
    case SpecialReg::kCtaidX:
      return slot.ctaid[0];
    case SpecialReg::kCtaidY:
      return slot.ctaid[1];
    case SpecialReg::kCtaidZ:
      return slot.ctaid[2];
    case SpecialReg::kNctaidX:
      return g.x;
    case SpecialReg::kNctaidY:
      return g.y;
    case SpecialReg::kNctaidZ:
      return g.z;
    case SpecialReg::kLaneid:
      return lane;
    case SpecialReg::kWarpid:
      return warp;
    case SpecialReg::kNwarpid:
      return 64;
    case SpecialReg::kSmid:
      return static_cast<uint32_t>(slot.index % kVirtualSms);
    case SpecialReg::kNsmid:
      return kVirtualSms;
    case SpecialReg::kGridid:
      return 0;
    case SpecialReg::kLanemaskEq:
      return 1u << lane;
    case SpecialReg::kLanemaskLt:
      return (1u << lane) - 1;
    case SpecialReg::kLanemaskLe:
      return (2u << lane) - 1;
    case SpecialReg::kLanemaskGt:
      return ~((2u << lane) - 1);
    case SpecialReg::kLanemaskGe:
      return ~((1u << lane) - 1);
    case SpecialReg::kDynamicSmemSize:
      return launch_.shared_bytes - kernel_.kernel->static_shared_bytes;
    case SpecialReg::kTotalSmemSize:
      return launch_.shared_bytes;
    case SpecialReg::kReservedSmemBegin:
    case SpecialReg::kReservedSmem0:
      return reserved_shared();
    case SpecialReg::kReservedSmem1:
      return reserved_shared() + kReservedSharedBytes / 4;
    case SpecialReg::kReservedSmemEnd:
      return reserved_shared() + kReservedSharedBytes;
    case SpecialReg::kReservedSmemCap:
      return kReservedSharedBytes;
    case SpecialReg::kEnvreg1:
      return static_cast<uint32_t>(options_.grid_workspace >> 32);
    case SpecialReg::kEnvreg2:
      return static_cast<uint32_t>(options_.grid_workspace);
    default:  // clocks are operations, not rows
      return cluster_value(slot, reg);
  }
}

void Executor::fill_row(Slot& slot, uint32_t w, const RowInit& init) {
  uint8_t* row = slot.warps[w].rows + size_t{init.row} * exec::kRowBytes;
  uint64_t value = init.value;
  if (init.kind == RowInit::Kind::kParam) {
    value = 0;
    if (init.value + init.bytes <= parameters_.size())
      std::memcpy(&value, parameters_.data() + init.value, init.bytes);
    if (init.is_signed && init.bytes < 8) {
      const unsigned up = 64 - 8u * init.bytes;
      value = static_cast<uint64_t>(static_cast<int64_t>(value << up) >> up);
    }
  } else if (init.kind == RowInit::Kind::kSpecial) {
    for (uint32_t lane = 0; lane < exec::kLanes; ++lane) {
      const uint32_t v = special_value(slot, init.special, w, lane);
      std::memcpy(row + lane * 4, &v, 4);
    }
    return;
  }
  for (uint32_t lane = 0; lane < exec::kLanes; ++lane) {
    if (init.wide)
      std::memcpy(row + lane * 8, &value, 8);
    else
      std::memcpy(row + lane * 4, &value, 4);
  }
}

/// Fills the rows that differ between thread blocks. Each has one value in all lanes of all warps.
void Executor::fill_block_rows(Slot& slot) {
  for (const RowInit& init : block_inits_) {
    const uint32_t value = special_value(slot, init.special, 0, 0);
    for (const exec::Warp& warp : slot.warps) {
      uint8_t* row = warp.rows + size_t{init.row} * exec::kRowBytes;
      for (uint32_t lane = 0; lane < exec::kLanes; ++lane) std::memcpy(row + lane * 4, &value, 4);
    }
  }
}

/// Starts all blocks of the cluster whose first block has the number `sequence`.
void Executor::start_blocks(uint64_t sequence) {
  std::shared_ptr<Cluster> cluster;
  for (uint64_t i = 0; i < options_.cluster.count(); ++i) {
    std::unique_ptr<Slot> slot = make_slot();
    start_block(*slot, sequence + i);
    join_cluster(*slot, cluster);
    resident_.push_back(std::move(slot));
  }
}

void Executor::start_block(Slot& slot, uint64_t sequence) {
  place_block(slot, sequence);
  const uint64_t index = slot.index;
  slot.live = warps_per_block_;
  slot.warp_instructions = slot.thread_instructions = 0;
  slot.printed.clear();
  for (Barrier& b : slot.barriers) b = Barrier{};
  slot.group_waiting = 0;
  if (context_.phases_at != 0)
    std::memset(slot.shared.get() + context_.phases_at, 0, shared_allocated_ - context_.phases_at);
  const uint64_t local_warp = uint64_t{(context_.local_bytes + 3) / 4} * exec::kRowBytes;
  const uint64_t local_block = std::max<uint64_t>(local_warp * warps_per_block_, 1);
  const uint64_t local_slots = std::clamp<uint64_t>(kLocalTraceBytes / local_block, 1, 1024);
  const uint64_t threads = launch_.block.count();
  for (uint32_t w = 0; w < warps_per_block_; ++w) {
    if (!slot.filled)
      for (const RowInit& init : kernel_.inits) fill_row(slot, w, init);
    exec::Warp& warp = slot.warps[w];
    const uint64_t lanes = std::min<uint64_t>(32, threads - uint64_t{w} * 32);
    warp.active = lanes == 32 ? exec::kFullMask : (1u << lanes) - 1;
    warp.depth = 0;
    warp.block = 0;
    warp.reconverge = exec::kNoBlock;
    warp.exited = 0;
    warp.local_trace_base = exec::kDeviceBase + context_.arena_bytes +
                            (index % local_slots) * local_block + local_warp * w;
    slot.states[w] = Slot::State::kRunnable;
    slot.polling[w] = Slot::Polls::kNothing;
    slot.split[w] = 0;
    slot.quiet[w] = 0;
    slot.watch_at[w] = kTurn;
    slot.parked[w] = slot.held[w] = 0;
    warp.tries = 0;
  }
  begin_traces(slot);
  fill_block_rows(slot);
  slot.filled = true;
  if (options_.checker != nullptr)
    options_.checker->begin_block(index, sequence / options_.cluster.count());
}

}  // namespace nearwarp::runtime
