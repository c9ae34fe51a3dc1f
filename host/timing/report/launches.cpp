// Which launches of its program a run reports.
#include "host/timing/report/launches.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "host/timing/report/columns.h"

namespace nearwarp::report {
namespace {

std::string percent(double share) {
  return fmt::format("{:.{}f} %", 100 * share, share < 0.1 ? 1 : 0);
}

/// What is simulated inside of launches.
std::string inside_text(const SampleReport& s) {
  if (s.divided == 0) return "";
  size_t runs = 0;
  for (const SampledLaunches& p : s.parts) runs += p.blocks.has_value() ? 1 : 0;
  return fmt::format(" and {} runs of thread blocks inside {}", runs,
                     s.divided == 1 ? "a long one" : fmt::format("{} long ones", s.divided));
}

}  // namespace

std::vector<std::string> approximations(const LaunchesReport& l) {
  std::vector<std::string> said;
  if (l.sample.has_value())
    said.push_back(fmt::format(
        "a sample of {} of {} launches{}: cycles are within {} at 95 % confidence",
        l.sample->launches, l.of, inside_text(*l.sample), percent(cycles_error(*l.sample))));
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
  if (l.learnt_by != 0)
    said.push_back(
        fmt::format("{} the mapping of data that the program's first {} learnt",
                    l.parts.size() == 1 ? "it began with" : "later parts began with",
                    l.learnt_by == 1 ? "launch" : fmt::format("{} launches", l.learnt_by)));
  return said;
}

namespace {

/// Of runs of the same sample, with the error of each, and of speed-ups over the first.
std::string sampled_text(std::span<const RunResult> runs) {
  const LaunchesReport& l = *runs[0].launches;
  const SampleReport& s = *l.sample;
  std::string text = fmt::format(
      "A sample: {} of {} launches{} stand for all, of {} strata; with what comes before them {} "
      "of "
      "the program's instructions were simulated. At 95 % confidence cycles are within",
      grouped(s.launches), grouped(l.of), inside_text(s), s.strata.size(), percent(s.simulated));
  std::string speedups;
  for (const RunResult& run : runs) {
    if (!run.launches.has_value() || !run.launches->sample.has_value()) continue;
    const SampleReport& sample = *run.launches->sample;
    text += fmt::format("{} {} ({})", &run == &runs[0] ? "" : ",", percent(cycles_error(sample)),
                        run.policy);
    if (const auto error = ratio_error(&s, &sample); &run != &runs[0] && error.has_value())
      speedups +=
          fmt::format("{} {} ({})", speedups.empty() ? "" : ",", percent(*error), run.policy);
  }
  text += fmt::format(", {} being wanted", percent(s.error));
  if (!speedups.empty()) text += "; speed-ups are within" + speedups;
  text += ". Besides:";
  const std::vector<std::string> said = approximations(l);
  for (size_t i = 1; i < said.size(); ++i) text += (i == 1 ? " " : "; ") + said[i];
  return text + ".";
}

}  // namespace

std::string format_launches(std::span<const RunResult> runs, size_t width) {
  if (runs.empty() || !runs[0].launches.has_value()) return "";
  const LaunchesReport& l = *runs[0].launches;
  if (l.sample.has_value()) return wrapped(sampled_text(runs), width);
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
  nlohmann::ordered_json json = {{"of", l.of},
                                 {"first", l.first},
                                 {"last", l.last},
                                 {"parts", l.parts},
                                 {"before", l.before},
                                 {"simulated", l.simulated},
                                 {"warmed_by", l.warmed_by},
                                 {"learnt_by", l.learnt_by},
                                 {"exact", l.exact},
                                 {"approximated", approximations(l)}};
  if (l.sample.has_value()) json["sample"] = sample_json(*l.sample);
  return json;
}

}  // namespace nearwarp::report
