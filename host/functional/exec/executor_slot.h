// A resident thread block of the executor.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "host/core/error.h"
#include "host/functional/exec/executor.h"

namespace nearwarp::runtime {

/// Bytes of a block's shared memory that are reserved for the system, as on GPUs from sm_80 on.
inline constexpr uint32_t kReservedSharedBytes = 1024;
inline constexpr int64_t kTurn = 1 << 15;  ///< warp-instructions between looks at a warp

struct AlignedFree {
  void operator()(void* p) const { std::free(p); }
};
using AlignedBytes = std::unique_ptr<uint8_t[], AlignedFree>;

inline AlignedBytes aligned_zeroed(uint64_t bytes) {
  const uint64_t size = (std::max<uint64_t>(bytes, 1) + 127) / 128 * 128;
  void* p = std::aligned_alloc(128, size);
  if (p == nullptr) throw Error(fmt::format("out of memory: {} bytes for a thread block", size));
  std::memset(p, 0, size);
  return AlignedBytes(static_cast<uint8_t*>(p));
}

/// Blocks that run together and may access each other's shared memory.
struct Executor::Cluster {
  uint64_t id = 0;
  uint8_t* shared[exec::kMaxClusterBlocks] = {};  ///< by rank; nullptr: the block has ended
  std::vector<Slot*> blocks;                      ///< by rank; nullptr: the block has ended
  uint32_t live = 0;                              ///< warps that have not exited
  uint32_t arrived = 0;                           ///< live warps whose lanes have all arrived
  uint32_t phase = 0;                             ///< the barrier's number of completed phases
};

/// A resident thread block and the storage it uses; reused by later blocks.
struct Executor::Slot {
  enum class State : uint8_t { kRunnable, kWaiting, kExited };
  enum class Polls : uint8_t { kNothing, kMemory, kClock };
  uint64_t index = 0;     ///< the block's number in the grid
  uint64_t sequence = 0;  ///< its number in the order of execution
  uint32_t ctaid[3] = {};
  uint32_t cluster_ctaid[3] = {};
  uint32_t rank = 0;  ///< its number in its cluster
  uint8_t* own_window = nullptr;
  std::shared_ptr<Cluster> cluster;  ///< nullptr: the block is alone and uses no cluster barriers
  struct Arrival {
    uint32_t lanes = 0;  ///< lanes that have arrived in this phase
    uint32_t phase = 0;  ///< the phase in which the warp arrived last
    bool any = false;    ///< the warp has arrived at least once
    bool counted = false, waits = false;
  };
  std::vector<Arrival> arrivals;  ///< by warp, at the barrier of the cluster
  AlignedBytes rows, shared, local;
  std::vector<uint32_t> predicates;
  std::vector<exec::StackEntry> stacks;
  std::vector<exec::Warp> warps;
  std::vector<State> states;
  std::vector<char> split;  // by warp: its lanes are parted though they should have reconverged
  std::vector<uint32_t> parked;  // by warp: parted lanes that wait at a barrier of the block
  std::vector<uint32_t> held;    // by warp: parted lanes that wait for all lanes of the warp
  std::vector<Polls> polling;    // by warp: how it polled in its last turn, if it did nothing else
  // By warp: warp-instructions since its last store, and their number at which it is watched next.
  std::vector<uint64_t> quiet, watch_at;
  std::vector<std::vector<uint64_t>> traces;
  uint64_t traced_warp_instructions = 0, traced_thread_instructions = 0;
  uint64_t trace_share = 0;              // most thread-instructions in the trace of a warp
  std::vector<uint64_t> traced_threads;  // by warp: thread-instructions in its trace
  TraceCut cut = TraceCut::kNone;
  Barrier barriers[16];
  uint32_t group_waiting = 0;  ///< warps that wait for products of their warpgroup
  uint32_t live = 0;
  std::string printed;  // text of its threads, kept until the earlier blocks have ended
  uint64_t warp_instructions = 0, thread_instructions = 0;
  bool filled = false;
};

}  // namespace nearwarp::runtime
