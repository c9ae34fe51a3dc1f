// Where the points of studies stand in a figure: which of them it shows, what its axes call them,
// and what they are compared with.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "host/core/error.h"
#include "host/timing/experiment/chart.h"

namespace nearwarp::experiment {

template <class T>
bool among(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// A point of a study, as figures see it.
struct Place {
  const PlannedStudy* study;
  const sweep::Point* point;
  std::optional<size_t> program = std::nullopt;  ///< of a mix, in figures of each program
};

std::string program_name(const Place& place);
/// The names of programs that are joined by "+".
std::vector<std::string> programs_of(const Place& place);

std::string label_of(const Place& place, const std::string& dimension);
std::string label_of(const Place& place, const std::vector<std::string>& dimensions);
/// For messages: program, machine, policy and changes.
std::string title_of(const Place& place);
/// The label of the place that has means.
const char* mean_name(Mean mean);

/// Points of a study that are looked at: all, or its examples.
using LookedAt = const std::vector<sweep::Point>& (PlannedStudy::*)() const;

/// The points that a figure shows. Those that cannot be run have no keys and are left out.
std::vector<Place> places_of(const std::vector<PlannedStudy>& studies, const Figure& figure,
                             LookedAt points = &PlannedStudy::points);

/// Throws nearwarp::Error if there is no run that a point's value is compared with, or several.
void check_reference(const Experiment& experiment, const std::vector<PlannedStudy>& studies,
                     const Figure& figure, const Place& place);

/// The run that a point's value is compared with. Throws as check_reference().
Place reference_of(const Experiment& experiment, const std::vector<PlannedStudy>& studies,
                   const Figure& figure, const Place& place);

/// With the figure's name and line.
Error bad_figure(const Experiment& experiment, const Figure& figure, const std::string& what);

}  // namespace nearwarp::experiment
