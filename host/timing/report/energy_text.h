// The energy account for people: which terms weigh most.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// A row for each of the largest terms and one for all others, a column per run, in the unit of the
/// largest total; the columns add up to the totals. Empty if no run has an energy.
std::string format_energy(std::span<const RunResult> runs, size_t width = 80);

/// A unit of energy and its size in joules.
struct EnergyUnit {
  const char* name;
  double joules;
};

/// The largest unit in which the largest total is at least one.
EnergyUnit energy_unit(std::span<const RunResult> runs);

}  // namespace nearwarp::report
