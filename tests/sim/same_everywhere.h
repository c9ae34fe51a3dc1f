// A recording's counters do not depend on windows, threads or the backend.
#pragma once

#include <gtest/gtest.h>

#include "tests/sim/device_rig.h"

namespace nearwarp::testing {

/// Windows of 7 ticks on two threads, and an emulated device, beside one thread's longest windows.
inline void expect_same_everywhere(const runtime::Recording& recording,
                                   const config::MachineConfig& machine,
                                   const config::PolicyConfig& policy) {
  const auto expected = numbers(sim::replay_on_cpu(recording, machine, policy, {}));
  sim::SimOptions windows;
  windows.threads = 2;
  windows.window_ticks = 7;
  EXPECT_EQ(numbers(sim::replay_on_cpu(recording, machine, policy, windows)), expected);
  kernels::EmulationOptions emulation;
  emulation.warps_per_block = 16;
  emulation.blocks_at_once = 12;
  kernels::EmulatedDevice device(emulation);
  const sim::ReplayJob job{&recording, &machine, &policy};
  EXPECT_EQ(numbers(run_on(device, {&job, 1}).at(0)), expected);
}

}  // namespace nearwarp::testing
