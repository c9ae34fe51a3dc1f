// Whose packets come in a window: what a step of inputs from channels begins with.
#pragma once

#include <type_traits>

#include "device/core/lane_group.h"
#include "device/core/step.h"
#include "device/noc/switch_state.h"

namespace nearwarp::noc {

struct ComingHeads {
  uint64_t inputs[kMaxSwitchInputs / 64] =
      {};                ///< whose head arrives in the window, or has, as bits
  Tick beyond = kNever;  ///< the first arrival behind it, as far as is known
};

/// The same as find_coming(), input by input: where a processor's lanes do not run beside each
/// other that is the shortest, because most inputs have no head.
template <class F>
NW_HD NW_INLINE ComingHeads find_coming_in_turn(uint32_t n, const Window& window, F&& arrival) {
  ComingHeads coming;
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

/// Of `n` inputs, the head of input i arriving at arrival(i); kNever: there is none to look for.
template <class G, class F>
NW_HD NW_INLINE ComingHeads find_coming(const G& g, uint32_t n, const Window& window, F&& arrival) {
  if constexpr (std::is_same_v<G, HostGroup>) {
    return find_coming_in_turn(n, window, arrival);
  } else {
    ComingHeads coming;
    const uint32_t length = ticks_ahead(window.end, window.begin);
    for (uint32_t at = 0; at < n; at += kLanesOfGroup) {
      const uint32_t m = n - at < kLanesOfGroup ? n - at : kLanesOfGroup;
      LaneValues<G, uint32_t> ahead;
      g.each(m, [&](uint32_t i) { ahead.set(i, kNoKey); });
      g.each_scalar(m, [&](uint32_t i) {
        const Tick t = arrival(at + i);
        if (t < kNever) ahead.set(i, ticks_ahead(t, window.begin));  // few do
      });
      coming.inputs[at / 64] |= g.ballot(m, [&](uint32_t i) { return ahead[i] < length; })
                                << (at % 64);
      const uint32_t first_beyond =
          g.minimum(m, [&](uint32_t i) { return ahead[i] < length ? kNoKey : ahead[i]; });
      coming.beyond = min_tick(coming.beyond, tick_of_key(first_beyond, window.begin));
    }
    return coming;
  }
}

}  // namespace nearwarp::noc
