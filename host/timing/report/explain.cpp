// Explanations of a run by its mechanisms, for people.
#include "host/timing/report/explain.h"

#include <algorithm>

#include "host/timing/report/bound.h"
#include "host/timing/report/columns.h"
#include "host/timing/report/section.h"

namespace nearwarp::report {

std::string format_explanation(const RunResult& run, size_t width) {
  std::string text;
  for (const MechanismReport* m : mechanism_reports()) {
    const std::string part = m->explanation == nullptr ? "" : m->explanation(run, width);
    if (!part.empty()) text += (text.empty() ? "" : "\n") + part;
  }
  return text;
}

std::string explanation_legend(std::span<const RunResult> runs, size_t width) {
  std::string text;
  const auto add = [&](const Legend& legend) {
    if (std::any_of(runs.begin(), runs.end(), legend.has))
      text += (text.empty() ? "" : "\n") + wrapped(legend.text, width);
  };
  add({kUseLegend, [](const RunResult& r) { return !r.utilisation.empty(); }});
  for (const MechanismReport* m : mechanism_reports())
    for (const Legend& legend : m->legends) add(legend);
  return text;
}

std::string format_sections(std::span<const RunResult> runs, size_t width) {
  std::string text;
  for (const MechanismReport* m : mechanism_reports()) {
    const std::string part = m->tables == nullptr ? "" : m->tables(runs, width);
    if (!part.empty()) text += (text.empty() ? "" : "\n") + part;
  }
  return text;
}

}  // namespace nearwarp::report
