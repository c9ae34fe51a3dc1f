// Rules that hold of every mechanism: its results depend neither on how components are stepped nor
// on the backend, and a machine that lacks its parts is refused.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "host/core/error.h"
#include "tests/sim/device_rig.h"
#include "tests/sim/setups.h"
#include "tests/sim/whole_machine.h"
#include "tests/support/general_steps.h"

namespace nearwarp::testing {

inline report::RunResult run_setup(const Setup& setup, const std::string& name, uint64_t limit,
                                   const std::vector<std::string>& overrides = {},
                                   const sim::SimOptions& options = {}) {
  return sim::replay_on_cpu(workload(name, limit), config::load_machine(setup.machine, overrides),
                            config::load_policy(setup.policy, overrides), options);
}

/// Windows of so many ticks, shuffled orders of components, code for all cases; the longest with
/// two threads.
inline void expect_same_in_windows(const Setup& setup, const std::string& name, uint64_t limit,
                                   std::initializer_list<Tick> windows = {1, 7, 997}) {
  SCOPED_TRACE(name);
  const auto expected = numbers(run_setup(setup, name, limit));
  for (const Tick window : windows) {
    sim::SimOptions o;
    o.window_ticks = window;
    o.order_seed = static_cast<uint32_t>(window);
    use_general_steps(o);
    o.threads = window == 997 ? 2 : 1;
    EXPECT_EQ(numbers(run_setup(setup, name, limit, {}, o)), expected) << window;
  }
}

/// The emulated device, whose teams step it, or which steps it in a batch.
inline void expect_same_on_a_device(const Setup& setup, const std::string& name, uint64_t limit) {
  const config::MachineConfig machine = config::load_machine(setup.machine, {});
  const config::PolicyConfig policy = config::load_policy(setup.policy, {});
  kernels::EmulationOptions emulation;
  emulation.warps_per_block = 16;
  emulation.blocks_at_once = 4;
  emulation.seed = 11;
  kernels::EmulatedDevice device(emulation);
  const sim::ReplayJob job{&workload(name, limit), &machine, &policy};
  const auto expected = numbers(run_setup(setup, name, limit));
  EXPECT_EQ(numbers(run_on(device, {&job, 1})[0]), expected);
  const std::vector<sim::ReplayJob> three(3, job);
  for (const report::RunResult& r : run_as_batch(device, three)) EXPECT_EQ(numbers(r), expected);
}

/// The message of the error with which it is refused; empty if it is not.
inline std::string refusal(const Setup& setup, const std::string& name, uint64_t limit,
                           const std::vector<std::string>& overrides = {}) {
  try {
    run_setup(setup, name, limit, overrides);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace nearwarp::testing
