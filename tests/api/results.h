// Simulations by the public interface, and their results without what differs from run to run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "host/api/nearwarp.h"

namespace nearwarp::testing {

using Json = nlohmann::json;

/// A result without what differs from run to run.
inline Json lasting(Json run) {
  run.erase("host");
  return run;
}
inline Json lasting(const Result& result) { return lasting(Json::parse(result.json)); }

inline Program program(const std::string& name) { return Program::workload(name).value(); }

inline Simulation begin(const std::string& workload, const std::string& machine,
                        const std::string& policy, SimulationOptions options = {}) {
  return std::move(Simulation::begin(program(workload), Machine::load(machine).value(),
                                     Policy::load(policy).value(), std::move(options))
                       .value());
}

}  // namespace nearwarp::testing
