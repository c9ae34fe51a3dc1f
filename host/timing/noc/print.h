// Measurements of a network as a table for people and as JSON for programs.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "host/timing/noc/bounds.h"
#include "host/timing/noc/measure.h"

namespace nearwarp::noc {

/// Everything that `nearwarp noc` found out.
struct NocReport {
  NocConfig config;
  MeasureConfig measure;
  Bounds bounds;
  std::vector<LoadPoint> points;
  std::optional<Saturation> saturation;
  bool partial = false;  ///< stopped: not all loads are there, or the search for saturation is not
  uint32_t mesh_width = 0;  ///< 0: no mesh; names of links
};

/// Lines of at most 80 columns. `links`: the busiest links of the last stable load, this many.
std::string format_report(const NocReport& report, size_t links, size_t width = 80);

/// Schema nearwarp.noc/1; docs/networks.md.
std::string report_json(const NocReport& report, const std::string& version);

}  // namespace nearwarp::noc
