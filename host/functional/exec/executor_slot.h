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

/// Bytes of a block's shared memory that are the system's own, as on GPUs from sm_80 on.
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
  uint8_t* shared[exec::kMaxClusterBlocks] = {};  ///< by rank; nullptr: has ended
  std::vector<Slot*> blocks;                      ///< by rank; the same
  uint32_t live = 0;                              ///< warps
  uint32_t arrived = 0;                           ///< of them, all of whose lanes have
  uint32_t phase = 0;                             ///< of the barrier
};

/// A resident thread block and the storage it uses; reused by later blocks.
struct Executor::Slot {
  enum class State : uint8_t { kRunnable, kWaiting, kExited };
  enum class Polls : uint8_t { kNothing, kMemory, kClock };
  uint64_t index = 0;     ///< in the grid
  uint64_t sequence = 0;  ///< in the order of execution
  uint32_t ctaid[3] = {};
  uint32_t cluster_ctaid[3] = {};
  uint32_t rank = 0;  ///< in its cluster
  uint8_t* own_window = nullptr;
  std::shared_ptr<Cluster> cluster;  ///< nullptr: of one block that has no cluster's barriers
  struct Arrival {
    uint32_t lanes = 0;  ///< that have arrived in this phase
    uint32_t phase = 0;  ///< in which the warp arrived last
    bool any = false;    ///< it has arrived
    bool counted = false, waits = false;
  };
  std::vector<Arrival> arrivals;  ///< of warps, at the barrier of the cluster
  AlignedBytes rows, shared, local;
  std::vector<uint32_t> predicates;
  std::vector<exec::StackEntry> stacks;
  std::vector<exec::Warp> warps;
  std::vector<State> states;
  std::vector<char> split;       // lanes that should be together are not
  std::vector<uint32_t> parked;  // such lanes that have reached a barrier of the block,
  std::vector<uint32_t> held;    // or an instruction for which all lanes of the warp must be there
  std::vector<Polls> polling;    // what the warp did in its last turn, if nothing else
  // Warp-instructions since the warp last stored; at how many of them it is watched next.
  std::vector<uint64_t> quiet, watch_at;
  std::vector<std::vector<uint64_t>> traces;
  uint64_t traced_warp_instructions = 0, traced_thread_instructions = 0;
  uint64_t trace_share = 0;              // thread-instructions of each warp that are traced
  std::vector<uint64_t> traced_threads;  // thread-instructions of the warp in its trace
  TraceCut cut = TraceCut::kNone;
  Barrier barriers[16];
  uint32_t group_waiting = 0;  ///< warps that wait for products of their group
  uint32_t live = 0;
  std::string printed;  // by its threads, until the earlier blocks have ended
  uint64_t warp_instructions = 0, thread_instructions = 0;
  bool filled = false;
};

}  // namespace nearwarp::runtime
