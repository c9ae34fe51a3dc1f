// Finds names in an experiment's figures that no run has.
#include "host/api/experiment_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/config/nearest.h"
#include "host/core/error.h"
#include "host/functional/compiler/lower.h"
#include "host/functional/device/virtual_device.h"
#include "host/timing/experiment/expression.h"
#include "host/timing/report/json.h"
#include "host/timing/run/cpu_replay.h"

namespace nearwarp {
namespace {

using experiment::Figure;
using experiment::PlannedStudy;
using Json = nlohmann::ordered_json;

/// A program of one warp that ends at once.
const runtime::Recording& nothing() {
  static const runtime::Recording recording = [] {
    runtime::VirtualDevice device;
    const uint32_t module =
        device.load_module(std::make_shared<const compiler::Program>(compiler::compile_ptx(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing() { ret; }\n",
            "nothing.ptx")));
    device.launch(module, "nothing", {1, 1, 1}, {32, 1, 1}, 0, runtime::KernelArgs());
    return device.take_recording("nothing");
  }();
  return recording;
}

/// The names in a figure's values that no run was found to have yet, and all names that runs have.
class Names {
 public:
  explicit Names(const Figure& figure) {
    std::vector<std::string> values = {figure.value};
    for (const experiment::Part& part : figure.parts) values.push_back(part.value);
    for (const std::string& value : values)
      if (!value.empty())
        for (const std::string& name : experiment::Expression::parse(value).terms())
          if (!name.starts_with("workload.")) wanted_.insert(name);
    for (const experiment::Quantity& q : experiment::quantities()) found({q.name});
  }

  bool all_found() const { return wanted_.empty(); }
  void found(const std::set<std::string>& names) {
    for (const std::string& name : names) wanted_.erase(name);
    there_.insert(names.begin(), names.end());
  }
  const std::string& first_missing() const { return *wanted_.begin(); }
  std::string nearest() const {
    return config::suggestion(first_missing(), {there_.begin(), there_.end()});
  }

 private:
  std::set<std::string> wanted_, there_;
};

/// The number of points that are looked at, since each takes a machine. A name that none of them
/// has may be one of further points: the runs will tell.
constexpr size_t kMostLookedAt = 100;

/// Finds the names that runs have by running a program that does nothing.
class Machines {
 public:
  explicit Machines(const Experiment::State& e) : e_(e) {}

  void check(const Figure& figure) {
    Names names(figure);
    // The values of keys seldom change which names there are, so a first pass leaves them out.
    for (const bool with_all_values : {false, true}) {
      std::set<std::string> seen;
      for (const PlannedStudy& study : e_.studies) {
        if (std::ranges::count(figure.studies, study.study->name) == 0) continue;
        for (size_t i = 0; i < study.plan.points.size(); ++i) {
          if (names.all_found()) return;
          const sweep::Point point = study.plan.placed(i);
          if (!is_shown(figure, study, point)) continue;
          const std::string key = key_of(study, point, with_all_values);
          if (!seen.insert(key).second) continue;
          if (seen.size() > kMostLookedAt) return;
          if (study.plan.machine(point) == nullptr || study.plan.policy(point) == nullptr) continue;
          const std::set<std::string>* const there = names_at(study, point);
          if (there == nullptr) return;
          names.found(*there);
        }
      }
    }
    if (names.all_found()) return;
    throw Error(fmt::format("figure '{}' ({}:{}): no run has a counter '{}'{}", figure.name,
                            e_.experiment.path, figure.line, names.first_missing(),
                            names.nearest()));
  }

 private:
  static bool is_shown(const Figure& figure, const PlannedStudy& study, const sweep::Point& point) {
    return figure.policies.empty() ||
           std::ranges::count(figure.policies, study.plan.policy_name(point)) != 0;
  }
  static std::string key_of(const PlannedStudy& study, const sweep::Point& point,
                            bool with_values) {
    std::string key = study.plan.definition.machines[point.machine] + "\n" +
                      study.plan.definition.policies[point.policy];
    if (with_values)
      for (const std::string& change : study.plan.overrides(point)) key += "\n" + change;
    return key;
  }
  /// Counters and energy terms of a run at this point; nullptr if the machine refuses a program
  /// that does nothing. The reason will be told when the point is run.
  const std::set<std::string>* names_at(const PlannedStudy& study, const sweep::Point& point) {
    const auto [at, is_new] = known_.try_emplace(key_of(study, point, true));
    if (!is_new) return &at->second;
    Json run;
    try {
      run = report::run_json(
          sim::replay_on_cpu(nothing(), *study.plan.machine(point), *study.plan.policy(point), {}));
    } catch (const Error&) {
      known_.erase(at);
      return nullptr;
    }
    for (const auto& [name, counter] : run.at("counters").items()) at->second.insert(name);
    for (const Json& term : run.at("energy").at("terms"))
      at->second.insert("energy." + term.at("name").get<std::string>());
    return &at->second;
  }

  const Experiment::State& e_;
  std::map<std::string, std::set<std::string>> known_;  ///< by key_of() with values
};

}  // namespace

void check_counters(const Experiment::State& e) {
  Machines machines(e);
  for (const experiment::Figure& figure : e.experiment.figures) machines.check(figure);
}

}  // namespace nearwarp
