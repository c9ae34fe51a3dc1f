// Fences between plain accesses to shared memory and those of the asynchronous proxy, by which bulk
// copies and products of warp groups read it (fence.proxy.async).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "host/functional/racecheck/clocks.h"

namespace nearwarp::racecheck {

/// The fences of a block's warps. Of each warp the last ones are kept; older ones are taken to be
/// wherever one is looked for.
class ProxyFences {
 public:
  void clear() {
    for (Warp& w : warps_) w = Warp{};
  }
  /// Warp `warp` has fenced at its time `time`, and follows `seen` of the block's warps.
  void add(uint32_t warp, uint32_t time, const Times& seen) {
    Warp& w = warps_[warp];
    if (w.fences.size() < kKept) {
      w.fences.push_back({time, seen});
      return;
    }
    w.fences[w.oldest] = {time, seen};
    w.oldest = (w.oldest + 1) % kKept;
  }
  /// Does a fence of any warp follow a write of `writer` at `time`, and precede what `reader` does
  /// now, which follows `seen`? A fence of some lanes is one of their warp.
  bool between(uint32_t writer, uint32_t time, uint32_t reader, const Times& seen) const {
    for (uint32_t warp = 0; warp < kMaxWarps; ++warp) {
      const Warp& w = warps_[warp];
      bool older = w.fences.size() == kKept;  // there may have been
      for (const Fence& f : w.fences) {
        if (warp != reader && f.time > seen[warp]) continue;
        older = false;
        if ((warp == writer ? f.time : f.seen[writer]) >= time) return true;
      }
      if (older) return true;
    }
    return false;
  }

 private:
  static constexpr size_t kKept = 64;
  struct Fence {
    uint32_t time;
    Times seen;
  };
  struct Warp {
    std::vector<Fence> fences;
    size_t oldest = 0;
  };
  std::array<Warp, kMaxWarps> warps_;
};

}  // namespace nearwarp::racecheck
