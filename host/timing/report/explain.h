// Explanations of a run by its mechanisms, for people.
#pragma once

#include <span>
#include <string>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// The mechanisms' explanations of a run, which are shown on request, one after the other, with
/// blank lines between; empty for a run without any.
std::string format_explanation(const RunResult& run, size_t width = 80);

/// The legends of the tables that explain these runs: format_use() and format_explanation(). Once
/// for all of them; empty if there are none.
std::string explanation_legend(std::span<const RunResult> runs, size_t width = 80);

/// The mechanisms' sections on runs side by side, which are always shown; empty if there are none.
std::string format_sections(std::span<const RunResult> runs, size_t width = 80);

}  // namespace nearwarp::report
