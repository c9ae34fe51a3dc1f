// Offloading candidates and refusals of kernels as JSON (nearwarp.analysis/1, docs/json.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "host/mechanisms/tom/pass/print.h"

namespace nearwarp::cli {

/// A kernel's.
nlohmann::ordered_json analysis_json(const compiler::AnalysisReport& report);

}  // namespace nearwarp::cli
