// Where a run's time went, as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "host/timing/report/result.h"

namespace nearwarp::report {

using Json = nlohmann::ordered_json;

/// Members of a run in docs/json.md: sm_cycles, utilisation, way, networks.
Json sm_cycles_json(const RunResult& run);
Json utilisation_json(const RunResult& run);
Json way_json(const RunResult& run);
Json networks_json(const RunResult& run);
/// The sm_cycles of one of kernel_totals.
Json kernel_cycles_json(const RunResult& run, const std::string& kernel);

}  // namespace nearwarp::report
