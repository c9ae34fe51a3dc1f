// An experiment's results as tables for programs.
#pragma once

#include <string>
#include <vector>

#include "host/timing/experiment/chart.h"

namespace nearwarp::experiment {

/// A row per point of all studies, in their order, those without a result left out; every quantity
/// with its unit in the column's name.
std::string points_csv(const std::string& version, const std::vector<PlannedStudy>& studies,
                       const Results& results);

/// A row per place of a figure: x, series, part, value, unit, published value and source.
std::string chart_csv(const Chart& chart);

/// A figure's numbers as a tabular for LaTeX, a mean over all x first.
std::string chart_latex(const Chart& chart);

/// The figure for a terminal of this width: a row per x, a column per series. Of stacked ones a
/// column is the whole, and a second table has the parts' means; with one series a column is a
/// part.
std::string chart_text(const Chart& chart, size_t width = 80);

}  // namespace nearwarp::experiment
