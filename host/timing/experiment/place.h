// Places of studies' points in a figure: the points that it shows, their labels on its axes, and
// the runs that they are compared with.
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

/// A point of a study in a figure or, in figures of each program, one program of its mix.
struct Place {
  const PlannedStudy* study;
  const sweep::Point* point;
  std::optional<size_t> program = std::nullopt;  ///< index into programs_of()
};

/// The name of a place's program; a mix has the names of its programs joined by "+".
std::string program_name(const Place& place);
/// The names of the programs of a place's mix.
std::vector<std::string> programs_of(const Place& place);

/// The label of a place along one of a figure's dimensions ("workload", "machine", a key, ...), or
/// along several, joined by commas. Throws nearwarp::Error for unknown dimensions.
std::string label_of(const Place& place, const std::string& dimension);
std::string label_of(const Place& place, const std::vector<std::string>& dimensions);
/// A place's program, machine, policy and changed keys, for messages.
std::string title_of(const Place& place);
/// The label of a figure's means.
const char* mean_name(Mean mean);

/// The points of a study that a function considers: all, or its examples.
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

/// An error about a figure, with its name and line.
Error bad_figure(const Experiment& experiment, const Figure& figure, const std::string& what);

}  // namespace nearwarp::experiment
