// Tuned offloading, which decides in each round (iteration) of a loop: data of loops, parameters,
// and the traffic history of a warp on a stack SM. TOM's own decisions per round are one setting of
// these parameters.
//
// Source: Y. Wu et al., "Tuning Applications for Efficient GPU Offloading to In-Memory Processing",
// ICS 2020, sections 3.4 and 3.5.
#pragma once

#include "device/core/macros.h"
#include "device/core/types.h"

namespace nearwarp::tuning {

inline constexpr uint16_t kNoHead = 0xffff;

/// The head of a candidate's loop, the instruction with which each round begins.
struct LoopHead {
  uint16_t live_in_bytes = 0;  ///< bytes per thread that an offload from here has to carry
  uint16_t changed_bytes = 0;  ///< bytes per thread of those that the candidate also writes
};

/// How long a warp does not offer its candidate for offloading after a refusal or a return.
enum class Pause : uint8_t {
  kRound,  ///< until the next round
  kEntry,  ///< until the warp enters the candidate again
  kLoop,   ///< the warp never offers this candidate again
  kWarp,   ///< the warp never offers any candidate again
};

struct TuningParams {
  bool on = false;                 ///< the other members have no meaning without it
  bool inside = false;             ///< candidates with loops are offered at loop heads only
  bool round_is_instance = false;  ///< learning phase: each round of a loop is one instance
  bool adaptation = false;         ///< stack SMs send warps back (TrafficHistory)
  bool full_history = false;       ///< they do so only when the warp's history is full
  bool room_known = false;         ///< the front end tells SMs which stacks are full
  uint8_t history_rounds = 3;      ///< rounds in the history; at most kMaxHistoryRounds
  Pause after_refusal = Pause::kEntry;
  Pause after_return = Pause::kEntry;
  uint32_t threshold_percent = 100;  ///< greatest ratio of inter-stack to intra-stack requests
  uint32_t begin_cycles = 1;         ///< cycles that a PIMBEGIN at a loop head takes
  uint32_t trial_cycles = 1;         ///< cycles from a loop head to the decision

  /// Is there a PIMBEGIN at loop heads?
  NW_HD NW_INLINE bool marks_rounds() const { return inside || adaptation; }
};

/// Requests of a warp on a stack SM for lines in the same stack and in other stacks.
struct Traffic {
  uint32_t intra = 0, inter = 0;
};

inline constexpr uint32_t kMaxHistoryRounds = 16;

/// One warp's entry of the traffic history buffer, and its traffic in the present round.
struct TrafficHistory {
  Traffic now;                      ///< traffic in the present round
  Traffic past[kMaxHistoryRounds];  ///< a ring of TuningParams::history_rounds
  uint8_t next = 0;                 ///< the oldest round of the ring, which is overwritten next
  uint8_t rounds = 0;               ///< rounds in the ring
  bool in_round = false;            ///< the warp has passed a loop head
};

/// Count a request for a line.
NW_HD NW_INLINE void note_request(TrafficHistory& h, bool own_stack) {
  (own_stack ? h.now.intra : h.now.inter) += 1;
}

/// Begin a new round, and add the traffic of the last one to the history. Traffic before the first
/// loop head belongs to no round, and is dropped. Returns true if a round has ended.
NW_HD inline bool begin_round(TrafficHistory& h, uint32_t history_rounds) {
  const bool ended = h.in_round;
  if (ended) {
    h.past[h.next] = h.now;
    h.next = static_cast<uint8_t>(h.next + 1u == history_rounds ? 0 : h.next + 1u);
    if (h.rounds < history_rounds) h.rounds = static_cast<uint8_t>(h.rounds + 1);
  }
  h.now = Traffic{};
  h.in_round = true;
  return ended;
}

/// Is the ratio of inter-stack to intra-stack requests in the history above the threshold? Without
/// intra-stack requests, one inter-stack request is enough.
NW_HD inline bool exceeds(const TrafficHistory& h, const TuningParams& p) {
  if (h.rounds == 0 || (p.full_history && h.rounds < p.history_rounds)) return false;
  uint64_t intra = 0, inter = 0;
  for (uint32_t i = 0; i < h.rounds; ++i) {
    intra += h.past[i].intra;
    inter += h.past[i].inter;
  }
  return inter * 100 > intra * p.threshold_percent;
}

}  // namespace nearwarp::tuning
