// Figures with their numbers.
#include "host/timing/experiment/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "host/config/nearest.h"
#include "host/timing/experiment/expression.h"
#include "host/timing/experiment/place.h"
#include "host/timing/report/sample.h"
#include "host/timing/report/section.h"
#include "host/timing/report/sms.h"
#include "host/timing/sweep/format.h"
#include "host/timing/sweep/results_file.h"

namespace nearwarp::experiment {
namespace {

using Json = nlohmann::ordered_json;

bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

/// Labels in the order in which the figure names policies and workloads, or points have them; of
/// numbers, by size.
std::vector<std::string> labels_of(const Figure& f, const std::vector<Place>& places,
                                   const std::vector<std::string>& dimensions, bool by_size) {
  std::vector<std::string> labels;
  const auto fill = [&](const std::string& dimension, const std::vector<std::string>& named) {
    if (dimensions != std::vector<std::string>{dimension}) return;
    for (const std::string& name : named)
      for (const Place& p : places)
        if (label_of(p, dimension) == name && !among(labels, name)) labels.push_back(name);
  };
  fill("policy", f.policies);
  fill("workload", f.workloads);
  std::set<std::string> there(labels.begin(), labels.end());
  for (const Place& p : places)
    if (const auto [label, is_new] = there.insert(label_of(p, dimensions)); is_new)
      labels.push_back(*label);
  if (by_size && std::all_of(labels.begin(), labels.end(), is_number))
    std::sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) {
      return std::strtod(a.c_str(), nullptr) < std::strtod(b.c_str(), nullptr);
    });
  return labels;
}

double mean_of(const std::vector<double>& values, Mean mean) {
  if (mean == Mean::kFairness) {
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    return *greatest == 0 ? 0 : *least / *greatest;
  }
  double sum = 0;
  for (const double v : values) sum += mean == Mean::kGeometric ? std::log(v) : v;
  if (mean == Mean::kSum) return sum;
  sum /= static_cast<double>(values.size());
  return mean == Mean::kGeometric ? std::exp(sum) : sum;
}

std::map<std::string, size_t> positions_of(const std::vector<std::string>& labels) {
  std::map<std::string, size_t> positions;
  for (size_t i = 0; i < labels.size(); ++i) positions.try_emplace(labels[i], i);
  return positions;
}

/// A line's run if it came to its end.
const Json* complete_run(const Results& results, const std::string& id) {
  const auto at = results.find(id);
  if (at == results.end() || at->second.at("status") != "complete") return nullptr;
  return &at->second.at("run");
}

/// The part of a run of several programs that is one program's, as a run of its own.
Json run_of_program(const Json& run, size_t program) {
  Json own = {{"core_mhz", run.value("core_mhz", 0.0)}, {"counters", Json::object()}};
  if (!run.contains("applications")) {
    for (const char* name : {"cycles", "ipc", "warp_instructions"})
      if (run.contains(name)) own[name] = run.at(name);
    return own;
  }
  const Json& row = run.at("applications").at(program);
  const auto cycles = row.at("cycles").get<double>();
  own["cycles"] = cycles;
  own["warp_instructions"] = row.at("warp_instructions");
  own["ipc"] = cycles == 0 ? 0 : row.at("thread_instructions").get<double>() / cycles;
  return own;
}

std::string why_missing(const Results& results, const std::string& id) {
  const auto at = results.find(id);
  if (at == results.end()) return "not run yet";
  if (at->second.contains("error")) return at->second.at("error").get<std::string>();
  return "stopped before its end";
}

class ChartMaker {
 public:
  ChartMaker(const Experiment& e, const std::vector<PlannedStudy>& studies, const Figure& f,
             const Results& results)
      : e_(e), studies_(studies), f_(f), results_(results) {}

