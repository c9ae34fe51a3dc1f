// The state of TOM on an SM (TOM, sections 4.1 and 4.2).
#pragma once

#include "device/core/channel.h"
#include "device/core/warp_set.h"
#include "device/mechanisms/tom/analyzer_state.h"
#include "device/mechanisms/tom/program.h"
#include "device/mechanisms/tuning/rounds.h"

namespace nearwarp::tom {

/// Program counters (begin, end) and active mask in an offload request (TOM, section 4.2), in
/// bytes.
inline constexpr uint32_t kRequestContextBytes = 12;
/// Program counter and active mask of a warp that is sent back, in bytes.
inline constexpr uint32_t kReturnContextBytes = 8;

/// More guests than any stack SM holds.
inline constexpr uint32_t kMaxGuests = 0xffff;

/// Shared by all SMs of a kind.
struct SmSideParams {
  bool in_stack = false;         ///< executes what others offload; else offloads
  bool dynamic_control = false;  ///< section 3.3: busy channels and full stack SMs refuse
  /// Figure 2: requests and what answers them go straight from SM to SM, nothing is drained or
  /// invalidated.
  bool no_overhead = false;
  bool even = false;               ///< and only where fewer guests are than the SM has warps
  bool any_stack = false;          ///< all data is in every stack: whichever one has room
  bool flush_l1 = true;            ///< section 4.4.2: a stack SM, before it spawns a warp
  bool busy_refuses = true;        ///< with dynamic control: busy channels do
  bool count_at_begin = false;     ///< the learning phase counts instances when they begin
  uint32_t pipeline_latency = 10;  ///< core cycles from detection to decision
  uint32_t dirty_entries = 16;     ///< written lines a stack SM remembers per warp
  uint32_t shared_rows = 0;        ///< tuned: what the shared memory of a stack SM holds
  Ref<Endpoint> stack_sms;         ///< by stack: where offload requests go
  // The program.
  Ref<Candidate> candidates;
  Ref<uint16_t> candidate_of, weight;
  Ref<uint16_t> inner_of;  ///< empty: no candidates are within others
  tuning::TuningParams tuning;
  Ref<uint16_t> head_of;        ///< tuned: by instruction; kNoHead: no loop's
  Ref<tuning::LoopHead> heads;  ///< tuned

