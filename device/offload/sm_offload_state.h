// What an SM keeps for offloading (TOM, sections 4.1 and 4.2).
#pragma once

#include "device/core/types.h"
#include "device/core/warp_set.h"
#include "device/offload/map_analyzer_state.h"

namespace nearwarp::offload {

/// Program counters (begin, end) and active mask in an offload request (TOM, section 4.2), in
/// bytes.
inline constexpr uint32_t kRequestContextBytes = 12;

struct OffloadParams {
  bool enabled = false;          ///< a mechanism with stack SMs is in use
  bool dynamic_control = false;  ///< section 3.3: busy channels and full stack SMs refuse
  bool no_overhead = false;  ///< figure 2: packets weigh nothing, nothing is drained or invalidated
  bool all_local = false;    ///< figure 2: a stack SM finds all data in its own stack
  uint32_t pipeline_latency = 10;  ///< core cycles from detection to decision
  uint32_t dirty_entries = 16;     ///< written lines a stack SM remembers per warp
};

/// What became of one candidate's instances on one SM.
struct CandidateCounters {
  uint64_t instances = 0;          ///< reached the controller
  uint64_t refused_condition = 0;  ///< too few iterations
  uint64_t refused_busy_tx = 0, refused_busy_rx = 0;
  uint64_t refused_pending = 0;   ///< destination's warp limit
  uint64_t no_memory_access = 0;  ///< left the candidate before its first memory access
  uint64_t offloaded = 0;
  uint64_t learning = 0;  ///< begun while the memory map was being learnt; in none of the others
  // Core cycles from the decision until the warp is beyond the block, summed.
  uint64_t kept = 0, kept_cycles = 0;  ///< executed at home, whatever the reason
  uint64_t returned = 0, offloaded_cycles = 0;
  // Stack SMs: lines that went to memory, by where they lie.
  uint64_t local_lines = 0, remote_lines = 0;
};

struct OffloadCounters {
  uint64_t returned = 0;
  uint64_t request_bytes = 0, ack_bytes = 0, dirty_lines = 0;
  uint64_t away_cycles = 0;  ///< core cycles between request and acknowledgement, summed
};

/// `kWords`: words of its warp sets.
template <uint32_t kWords>
struct SmOffloadState {
  uint32_t busy_channels = 0;  ///< bit 2 k: TX of stack k is busy, bit 2 k + 1: its RX
  WarpSet<kWords> draining;
  WarpSet<kWords> to_ask;                ///< the question to the front end has not left yet
  WarpSet<kWords> granted;               ///< the request has not left yet
  uint16_t to_release[kMaxStacks] = {};  ///< returns of which the front end has not been told yet
  uint32_t num_to_release = 0;           ///< their sum
  WarpSet<kWords> returning;  ///< stack SM: finished, dirty lines and acknowledgement to be sent
  Ref<uint32_t> dirty;        ///< stack SM: num_warps x dirty_entries lines
  Ref<uint16_t> num_dirty;    ///< stack SM: num_warps
  Ref<uint32_t> since;        ///< main SM: num_warps; cycle at which the request left
  Ref<uint32_t> decided;      ///< main SM: num_warps; cycle of the controller's decision
  Ref<CandidateCounters> candidates;  ///< by candidate
  AnalyzerState analyzer;             ///< main SM
  OffloadCounters counters;
};

}  // namespace nearwarp::offload