  Chart make() {
    chart_.figure = &f_;
    chart_.x_name = fmt::format("{}", fmt::join(f_.x, ", "));
    chart_.series_name = fmt::format("{}", fmt::join(f_.series, ", "));
    const std::vector<Place> places = places_of(studies_, f_);
    const bool numbers = f_.kind == Kind::kCurve || f_.kind == Kind::kHeat;
    chart_.x = labels_of(f_, places, f_.x, numbers);
    chart_.series = labels_of(f_, places, f_.series, f_.kind == Kind::kHeat);
    std::vector<Part> parts = f_.parts;
    if (f_.kind != Kind::kStacked) parts = {{"", f_.value}};
    for (const Part& part : parts) {
      chart_.parts.push_back(part.label);
      expressions_.push_back(Expression::parse(part.value));
    }
    chart_.unit = unit();
    find_unknown(places);
    note_impossible();
    for (size_t part = 0; part < parts.size(); ++part)
      if (is_known_[part]) add_part(places, part);
    note_missing();
    add_summary();
    note_sms(places);
    note_few_instances(places);
    note_samples(places);
    return std::move(chart_);
  }

 private:
  std::string unit() const {
    if (f_.mean == Mean::kFairness) return mean_name(f_.mean);
    if (f_.relation == Relation::kSpeedup) return "times as fast";
    if (f_.relation == Relation::kMultiple) return "multiple of the reference";
    return f_.unit.empty() ? expressions_.front().unit() : f_.unit;
  }

  /// The point's run, or its part for the place's program; nullptr if it has not come to its end.
  const Json* run_at(const Place& p) {
    const Json* run = complete_run(results_, p.point->id);
    if (run == nullptr || !p.program.has_value()) return run;
    const auto [at, is_new] = programs_.try_emplace({p.point->id, *p.program});
    if (is_new) at->second = run_of_program(*run, *p.program);
    return &at->second;
  }

  /// Names of all counters of the places' runs.
  std::vector<std::string> counters(const std::vector<Place>& places) {
    std::set<std::string> names;
    for (const Place& p : places) {
      const Json* run = run_at(p);
      if (run == nullptr || !run->contains("counters")) continue;
      for (const auto& [name, value] : run->at("counters").items()) names.insert(name);
    }
    return {names.begin(), names.end()};
  }

  /// A counter that no run has is a mistake in the file, not a zero.
  void find_unknown(const std::vector<Place>& places) {
    for (const Expression& expression : expressions_) {
      std::set<std::string> nowhere;
      bool first = true;
      for (const Place& p : places) {
        const Json* run = run_at(p);
        if (run == nullptr) continue;
        const std::vector<std::string> missing = expression.unknown(*run);
        std::set<std::string> both;
        for (const std::string& name : missing)
          if (first || nowhere.count(name) != 0) both.insert(name);
        nowhere = std::move(both);
        first = false;
      }
      is_known_.push_back(nowhere.empty());
      for (const std::string& name : nowhere)
        chart_.notes.push_back(
            fmt::format("no run has a counter '{}', so that what is made of it is not drawn{}",
                        name, config::suggestion(name, counters(places))));
    }
  }

  /// Points whose values no machine or policy can have are nowhere in the figure.
  void note_impossible() {
    for (const PlannedStudy& study : studies_) {
      if (!among(f_.studies, study.study->name)) continue;
      for (const sweep::Point& point : study.points())
        if (!point.error.empty())
          chart_.notes.push_back(fmt::format("{}: {}", title_of({&study, &point}), point.error));
    }
  }

  /// A point's value; nothing with a note if it or its reference has not come to its end.
  std::optional<double> value_of(const Place& p, size_t part) {
    const Json* run = run_at(p);
    if (run == nullptr) return missing(p);
    const std::optional<double> value = expressions_[part].of(*run);
    if (f_.relation == Relation::kValue || !value) return value;
    const Place reference = reference_of(e_, studies_, f_, p);
    const Json* other = run_at(reference);
    if (other == nullptr) return missing(reference);
    // Parts of a stack are shares of the reference's whole.
    double whole = 0;
    for (const Expression& expression : expressions_) whole += expression.of(*other).value_or(0);
    if (f_.relation == Relation::kSpeedup)
      return *value == 0 ? std::nullopt : std::optional(whole / *value);
    return whole == 0 ? std::nullopt : std::optional(*value / whole);
  }

