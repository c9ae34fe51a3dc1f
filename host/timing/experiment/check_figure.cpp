// Checks, before any point is run, that the points of studies make a figure.
#include <fmt/format.h>

#include <map>
#include <set>

#include "host/config/nearest.h"
#include "host/timing/experiment/expression.h"
#include "host/timing/experiment/place.h"

namespace nearwarp::experiment {
namespace {

/// Check that a figure of each program of a mix shows only values that are counted by program.
void check_programs_values(const Experiment& e, const Figure& f) {
  static const std::set<std::string> kOfPrograms = {"cycles", "time", "ipc", "warp_instructions"};
  std::vector<Part> parts = f.parts;
  if (f.kind != Kind::kStacked) parts = {{"", f.value}};
  for (const Part& part : parts)
    for (const std::string& name : Expression::parse(part.value).terms())
      if (!kOfPrograms.contains(name))
        throw bad_figure(e, f,
                         fmt::format("'{}' is not counted by program - with programs = \"each\" "
                                     "there are {}",
                                     name, fmt::join(kOfPrograms, ", ")));
}

/// Check that every published value has a place in the figure, since it would not be shown else.
void check_published(const Experiment& e, const Figure& f, std::set<std::string> x,
                     const std::set<std::string>& series) {
  if (f.summary != Mean::kNone) x.insert(mean_name(f.summary));
  std::set<std::string> parts;
  for (const Part& part : f.parts) parts.insert(part.label);
  const auto check = [&](const char* key, const std::string& name,
                         const std::set<std::string>& all) {
    if (all.contains(name)) return;
    throw bad_figure(e, f,
                     fmt::format("a {} value has {} = \"{}\", which is not in it{}", f.against(),
                                 key, name, config::suggestion(name, {all.begin(), all.end()})));
  };
  for (const Published& p : f.published) {
    check("x", p.x, x);
    if (!p.series.empty()) check("series", p.series, series);
    if (!p.part.empty()) check("part", p.part, parts);
  }
}

void check_places(const Experiment& e, const std::vector<PlannedStudy>& studies, const Figure& f,
                  LookedAt points) {
  const std::vector<Place> places = places_of(studies, f, points);
  if (places.empty())
    throw bad_figure(e, f,
                     "its studies have no points that it shows - look at its 'policies' and "
                     "'workloads'");
  std::map<std::string, std::string> seen;
  std::set<std::string> x, series;
  for (const Place& p : places) {
    std::string label;
    try {
      label =
          *x.insert(label_of(p, f.x)).first + "\n" + *series.insert(label_of(p, f.series)).first;
    } catch (const Error& error) {
      throw bad_figure(e, f, error.what());
    }
    const auto [at, is_new] = seen.try_emplace(label, title_of(p));
    if (!is_new && f.mean == Mean::kNone)
      throw bad_figure(e, f,
                       fmt::format("{} and {} have the same place - say mean = \"geometric\", or "
                                   "have 'x' and 'series' tell them apart",
                                   at->second, title_of(p)));
    if (f.relation != Relation::kValue) check_reference(e, studies, f, p);
  }
  check_published(e, f, std::move(x), series);
}

}  // namespace

void check_figure(const Experiment& e, const std::vector<PlannedStudy>& studies, const Figure& f) {
  if (f.each_program) check_programs_values(e, f);
  try {
    check_places(e, studies, f, &PlannedStudy::examples);
  } catch (const Error&) {
    // The place of a published value may be one that no example has.
    check_places(e, studies, f, &PlannedStudy::points);
  }
}

}  // namespace nearwarp::experiment
