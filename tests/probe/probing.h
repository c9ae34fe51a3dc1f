// Single probes of a machine.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "bench/probes/programs.h"
#include "host/config/config.h"
#include "host/timing/probe/measure.h"

namespace nearwarp::probe {

using Overrides = std::vector<std::string>;

inline Findings measured(const config::MachineConfig& machine, const std::vector<Section>& sections,
                         unsigned threads = 2) {
  return measure(machine, sections, record, threads, [](size_t, size_t) { return true; });
}

/// The probe of this name that the machine's plan has in the section.
inline Section only(const config::MachineConfig& machine, const std::string& section,
                    const std::string& name) {
  for (Section& s : plan(machine)) {
    if (s.id != section) continue;
    for (Probe& p : s.probes)
      if (p.name == name) return {s.id, s.title, s.latencies, {p}};
  }
  throw std::runtime_error("no probe '" + name + "' in " + section + " of " + machine.name);
}

inline Finding found(const config::MachineConfig& machine, const std::string& section,
                     const std::string& name) {
  return measured(machine, {only(machine, section, name)}).at(0).at(0).value();
}

/// Core cycles, from the first SM of a machine without stacks.
inline double latency(const Overrides& overrides, const std::string& name,
                      const std::string& machine = "discrete16",
                      const std::string& section = "sm_latency") {
  return found(config::load_machine(machine, overrides), section, name).latency();
}

}  // namespace nearwarp::probe