  std::optional<double> missing(const Place& p) {
    if (noted_.insert(p.point->id).second)
      missing_[why_missing(results_, p.point->id)].push_back(title_of(p));
    return std::nullopt;
  }

  /// One reason, such as a program that does not run, is told once.
  void note_missing() {
    constexpr size_t kNamed = 2;
    for (const auto& [why, titles] : missing_) {
      const size_t named = titles.size() > kNamed + 1 ? kNamed : titles.size();
      std::string text = titles[0];
      for (size_t i = 1; i < named; ++i) text += "; " + titles[i];
      if (named < titles.size()) text += fmt::format("; {} more", titles.size() - named);
      chart_.notes.push_back(text + ": " + why);
    }
  }

  void add_part(const std::vector<Place>& places, size_t part) {
    struct Group {
      std::vector<double> values;
      std::vector<std::string> points;
      bool whole = true;
    };
    std::map<std::pair<size_t, size_t>, Group> groups;
    const std::map<std::string, size_t> x = positions_of(chart_.x);
    const std::map<std::string, size_t> series = positions_of(chart_.series);
    for (const Place& p : places) {
      Group& group = groups[{x.at(label_of(p, f_.x)), series.at(label_of(p, f_.series))}];
      const std::optional<double> value = value_of(p, part);
      group.points.push_back(p.point->id);
      if (value && std::isfinite(*value))
        group.values.push_back(*value);
      else
        group.whole = false;
    }
    for (const auto& [place, group] : groups) {
      // A mean over fewer points than its neighbours' would look like one over all.
      if (!group.whole || group.values.empty()) continue;
      const double value =
          f_.mean == Mean::kNone ? group.values.front() : mean_of(group.values, f_.mean);
      if (std::isfinite(value))
        chart_.cells.push_back({place.first, place.second, part, value, group.points});
    }
  }

  /// A last group with the mean over those x that every series has.
  void add_summary() {
    if (f_.summary == Mean::kNone || chart_.x.size() < 2) return;
    std::map<size_t, std::set<size_t>> series_at;
    for (const Cell& c : chart_.cells)
      if (c.part == 0) series_at[c.x].insert(c.series);
    std::set<size_t> common;
    std::string left_out;
    for (size_t x = 0; x < chart_.x.size(); ++x) {
      if (series_at[x].size() == chart_.series.size())
        common.insert(x);
      else
        left_out += (left_out.empty() ? "" : ", ") + chart_.x[x];
    }
    if (common.empty()) return;
    if (!left_out.empty())
      chart_.notes.push_back(fmt::format("the {} is without {}: not there for every series",
                                         mean_name(f_.summary), left_out));
    const size_t at = chart_.x.size();
    chart_.x.emplace_back(mean_name(f_.summary));
    chart_.has_summary = true;
    std::map<std::pair<size_t, size_t>, std::vector<double>> values;
    for (const Cell& c : chart_.cells)
      if (common.count(c.x) != 0) values[{c.part, c.series}].push_back(c.value);
    for (const auto& [place, list] : values) {
      const double value = mean_of(list, f_.summary);
      if (std::isfinite(value)) chart_.cells.push_back({at, place.second, place.first, value, {}});
    }
  }

  /// The figure's points, and those that they are compared with.
  std::vector<Place> with_references(const std::vector<Place>& places) const {
    std::vector<Place> all;
    for (const Place& p : places) {
      if (f_.relation != Relation::kValue) all.push_back(reference_of(e_, studies_, f_, p));
      all.push_back(p);
    }
    return all;
  }

