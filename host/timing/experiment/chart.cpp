// Figures with their numbers.
#include "host/timing/experiment/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "host/config/config.h"
#include "host/config/nearest.h"
#include "host/config/schema.h"
#include "host/core/error.h"
#include "host/timing/experiment/expression.h"
#include "host/timing/experiment/workload_parameter.h"
#include "host/timing/report/sample.h"
#include "host/timing/report/section.h"
#include "host/timing/report/sms.h"
#include "host/timing/sweep/format.h"
#include "host/timing/sweep/results_file.h"

namespace nearwarp::experiment {
namespace {

using Json = nlohmann::ordered_json;

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

std::string program_name(const Place& p) {
  return p.study->plan.definition.programs[p.point->program].name;
}

/// The names of programs that are joined by "+".
std::vector<std::string> programs_of(const Place& p) {
  std::vector<std::string> names;
  std::istringstream all(program_name(p));
  for (std::string name; std::getline(all, name, '+');) names.push_back(name);
  return names;
}

std::string label_of(const Place& p, const std::string& dimension) {
  if (dimension == "program" && p.program.has_value()) return programs_of(p)[*p.program];
  if (dimension == "workload") return program_name(p);
  if (dimension == "machine") return p.study->plan.machine_name(*p.point);
  if (dimension == "policy") return p.study->plan.policy_name(*p.point);
  if (dimension == "study") return p.study->study->name;
  if (dimension.starts_with(kWorkloadParameter))
    return parameter_in(program_name(p), dimension.substr(std::strlen(kWorkloadParameter)))
        .value_or("default");
  return value_in_effect(p.study->plan, *p.point, dimension);
}

std::string label_of(const Place& p, const std::vector<std::string>& dimensions) {
  std::string label;
  for (const std::string& d : dimensions) label += (label.empty() ? "" : ", ") + label_of(p, d);
  return label;
}

std::string title_of(const Place& p) {
  std::string title =
      fmt::format("{} on {} under {}", program_name(p), p.study->plan.machine_name(*p.point),
                  p.study->plan.policy_name(*p.point));
  for (const std::string& change : p.study->plan.overrides(*p.point)) title += ", " + change;
  if (p.program.has_value()) title = programs_of(p)[*p.program] + " in " + title;
  return title;
}

Error bad_figure(const Experiment& e, const Figure& f, const std::string& what) {
  return Error(fmt::format("figure '{}' ({}:{}): {}", f.name, e.path, f.line, what));
}

/// The points that a figure shows. Those that cannot be run have no keys and are left out.
std::vector<Place> places_of(const std::vector<PlannedStudy>& studies, const Figure& f) {
  std::vector<Place> places;
  std::set<std::string> seen;  // studies may have points in common
  for (const std::string& name : f.studies) {
    for (const PlannedStudy& study : studies) {
      if (study.study->name != name) continue;
      for (const sweep::Point& point : study.points) {
        const Place place{&study, &point};
        if (!point.error.empty()) continue;
        if (!f.policies.empty() && !among(f.policies, study.plan.policy_name(point))) continue;
        if (!f.workloads.empty() && !among(f.workloads, program_name(place))) continue;
        if (!seen.insert(point.id).second) continue;
        if (!f.each_program) places.push_back(place);
        for (size_t i = 0; f.each_program && i < programs_of(place).size(); ++i)
          places.push_back({&study, &point, i});
      }
    }
  }
  return places;
}

/// The study's point of these, with these values of its axes; nullptr if it has none.
const sweep::Point* point_at(const PlannedStudy& study, const std::string& program,
                             const std::string& machine, const std::string& policy,
                             const std::vector<size_t>& choice) {
  const sweep::Definition& d = study.plan.definition;
  sweep::Point at;
  at.choice = choice;
  const auto find = [](size_t& position, size_t count, auto fits) {
    for (position = 0; position < count; ++position)
      if (fits()) return true;
    return false;
  };
  const bool there =
      find(at.program, d.programs.size(), [&] { return d.programs[at.program].name == program; }) &&
      find(at.machine, d.machines.size(), [&] { return study.plan.machine_name(at) == machine; }) &&
      find(at.policy, d.policies.size(), [&] { return study.plan.policy_name(at) == policy; });
  return there ? &study.points[study.plan.index(at)] : nullptr;
}

/// The run that a point's value is compared with.
Place reference_of(const Experiment& e, const std::vector<PlannedStudy>& studies, const Figure& f,
                   const Place& p) {
  const std::string policy = f.reference.empty() ? p.study->study->policies.front() : f.reference;
  const std::string machine =
      f.reference_machine.empty() ? p.study->plan.machine_name(*p.point) : f.reference_machine;
  const std::string wanted = f.reference_alone ? programs_of(p)[*p.program] : program_name(p);
  const std::optional<size_t> program = f.reference_alone ? 0 : p.program;
  const auto fits = [&](const PlannedStudy& study, const sweep::Point& point) {
    const Place other{&study, &point};
    return program_name(other) == wanted && study.plan.policy_name(point) == policy &&
           study.plan.machine_name(point) == machine;
  };
  if (const sweep::Point* point = point_at(*p.study, wanted, machine, policy, p.point->choice))
    return {p.study, point, program};
  std::vector<Place> found;
  for (const PlannedStudy& study : studies) {
    if (study.study->name != f.reference_study) continue;
    for (const sweep::Point& point : study.points)
      if (fits(study, point)) found.push_back({&study, &point, program});
  }
  if (found.size() == 1) return found.front();
  throw bad_figure(
      e, f,
      fmt::format(
          "{} has {} reference runs ({} on {} under {}) - name a 'reference' that the study "
          "has, or a 'reference_study' that has it once for each workload",
          title_of(p), found.empty() ? "no" : "several", wanted, machine, policy));
}

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

const char* mean_name(Mean mean) {
  switch (mean) {
    case Mean::kGeometric:
      return "geometric mean";
    case Mean::kArithmetic:
      return "mean";
    case Mean::kSum:
      return "sum";
    case Mean::kFairness:
      return "least over greatest";
    case Mean::kNone:
      break;
  }
  return "";
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
      for (const sweep::Point& point : study.points)
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
      chart_.notes.push_back(
          fmt::format("{}: {}", title_of(p), why_missing(results_, p.point->id)));
    return std::nullopt;
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

std::string value_in_effect(const sweep::Plan& plan, const sweep::Point& point,
                            const std::string& key) {
  const auto plain = [](std::string text) {
    if (text.size() < 2 || text.front() != '"') return text;
    return text.substr(1, text.size() - 2);
  };
  if (const auto* k = config::find_key<config::MachineConfig>(key))
    return plain(config::value_text(config::member_of(*k, *plan.machine(point))));
  if (const auto* k = config::find_key<config::PolicyConfig>(key))
    return plain(config::value_text(config::member_of(*k, *plan.policy(point))));
  if (const auto* k = config::find_key<config::EnergyConfig>(key))
    return plain(config::value_text(config::member_of(*k, plan.machine(point)->energy)));
  throw Error(fmt::format(
      "'{}' is neither workload, workload.PARAMETER, machine, policy, study nor a key", key));
}

namespace {

/// All that is counted by program.
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

/// A published value that has no place would never be seen.
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

}  // namespace

void check_figure(const Experiment& e, const std::vector<PlannedStudy>& studies, const Figure& f) {
  if (f.each_program) check_programs_values(e, f);
  const std::vector<Place> places = places_of(studies, f);
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
    if (f.relation != Relation::kValue) reference_of(e, studies, f, p);
  }
  check_published(e, f, std::move(x), series);
}

Chart make_chart(const Experiment& e, const std::vector<PlannedStudy>& studies, const Figure& f,
                 const Results& results) {
  return ChartMaker(e, studies, f, results).make();
}

}  // namespace nearwarp::experiment
