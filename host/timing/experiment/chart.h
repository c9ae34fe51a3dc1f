// Figures with their numbers: places on two axes, and what the runs of each place give.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/timing/experiment/definition.h"
#include "host/timing/sweep/plan.h"

namespace nearwarp::experiment {

/// A study with its points.
class PlannedStudy {
 public:
  PlannedStudy(const Study* of, sweep::Plan planned) : study(of), plan(std::move(planned)) {}

  const Study* study;
  sweep::Plan plan;

  /// The plan's, all made when they are first asked for: figures go through them often.
  const std::vector<sweep::Point>& points() const;
  /// An example of each program of the plan, all alike.
  const std::vector<sweep::Point>& examples() const;

 private:
  struct Made {
    std::once_flag once;
    std::vector<sweep::Point> points;
  };
  std::shared_ptr<Made> points_ = std::make_shared<Made>(), examples_ = std::make_shared<Made>();
};

/// Lines of a results file by the point's id; the last one of an id counts.
using Results = std::unordered_map<std::string, nlohmann::ordered_json>;

/// Reads nearwarp.sweep lines; a last one that was cut off is left out.
Results read_results(const std::string& path);

/// A value at its place.
struct Cell {
  size_t x = 0, series = 0, part = 0;  ///< positions among the labels
  double value = 0;
  std::vector<std::string> points;  ///< ids of the runs that it is of
};

struct Chart {
  const Figure* figure = nullptr;
  std::string unit;
  std::string x_name, series_name;  ///< what the axes are
  std::vector<std::string> x, series, parts;
  bool has_summary = false;  ///< the last x is a mean over all others
  std::vector<Cell> cells;
  std::vector<std::string> notes;  ///< what is missing, and why
};

/// Throws nearwarp::Error for a figure that the studies' points cannot make: several points at one
/// place without a mean, a reference run or a key that is not there. Unless something is wrong with
/// them, it looks at the studies' examples alone.
void check_figure(const Experiment& experiment, const std::vector<PlannedStudy>& studies,
                  const Figure& figure);

/// The figure's numbers, as far as there are results.
Chart make_chart(const Experiment& experiment, const std::vector<PlannedStudy>& studies,
                 const Figure& figure, const Results& results);

/// The value in effect of a key at a point, as a reader expects it: texts without quotation marks.
/// Throws nearwarp::Error if neither its machine nor its policy has the key.
std::string value_in_effect(const sweep::Plan& plan, const sweep::Point& point,
                            const std::string& key);

}  // namespace nearwarp::experiment
