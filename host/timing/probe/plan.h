// Plans the measurements of a machine: for each latency and bandwidth two runs of different length.
#pragma once

#include <string>
#include <vector>

#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/timing/probe/bounds.h"
#include "host/timing/probe/program.h"

namespace nearwarp::probe {

/// Counters that tell whether accesses went where they were meant to go.
struct Evidence {
  std::vector<std::string> meant, other;
};

struct Probe {
  std::string name;
  Program shorter, longer;
  config::PolicyConfig policy;
  std::vector<Evidence> evidence;
  Bound bound;  ///< of a bandwidth
  /// Counters, cycles and what they are of, where these are told from what a run did besides.
  /// Empty: the run's cycles, and the program's work.
  std::string cycles, work;
};

/// Probes with one heading.
struct Section {
  std::string id;  ///< in JSON
  std::string title;
  bool latencies = false;  ///< else bandwidths
  std::vector<Probe> probes;
};

/// All that the machine has. Throws nearwarp::Error if a machine is so large that programs cannot
/// tell its stacks apart.
std::vector<Section> plan(const config::MachineConfig& machine);

}  // namespace nearwarp::probe