  /// Speed-ups of policies with different numbers of SMs are not those of what the policies do
  /// alone.
  void note_sms(const std::vector<Place>& places) {
    std::vector<std::pair<std::string, report::SmNumbers>> by_policy, by_point;
    std::map<std::string, report::SmNumbers> seen;
    bool telling = true;  // the policy's name says which points are meant
    for (const Place& p : with_references(places)) {
      const Json* run = complete_run(results_, p.point->id);
      if (run == nullptr) continue;
      const report::SmNumbers sms = report::sms_of(*run);
      const std::string policy = p.study->plan.policy_name(*p.point);
      std::string point = fmt::format("{} on {}", policy, p.study->plan.machine_name(*p.point));
      for (const std::string& change : p.study->plan.overrides(*p.point)) point += ", " + change;
      telling = telling && seen.try_emplace(policy, sms).first->second == sms;
      by_policy.emplace_back(policy, sms);
      by_point.emplace_back(std::move(point), sms);
    }
    const std::string text = report::different_sms_text(telling ? by_policy : by_point);
    if (!text.empty()) chart_.notes.push_back(text);
  }

  /// A mapping that few instances chose is another one with the next input.
  void note_few_instances(const std::vector<Place>& places) {
    std::vector<std::string> names;
    for (const Place& p : places) {
      const Json* run = complete_run(results_, p.point->id);
      if (run == nullptr || !run->contains("mapping")) continue;
      const Json& instances = run->at("mapping").at("instances");
      if (!instances.value("few", false)) continue;
      std::string name =
          fmt::format("{} under {} ({})", program_name(p), p.study->plan.policy_name(*p.point),
                      instances.at("seen").get<uint64_t>());
      if (!among(names, name)) names.push_back(std::move(name));
    }
    if (!names.empty())
      chart_.notes.push_back(
          fmt::format("mappings learnt from fewer than {} instances, which is luck: {}",
                      report::kFewInstances, report::some_of(names)));
  }

  /// How sure cycles of samples are, or speed-ups between them.
  void note_samples(const std::vector<Place>& places) {
    if (f_.value != "cycles" && f_.value != "time") return;
    const auto sample = [&](const Place& p) -> std::optional<report::SampleReport> {
      const Json* run = complete_run(results_, p.point->id);
      if (run == nullptr || !run->contains("launches")) return std::nullopt;
      return report::sample_of(run->at("launches"));
    };
    std::vector<std::string> names;
    for (const Place& p : places) {
      const std::optional<report::SampleReport> own = sample(p);
      std::optional<report::SampleReport> other;
      if (f_.relation != Relation::kValue) {
        const Place reference = reference_of(e_, studies_, f_, p);
        if (reference.point->id == p.point->id) continue;
        other = sample(reference);
      }
      if (!own && !other) continue;
      const std::optional<double> error =
          report::ratio_error(other ? &*other : nullptr, own ? &*own : nullptr);
      names.push_back(fmt::format(
          "{} under {} ({})", program_name(p), p.study->plan.policy_name(*p.point),
          error ? fmt::format("{:.1f} %", 100 * *error) : "not known: of different launches"));
    }
    if (!names.empty())
      chart_.notes.push_back(fmt::format("of samples of launches, at 95 % confidence within: {}",
                                         report::some_of(names)));
  }

  const Experiment& e_;
  const std::vector<PlannedStudy>& studies_;
  const Figure& f_;
  const Results& results_;
  std::vector<Expression> expressions_;
  std::vector<bool> is_known_;  ///< by expression: is each of its terms in a run?
  std::map<std::pair<std::string, size_t>, Json> programs_;  ///< by point and program
  std::set<std::string> noted_;
  std::map<std::string, std::vector<std::string>> missing_;  ///< points' titles, by reason
  Chart chart_;
};

}  // namespace

Results read_results(const std::string& path) {
  Results results;
  std::string rest;
  sweep::for_each_line(
      path,
      [&](uint64_t number, uint64_t, std::string_view text) {
        sweep::read_line(text, fmt::format("{}:{}", path, number));  // its errors
        Json line = Json::parse(text);
        const auto id = line.at("id").get<std::string>();
        results.insert_or_assign(id, std::move(line));
      },
      rest);
  return results;
}

Chart make_chart(const Experiment& e, const std::vector<PlannedStudy>& studies, const Figure& f,
                 const Results& results) {
  return ChartMaker(e, studies, f, results).make();
}

}  // namespace nearwarp::experiment
