// Which launches of its program a run reports.
#include "host/timing/report/launches.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "host/timing/report/columns.h"

namespace nearwarp::report {

std::vector<std::string> approximations(const LaunchesReport& l) {
  std::vector<std::string> said;
  if (l.exact) return said;
  const std::string machine = l.parts.size() == 1 ? "the machine" : "each part's machine";
  const std::string state =
      l.warmed_by == 0 ? "cold"
                       : fmt::format("with caches filled from traces of {}{} launch{} before",
                                     l.parts.size() == 1 ? "" : "up to ", l.warmed_by,
                                     l.warmed_by == 1 ? "" : "es");
  const std::string when =
      l.before == 0 ? "" : fmt::format(" {} launch{} earlier", l.before, l.before == 1 ? "" : "es");
  said.push_back(fmt::format("{} began{} {}", machine, when, state));
  said.push_back(
      l.parts.size() == 1
          ? fmt::format("its dispatcher began with SM {}, as if each thread block before "
                        "had gone to the next SM",
                        l.next_sm)
          : "its dispatcher began with the SM at which it would stand if each thread "
            "block before had gone to the next SM");
  return said;
}

std::string format_launches(std::span<const RunResult> runs, size_t width) {
  if (runs.empty() || !runs[0].launches.has_value()) return "";
  const LaunchesReport& l = *runs[0].launches;
  std::string text =
      l.parts.size() == 1
          ? fmt::format("Launches {} to {} of {}", l.first, l.last, grouped(l.of))
          : fmt::format(
                "{} launches in {} parts side by side, {} simulated with those before parts",
                grouped(l.of), l.parts.size(), grouped(l.simulated));
  const std::vector<std::string> said = approximations(l);
  text += said.empty() ? ": exact." : ", approximated: ";
  for (size_t i = 0; i < said.size(); ++i) text += said[i] + (i + 1 < said.size() ? "; " : ".");
  return wrapped(text, width);
}

nlohmann::ordered_json launches_json(const LaunchesReport& l) {
  return {{"of", l.of},
          {"first", l.first},
          {"last", l.last},
          {"parts", l.parts},
          {"before", l.before},
          {"simulated", l.simulated},
          {"warmed_by", l.warmed_by},
          {"exact", l.exact},
          {"approximated", approximations(l)}};
}

}  // namespace nearwarp::report
