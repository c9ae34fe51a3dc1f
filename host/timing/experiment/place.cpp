// Places of studies' points in figures, and the runs that they are compared with.
#include "host/timing/experiment/place.h"

#include <fmt/format.h>

#include <cstring>
#include <set>
#include <sstream>

#include "host/config/config.h"
#include "host/config/schema.h"
#include "host/timing/experiment/workload_parameter.h"

namespace nearwarp::experiment {

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

std::string program_name(const Place& p) {
  return p.study->plan.definition.programs[p.point->program].name;
}

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

const std::vector<sweep::Point>& PlannedStudy::points() const {
  std::call_once(points_->once, [this] {
    for (const sweep::Point& point : plan.points) points_->points.push_back(point);
  });
  return points_->points;
}

const std::vector<sweep::Point>& PlannedStudy::examples() const {
  std::call_once(examples_->once, [this] {
    for (size_t program = 0; program < plan.definition.programs.size(); ++program)
      for (const size_t index : plan.examples(program))
        examples_->points.push_back(plan.points[index]);
  });
  return examples_->points;
}

std::vector<Place> places_of(const std::vector<PlannedStudy>& studies, const Figure& f,
                             LookedAt points) {
  std::vector<Place> places;
  std::set<std::string> seen;  // studies may have points in common
  for (const std::string& name : f.studies) {
    for (const PlannedStudy& study : studies) {
      if (study.study->name != name) continue;
      for (const sweep::Point& point : (study.*points)()) {
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

namespace {

/// A point of a study by its index, so that it does not have to be made.
struct Found {
  const PlannedStudy* study;
  size_t index;
};

/// The study's points of this program, machine and policy. `choice`: the values of the axes; null:
/// any. At most two points are returned for each such triple: the caller wants the only one.
std::vector<Found> points_at(const PlannedStudy& study, const std::string& program,
                             const std::string& machine, const std::string& policy,
                             const std::vector<size_t>* choice) {
  const sweep::Definition& d = study.plan.definition;
  std::vector<Found> found;
  sweep::Point at;
  size_t choices = 1;
  for (const sweep::Axis& axis : d.axes) choices *= axis.values.size();
  at.choice.resize(d.axes.size());
  if (choice != nullptr) at.choice = *choice;
  for (at.program = 0; at.program < d.programs.size(); ++at.program) {
    if (d.programs[at.program].name != program) continue;
    for (at.machine = 0; at.machine < d.machines.size(); ++at.machine) {
      if (study.plan.machine_name(at) != machine) continue;
      for (at.policy = 0; at.policy < d.policies.size(); ++at.policy) {
        if (study.plan.policy_name(at) != policy) continue;
        // With several values on its axes, no point is the only one: two say so.
        found.push_back({&study, study.plan.index(at)});
        if (choice != nullptr) return found;
        if (choices != 1) found.push_back(found.back());
      }
    }
  }
  return found;
}

Found find_reference(const Experiment& e, const std::vector<PlannedStudy>& studies, const Figure& f,
                     const Place& p) {
  const std::string policy = f.reference.empty() ? p.study->study->policies.front() : f.reference;
  const std::string machine =
      f.reference_machine.empty() ? p.study->plan.machine_name(*p.point) : f.reference_machine;
  const std::string wanted = f.reference_alone ? programs_of(p)[*p.program] : program_name(p);
  std::vector<Found> found = points_at(*p.study, wanted, machine, policy, &p.point->choice);
  if (!found.empty()) return found.front();
  for (const PlannedStudy& study : studies) {
    if (study.study->name != f.reference_study) continue;
    for (const Found& one : points_at(study, wanted, machine, policy, nullptr))
      found.push_back(one);
  }
  if (found.size() == 1) return found.front();
  throw bad_figure(
      e, f,
      fmt::format(
          "{} has {} reference runs ({} on {} under {}) - name a 'reference' that the study "
          "has, or a 'reference_study' that has it once for each workload",
          title_of(p), found.empty() ? "no" : "several", wanted, machine, policy));
}

}  // namespace

void check_reference(const Experiment& e, const std::vector<PlannedStudy>& studies, const Figure& f,
                     const Place& p) {
  find_reference(e, studies, f, p);
}

Place reference_of(const Experiment& e, const std::vector<PlannedStudy>& studies, const Figure& f,
                   const Place& p) {
  const Found found = find_reference(e, studies, f, p);
  return {found.study, &found.study->points()[found.index],
          f.reference_alone ? std::optional<size_t>(0) : p.program};
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

}  // namespace nearwarp::experiment
