// Which launches of its program a run reports.
#include "host/timing/report/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "host/timing/report/columns.h"

namespace nearwarp::report {
namespace {

std::string percent(double share) {
  return fmt::format("{:.{}f} %", 100 * share, share < 0.1 ? 1 : 0);
}

/// Names the simulated parts inside of launches.
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

/// Describes runs of the same sample, the first of which is `runs[first]`, with the error of each,
/// and of speed-ups over the first of all, which may be exact.
std::string sampled_text(std::span<const RunResult> runs, size_t first) {
  const LaunchesReport& l = *runs[first].launches;
  const SampleReport& s = *l.sample;
  std::string text = fmt::format(
      "A sample: {} of {} launches{} stand for all, of {} strata; with what comes before them {} "
      "of "
      "the program's instructions were simulated. At 95 % confidence cycles are within",
      grouped(s.launches), grouped(l.of), inside_text(s), s.strata.size(), percent(s.simulated));
  std::string speedups;
  for (size_t i = first; i < runs.size(); ++i) {
    if (!runs[i].launches.has_value() || !runs[i].launches->sample.has_value()) continue;
    const SampleReport& sample = *runs[i].launches->sample;
    text += fmt::format("{} {} ({})", i == first ? "" : ",", percent(cycles_error(sample)),
                        runs[i].policy);
    if (const auto error = ratio_error(first == 0 ? &s : nullptr, &sample);
        i != 0 && error.has_value())
      speedups +=
          fmt::format("{} {} ({})", speedups.empty() ? "" : ",", percent(*error), runs[i].policy);
  }
  text += fmt::format(", {} being wanted", percent(s.error));
  if (!speedups.empty()) text += "; speed-ups are within" + speedups;
  text += ". Besides:";
  const std::vector<std::string> said = approximations(l);
  for (size_t i = 1; i < said.size(); ++i) text += (i == 1 ? " " : "; ") + said[i];
  return text + ".";
}

std::string parts_text(const LaunchesReport& l) {
  std::string text =
      l.parts.size() == 1
          ? fmt::format("Launches {} to {} of {}", l.first, l.last, grouped(l.of))
          : fmt::format(
                "{} launches in {} parts side by side, {} simulated with those before parts",
                grouped(l.of), l.parts.size(), grouped(l.simulated));
  const std::vector<std::string> said = approximations(l);
  text += said.empty() ? ": exact." : ", approximated: ";
  for (size_t i = 0; i < said.size(); ++i) text += said[i] + (i + 1 < said.size() ? "; " : ".");
  return text;
}

}  // namespace

std::string in_one_go_text(const InOneGo& one) {
  return fmt::format("{} was given up, for {}", one.tried, one.why);
}

std::optional<InOneGo> in_one_go_of(const nlohmann::ordered_json& run) {
  if (!run.contains("launches") || !run.at("launches").contains("in_one_go")) return std::nullopt;
  const nlohmann::ordered_json& json = run.at("launches").at("in_one_go");
  return InOneGo{json.at("tried").get<std::string>(), json.at("why").get<std::string>()};
}

std::string format_launches(std::span<const RunResult> runs, size_t width) {
  std::string text;
  const auto add = [&](const std::string& paragraph) {
    text += (text.empty() ? "" : "\n") + wrapped(paragraph, width);
  };
  const auto divided = std::find_if(runs.begin(), runs.end(), [](const RunResult& r) {
    return r.launches.has_value() && !r.launches->in_one_go.has_value();
  });
  if (divided != runs.end())
    add(divided->launches->sample.has_value()
            ? sampled_text(runs, static_cast<size_t>(divided - runs.begin()))
            : parts_text(*divided->launches));
  std::vector<std::pair<std::string, std::string>> whole;  // why, and under which policies
  for (const RunResult& run : runs) {
    if (!run.launches.has_value() || !run.launches->in_one_go.has_value()) continue;
    const std::string why = in_one_go_text(*run.launches->in_one_go);
    const auto same =
        std::find_if(whole.begin(), whole.end(), [&](const auto& w) { return w.first == why; });
    if (same == whole.end())
      whole.emplace_back(why, run.policy);
    else
      same->second += ", " + run.policy;
  }
  for (const auto& [why, policies] : whole)
    add(fmt::format("All launches were simulated in one go, exactly ({}): {}.", policies, why));
  return text;
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
  if (l.in_one_go.has_value())
    json["in_one_go"] = {{"tried", l.in_one_go->tried}, {"why", l.in_one_go->why}};
  return json;
}

}  // namespace nearwarp::report
