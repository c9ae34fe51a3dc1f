// Findings of probes, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "host/timing/probe/measure.h"

namespace nearwarp::probe {

inline constexpr const char* kProbeSchema = "nearwarp.probe/1";

/// Tables, at most 80 characters wide.
std::string table_text(const config::MachineConfig& machine, const std::vector<Section>& sections,
                       const Findings& findings, size_t width = 80);

/// The JSON document (docs/probe.md).
std::string json_text(const config::MachineConfig& machine, const std::vector<Section>& sections,
                      const Findings& findings, const std::string& version);

}  // namespace nearwarp::probe
