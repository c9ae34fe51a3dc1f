// Why candidate blocks were offloaded or not, and what it brought, for people.
#pragma once

#include <span>
#include <string>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// One run's candidate blocks side by side: instances, what became of them, where their accesses
/// went, how long they took at home and offloaded. Empty for a run without candidates.
std::string format_explanation(const RunResult& run, size_t width = 80);

/// What the tables are of that explain these runs: format_use(), format_placement() and
/// format_explanation(). Once for all of them; empty if there are none.
std::string explanation_legend(std::span<const RunResult> runs, size_t width = 80);

/// What became of offload chains (opportunistic computing), by the run's counters; empty for runs
/// without any. Ends with a line feed.
std::string format_chains(const RunResult& run, size_t width);

/// Where instructions were executed and data was found (MPU), likewise.
std::string format_places(const RunResult& run, size_t width);

}  // namespace nearwarp::report
