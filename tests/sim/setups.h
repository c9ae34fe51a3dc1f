// Machines with the policies that they support.
#pragma once

#include <string>
#include <vector>

#include "host/config/config.h"
#include "host/core/error.h"
#include "host/mechanisms/mechanism.h"
#include "host/timing/run/replay.h"

namespace nearwarp::testing {

/// A built-in machine and policy.
struct Setup {
  std::string machine, policy;
};

/// With what a machine refuses a policy whose parts it lacks; empty if it does not.
inline std::string refusal(const runtime::Recording& recording,
                           const config::MachineConfig& machine,
                           const config::PolicyConfig& policy) {
  try {
    sim::ImageTables image = sim::build_image(recording, machine);
    sim::prepare_mechanisms(sim::built_in_mechanisms(), {recording, machine, policy}, image);
  } catch (const Error& e) {
    const std::string why = e.what();
    if (why.rfind("policy '" + policy.name + "' on machine '" + machine.name + "': ", 0) != 0)
      throw;  // something else is wrong
    return why;
  }
  return "";
}

/// Setups that must give the same on every backend: all policies that machine tom supports, and
/// those of other machines' mechanisms.
inline std::vector<Setup> device_setups(const runtime::Recording& recording) {
  std::vector<Setup> setups;
  const config::MachineConfig tom = config::load_machine("tom");
  for (const std::string& policy : config::policy_names())
    if (refusal(recording, tom, config::load_policy(policy)).empty())
      setups.push_back({"tom", policy});
  for (const char* policy : {"mpu", "mpu-near", "mpu-hardware", "mpu-pages"})
    setups.push_back({"mpu", policy});
  for (const char* policy : {"llc-compute", "omni-compute"})
    setups.push_back({"opportunistic", policy});
  return setups;
}

/// Their configurations, for systems of a batch.
struct SetupConfigs {
  std::vector<config::MachineConfig> machines;
  std::vector<config::PolicyConfig> policies;
  explicit SetupConfigs(const std::vector<Setup>& setups) {
    for (const Setup& s : setups) {
      machines.push_back(config::load_machine(s.machine));
      policies.push_back(config::load_policy(s.policy));
    }
  }
  std::vector<sim::ReplayJob> systems(const runtime::Recording& recording) const {
    std::vector<sim::ReplayJob> all;
    for (size_t i = 0; i < machines.size(); ++i)
      all.push_back({&recording, &machines[i], &policies[i]});
    return all;
  }
};

}  // namespace nearwarp::testing
