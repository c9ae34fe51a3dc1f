// An experiment's results as one JSON document (nearwarp.experiment/1, docs/experiments.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "host/timing/experiment/chart.h"

namespace nearwarp::experiment {

/// Changes with every change that could break a reader.
inline constexpr const char* kExperimentSchema = "nearwarp.experiment/1";

/// Everything that the report shows. Equal for equal results: no times of the host, no dates.
nlohmann::ordered_json document_of(const Experiment& experiment, const std::string& version,
                                   const std::string& size,
                                   const std::vector<PlannedStudy>& studies,
                                   const std::vector<Chart>& charts, const Results& results);

}  // namespace nearwarp::experiment
