// Unloaded latencies and steady-state costs: the difference of two runs of different length.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "bench/reference/figures.h"

namespace nearwarp::reference {

struct Slope {
  const char* what;
  const char *longer, *shorter;  ///< runs of the figures, which differ in their steps alone
};

/// Slopes in core cycles per step (with several warps: until all have made a step). A configuration
/// may lack runs, or have the last line in place of the one before.
inline constexpr std::array<Slope, 13> kSlopes = {{
    {"FMA, 1 warp", "fma_1w_b", "fma_1w"},
    {"FMA, 16 warps", "fma_16w_b", "fma_16w"},
    {"add+xor, 1 warp", "int_add_1w_b", "int_add_1w_a"},
    {"add+div, 1 warp", "int_div_1w_b", "int_div_1w_a"},
    {"sin, 1 warp", "sfu_1w_b", "sfu_1w_a"},
    {"shared 1-way, 1 warp", "shared1_1w_b", "shared1_1w_a"},
    {"shared 32-way, 1 warp", "shared32_1w_b", "shared32_1w_a"},
    {"loop of 4, 1 warp", "branch_1w_b", "branch_1w_a"},
    {"loop of 4, 32 warps", "branch_32w_b", "branch_32w"},
    {"L1 load-to-use", "chase_l1_b", "chase_l1_a"},
    {"L2 load-to-use", "chase_l2_b", "chase_l2_a"},
    {"DRAM load-to-use", "chase_dram_b", "chase_dram_a"},
    {"DRAM load-to-use", "cd_b", "cd_a"},
}};

/// The number of steps that `longer` makes more than `shorter`: the difference of their arguments.
inline int more_steps(const Figures& longer, const Figures& shorter) {
  int steps = 0;
  for (size_t i = 0; i < longer.arguments.size() && i < shorter.arguments.size(); ++i)
    steps += longer.arguments[i] - shorter.arguments[i];
  return steps;
}

}  // namespace nearwarp::reference
