// How a policy sets tuned offloading, besides TOM's settings; keys.cpp says what each key means.
#pragma once

#include <cstdint>
#include <string>

namespace nearwarp::tuning {

/// [tuning]; Y. Wu et al., ICS 2020, sections 3.4 and 3.5
struct Settings {
  std::string pimbegin = "before";      ///< where loops are offered: "before" them or "inside"
  std::string rounds = "outermost";     ///< whose rounds count: "outermost" or "innermost" loops
  std::string after_refusal = "entry";  ///< next trial: "round", "entry", "loop"
  uint32_t pimbegin_cycles = 1;         ///< of one at a loop's head
  bool adaptation = false;              ///< the memory traffic monitor sends warps back
  uint32_t history_rounds = 3;
  bool full_history = false;           ///< not before so many rounds have been seen
  uint32_t threshold_percent = 100;    ///< of inter-stack over intra-stack requests
  std::string after_return = "entry";  ///< next trial: "entry", "loop" or "never"
};

}  // namespace nearwarp::tuning
