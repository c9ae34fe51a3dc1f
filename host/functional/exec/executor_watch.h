// A copy of the state of a warp that may be polling: if the warp returns to that state, it polls.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "host/functional/exec/executor.h"

namespace nearwarp::runtime {

/// The state of a warp when it began to be watched.
struct Executor::Watch {
  exec::Warp warp;
  std::vector<uint8_t> rows, local;
  std::vector<uint32_t> predicates;
  std::vector<exec::StackEntry> stack;
  uint32_t steps = 0;

  /// Is the warp in the watched state again?
  bool is(const exec::Warp& now) const {
    if (now.block != warp.block || now.reconverge != warp.reconverge || now.active != warp.active ||
        now.exited != warp.exited || now.depth != warp.depth)
      return false;
    const auto same_entry = [](const exec::StackEntry& a, const exec::StackEntry& b) {
      return a.block == b.block && a.reconverge == b.reconverge && a.mask == b.mask;
    };
    return std::equal(stack.begin(), stack.end(), now.stack, same_entry) &&
           std::equal(predicates.begin(), predicates.end(), now.predicates) &&
           same_bytes(rows, now.rows) && same_bytes(local, now.local);
  }

 private:
  static bool same_bytes(const std::vector<uint8_t>& kept, const uint8_t* now) {
    return kept.empty() || std::memcmp(kept.data(), now, kept.size()) == 0;
  }
};

}  // namespace nearwarp::runtime
