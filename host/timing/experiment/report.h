// The report: one HTML file that shows an experiment's document, without a network.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace nearwarp::experiment {

/// The page with the document, its script and the library of charts in it.
std::string report_html(const nlohmann::ordered_json& document);

}  // namespace nearwarp::experiment
