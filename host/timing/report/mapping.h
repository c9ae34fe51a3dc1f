// How a policy's data mapping came about, for people.
#pragma once

#include <span>
#include <string>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// "Only 1 of 1,024 instances decided: the choice is luck, not learning"; for mappings by few.
std::string few_instances_text(const MappingReport& mapping);

/// The runs that have a mapping of their own, side by side: what each mapping would have done for
/// the instances seen, the one chosen, how long learning took, what was remapped. Empty if there is
/// no such run.
std::string format_mapping(std::span<const RunResult> runs, size_t width = 80);

}  // namespace nearwarp::report
