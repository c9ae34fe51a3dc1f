// Offloading in rounds of loops: what is known of loops, how tuned offloading is set, and the
// traffic history of a warp on a stack SM. TOM's own decisions in every round are one such setting.
//
// Source: Y. Wu et al., "Tuning Applications for Efficient GPU Offloading to In-Memory Processing",
// ICS 2020, sections 3.4 and 3.5.
#pragma once

#include "device/core/macros.h"
#include "device/core/types.h"

namespace nearwarp::tuning {

inline constexpr uint16_t kNoHead = 0xffff;

/// The first instruction of a loop of a candidate: where a round begins.
struct LoopHead {
  uint16_t live_in_bytes = 0;  ///< per thread: what an offload from here has to carry
  uint16_t changed_bytes = 0;  ///< per thread: live here, and written by the candidate
};

/// How long a warp is not offered any more.
enum class Pause : uint8_t {
  kRound,  ///< until the next round
  kEntry,  ///< until it enters the candidate again
  kLoop,   ///< this candidate never again by this warp
  kWarp,   ///< no candidate by this warp
};

struct TuningParams {
  bool on = false;      ///< all else has no meaning without it
  bool inside = false;  ///< candidates with loops are offered at loop heads, not before them
  bool round_is_instance = false;  ///< learning phase: each round of such a loop by itself
  bool adaptation = false;         ///< stack SMs send warps back
  bool full_history = false;       ///< and not before the history is full
  bool room_known = false;         ///< the front end tells SMs which stacks are full
  uint8_t history_rounds = 3;
  Pause after_refusal = Pause::kEntry;
  Pause after_return = Pause::kEntry;
  uint32_t threshold_percent = 100;  ///< of inter-stack over intra-stack requests
  uint32_t begin_cycles = 1;         ///< a PIMBEGIN at a loop's head
  uint32_t trial_cycles = 1;         ///< from there to the decision

  /// Is there a PIMBEGIN at loop heads?
  NW_HD NW_INLINE bool marks_rounds() const { return inside || adaptation; }
};

/// Lines that a warp sent for or wrote, by where they lie.
struct Traffic {
  uint32_t intra = 0, inter = 0;
};

inline constexpr uint32_t kMaxHistoryRounds = 16;

/// One warp's entry of the traffic history buffer, and the monitor's buffer of the round that it is
/// in.
struct TrafficHistory {
  Traffic now;
  Traffic past[kMaxHistoryRounds];  ///< a ring of TuningParams::history_rounds
  uint8_t next = 0;                 ///< the ring's oldest, overwritten next
  uint8_t rounds = 0;               ///< in the ring
  bool in_round = false;            ///< a loop's head has been passed
};

/// A request for a line leaves.
NW_HD NW_INLINE void note_request(TrafficHistory& h, bool own_stack) {
  (own_stack ? h.now.intra : h.now.inter) += 1;
}

/// A new round begins: what has been sent since the last one goes into the history. Before the
/// first there is no round: what was sent in front of the loop is forgotten. True if a round has
/// ended.
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

/// Is the ratio of inter-stack to intra-stack requests over the rounds in the history above the
/// threshold? Without any intra-stack request every inter-stack request is.
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
