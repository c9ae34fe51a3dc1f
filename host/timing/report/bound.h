// Says what bounds a run, in a sentence.
#pragma once

#include <span>
#include <string>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// E.g. "RX links 95 % busy; SMs wait for memory in 81 % of their cycles". Where nothing is near
/// saturation it says so, and what SMs do instead; empty if nothing is known.
std::string bound_text(const RunResult& run);

/// A line for each run; empty if there is nothing to say.
std::string format_bounds(std::span<const RunResult> runs, size_t width);

/// The legend of format_use()'s columns.
inline constexpr char kUseLegend[] =
    "How busy everything was: busy, the mean of all components; most, of the one that was busy "
    "most.";

/// Tables of what cycles were spent on and how busy everything was, for one run.
std::string format_use(const RunResult& run, size_t width);

}  // namespace nearwarp::report
