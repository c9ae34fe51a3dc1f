// Whose packets come in a window: what a step of inputs from channels begins with.
#pragma once

#include "device/core/bits.h"
#include "device/core/step.h"

namespace nearwarp::noc {

/// Heads that come, at most 64 x kWords inputs.
template <uint32_t kWords>
struct ComingHeads {
  uint64_t inputs[kWords] = {};  ///< whose head arrives in the window, or has, as bits
  Tick beyond = kNever;          ///< the first arrival behind it, as far as is known
};

/// Finds them among `n` inputs, the head of input i arriving at arrival(i); kNever: none to look
/// for. Input by input: most have no head.
template <uint32_t kWords, class F>
NW_HD NW_INLINE ComingHeads<kWords> find_coming(uint32_t n, const Window& window, F&& arrival) {
  ComingHeads<kWords> coming;
  for (uint32_t at = 0; at < n; at += 64) {
    const uint32_t m = n - at < 64 ? n - at : 64;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < m; ++i) {
      const Tick t = arrival(at + i);
      if (t >= kNever) continue;
      if (t < window.end) {
        bits |= uint64_t{1} << i;
      } else {
        coming.beyond = min_tick(coming.beyond, t);
      }
    }
    coming.inputs[at / 64] = bits;
  }
  return coming;
}

}  // namespace nearwarp::noc