  NW_HD NW_INLINE ProgramTables program(const std::byte* base) const {
    return {candidates.in(base), candidate_of.in(base), weight.in(base), nullptr,
            inner_of.count != 0 ? inner_of.in(base) : nullptr};
  }
};

/// Where a warp stands with its candidate.
enum class Step : uint8_t {
  kNone,       ///< in none, or executes it at home
  kDeciding,   ///< the offload controller looks at the candidate
  kSearching,  ///< executes until the candidate's first memory instruction
  kDraining,   ///< waits until the SM's earlier stores are in memory, and for its own registers
  kAsking,     ///< waits for the front end's answer
  kGranted,    ///< waits for the request to leave
  kAway,       ///< runs on a stack SM
  kReturning,  ///< stack SM: waits for dirty lines and acknowledgement to leave
};

/// One warp slot.
struct WarpSide {
  sm::Cursor saved;                   ///< the candidate's beginning
  uint32_t drain_epoch = 0;           ///< stores up to this epoch must be in memory
  uint32_t decided = 0;               ///< cycle of the controller's decision
  uint32_t since = 0;                 ///< cycle at which the request left
  uint32_t searched = 0;              ///< warp-instructions issued while searching
  uint32_t searched_threads = 0;      ///< the same in thread-instructions
  uint16_t candidate = kNoCandidate;  ///< the one being executed (refused: at home), if any
  /// Stack SM: endpoint that gets the acknowledgement; without overhead its place in `ways`.
  uint16_t requester = 0;
  uint16_t num_dirty = 0;      ///< stack SM: lines remembered
  StackId stack{};             ///< destination
  uint8_t requester_warp = 0;  ///< stack SM: its warp slot there
  Step step = Step::kNone;
  bool at_home = false;   ///< executes a candidate that was not offloaded
  bool analyzed = false;  ///< learning phase: its candidate instance is being analysed
  bool paused = false;    ///< not offered again before it leaves the candidate
  // Tuned offloading, and decisions in every round.
  bool was_away = false;       ///< offloaded since it came to the candidate
  bool sent_back = false;      ///< stack SM: returns before the candidate's end
  uint32_t home_since = 0;     ///< cycle from which on it has executed the candidate at home
  uint32_t rounds_passed = 0;  ///< loop heads since `saved`
  uint64_t barred = 0;         ///< candidates (Candidate::order) that are not offered again
  uint32_t merged = 0;         ///< cycle from which on all rows that have come back are merged
  uint16_t rows_to_send = 0;   ///< of the shared array
};

/// Numbers of one candidate's instances on one SM, by what became of them.
struct CandidateCounters {
  uint64_t instances = 0;          ///< reached the controller
  uint64_t refused_condition = 0;  ///< too few iterations
  uint64_t refused_busy_tx = 0, refused_busy_rx = 0;
  uint64_t refused_pending = 0;   ///< destination's warp limit
  uint64_t no_memory_access = 0;  ///< left the candidate before its first memory access
  uint64_t offloaded = 0;
  uint64_t learning = 0;  ///< begun while the memory map was being learnt; in none of the others
  // Core cycles from the decision until the warp is beyond the block, summed.
  uint64_t kept = 0, kept_cycles = 0;  ///< executed at home though the condition held
  uint64_t returned = 0, offloaded_cycles = 0;
  // Stack SMs: lines that went to memory, by where they lie.
  uint64_t local_lines = 0, remote_lines = 0;
  // Tuned offloading.
  uint64_t entries = 0;                       ///< times that a warp came to it
  uint64_t sent_back = 0;                     ///< of those returned: by the memory traffic monitor
  uint64_t home_rounds = 0, home_cycles = 0;  ///< executed at home
  uint64_t near_rounds = 0;                   ///< executed on stack SMs
  uint64_t begins = 0;                        ///< PIMBEGINs at loop heads, on SMs of either kind
  uint64_t refused_shared = 0;                ///< destination's shared memory
  uint64_t table_bytes = 0;                   ///< of shared arrays, sent along
  uint64_t merged_bytes = 0;                  ///< of shared arrays, come back
  uint64_t merge_cycles = 0;  ///< acknowledged warps waited for the last rows to be merged
};

struct OffloadCounters {
  uint64_t peak_guests = 0;  ///< stack SM, without overhead: most at a time
  uint64_t returned = 0;
  uint64_t request_bytes = 0, ack_bytes = 0, dirty_lines = 0;
  uint64_t away_cycles = 0;  ///< core cycles between request and acknowledgement, summed
};

/// `kWords`: words of its warp sets.
template <uint32_t kWords>
struct SmSideState {
  uint32_t busy_channels = 0;  ///< bit 2 k: TX of stack k is busy, bit 2 k + 1: its RX
  WarpSet<kWords> draining;
  WarpSet<kWords> to_ask;                ///< the question to the front end has not left yet
  WarpSet<kWords> granted;               ///< the request has not left yet
  uint16_t to_release[kMaxStacks] = {};  ///< returns of which the front end has not been told yet
  uint32_t num_to_release = 0;           ///< their sum
  uint32_t rows_to_release[kMaxStacks] = {};  ///< and the shared memory that they had there
  uint32_t shared_rows = 0;                   ///< stack SM: rows of its guests' arrays
  WarpSet<kWords> returning;  ///< stack SM: finished, dirty lines and acknowledgement to be sent
  Ref<WarpSide> warps;        ///< by warp slot
  Ref<uint32_t> dirty;        ///< stack SM: num_warps x dirty_entries lines
  Ref<CandidateCounters> candidates;    ///< by candidate
  Ref<tuning::TrafficHistory> history;  ///< tuned, stack SM: by warp slot
  // Members for offloading without overhead.
  Ref<Ref<Channel>> ways, answers;  ///< to and from stack SMs, by stack; there: main SMs, in order
  /// Stack SM, by main SM: how many guests there must be fewer of until it is told of room; 0: it
  /// has not been refused since.
  Ref<uint16_t> refused;
  uint32_t guests = 0;         ///< stack SM; main SM: warps of its own that are away
  uint32_t full_stacks = 0;    ///< main SM: that have refused and told of no room since, as bits
  Ref<Channel> invalidations;  ///< main SM: to the L2 slices
  AnalyzerState analyzer;      ///< main SM
  OffloadCounters counters;
};

}  // namespace nearwarp::tom
