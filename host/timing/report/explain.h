// What mechanisms did, and what it brought, for people.
#pragma once

#include <span>
#include <string>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// What mechanisms have to say of a run where explanations are asked for, one after the other, with
/// blank lines between; empty for a run without any.
std::string format_explanation(const RunResult& run, size_t width = 80);

/// What the tables are of that explain these runs: format_use() and format_explanation(). Once for
/// all of them; empty if there are none.
std::string explanation_legend(std::span<const RunResult> runs, size_t width = 80);

/// What mechanisms have to say of runs side by side, always; empty if that is nothing.
std::string format_sections(std::span<const RunResult> runs, size_t width = 80);

}  // namespace nearwarp::report
