// An experiment's results as one JSON document.
#include "host/timing/experiment/document.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/config/config.h"
#include "host/timing/compare/decomposition.h"
#include "host/timing/compare/sentence.h"
#include "host/timing/experiment/described.h"
#include "host/timing/experiment/expression.h"
#include "host/timing/experiment/tables.h"
#include "host/timing/report/kernels.h"
#include "host/timing/report/section.h"

namespace nearwarp::experiment {
namespace {

using Json = nlohmann::ordered_json;

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kBars:
      return "bars";
    case Kind::kStacked:
      return "stacked";
    case Kind::kCurve:
      return "curve";
    case Kind::kHeat:
      break;
  }
  return "heat";
}

Json figure_json(const Chart& chart) {
  const Figure& f = *chart.figure;
  Json json;
  json["name"] = f.name;
  json["title"] = f.title;
  json["about"] = f.about;
  json["kind"] = kind_name(f.kind);
  json["unit"] = chart.unit;
  // Figures of the same one are drawn on the same axis.
  json["quantity"] = f.kind == Kind::kStacked
                         ? fmt::format("{} in parts", chart.unit)
                         : fmt::format("{} {}", f.value, static_cast<int>(f.relation));
  json["relative"] = f.relation != Relation::kValue;
  json["x_name"] = chart.x_name;
  json["series_name"] = chart.series_name;
  json["x"] = chart.x;
  json["series"] = chart.series;
  json["parts"] = chart.parts;
  json["has_summary"] = chart.has_summary;
  json["cells"] = Json::array();
  for (const Cell& c : chart.cells)
    json["cells"].push_back({{"x", c.x},
                             {"series", c.series},
                             {"part", c.part},
                             {"value", c.value},
                             {"points", c.points}});
  json["against"] = f.against();
  json["published"] = Json::array();
  for (const Published& p : f.published)
    json["published"].push_back({{"x", p.x},
                                 {"series", p.series},
                                 {"part", p.part},
                                 {"value", p.value},
                                 {"source", p.source}});
  json["notes"] = chart.notes;
  return json;
}

/// Keys with value, unit and meaning.
Json keys_json(const std::vector<config::KeyDescription>& keys) {
  Json json = Json::object();
  for (const config::KeyDescription& k : keys)
    json[k.key] = {{"value", k.value}, {"unit", k.unit}, {"meaning", k.doc}};
  return json;
}

/// Names of counters in the order in which runs have them first: points' values are in this order.
struct Counters {
  std::vector<std::string> names;
  std::unordered_map<std::string, size_t> places;

  size_t place(const std::string& name) {
    const auto [at, is_new] = places.try_emplace(name, names.size());
    if (is_new) names.push_back(name);
    return at->second;
  }
};

/// Adds a run's quantities and sections, without those that depend on the host.
void add_run(Json& point, const Json& run, Counters& counters) {
  for (const Quantity& q : quantities()) point["quantities"][q.name] = quantity_of(run, q.name);
  const auto keep = [&](const char* member) {
    if (run.contains(member) && !run.at(member).empty()) point[member] = run.at(member);
  };
  for (const char* member : {"bound", "sm_cycles", "utilisation", "networks", "kernel_totals",
                             "applications", "partial_reason", "launches"})
    keep(member);
  Json sections = Json::array();
  for (const report::MechanismReport* mechanism : report::mechanism_reports()) {
    for (const char* member : mechanism->kept) keep(member);
    if (mechanism->page != nullptr) mechanism->page(run, sections);
  }
  if (!sections.empty()) point["sections"] = std::move(sections);
  Json values = Json::array();
  for (const auto& [name, counter] : run.at("counters").items()) {
    const size_t at = counters.place(name);
    while (values.size() <= at) values.push_back(nullptr);
    values[at] = counter.at("value");
  }
  point["counters"] = values;
}

/// The point that a point is compared with: under the study's first policy, perhaps itself.
const std::string& reference_id(const PlannedStudy& s, const sweep::Point& point) {
  return s.points()[point.index - point.policy].id;
}

/// The run that a point is compared with, if it is another.
const Json* reference_run(const PlannedStudy& s, const sweep::Point& point,
                          const Results& results) {
  if (point.policy == 0) return nullptr;
  const auto line = results.find(reference_id(s, point));
  if (line == results.end() || !line->second.contains("run")) return nullptr;
  return &line->second.at("run");
}

/// A point's policy, and what else tells it apart from the study's other points of its program.
std::string under(const sweep::Plan& plan, const sweep::Point& point) {
  const sweep::Definition& d = plan.definition;
  std::string text = plan.policy_name(point);
  if (d.machines.size() > 1) text += " on " + plan.machine_name(point);
  std::string values;
  for (size_t i = 0; i < d.axes.size(); ++i)
    if (d.axes[i].values.size() > 1)
      values += (values.empty() ? " with " : " and ") + d.axes[i].override_text(point.choice[i]);
  return text + values;
}

/// For each program the point of the first study that has it whose cycles change most, as files
/// have their keys.
Json summary_of(const std::vector<PlannedStudy>& studies, const Results& results) {
  Json summary = Json::array();
  std::set<std::string> seen;
  for (const PlannedStudy& s : studies) {
    std::map<std::string, std::pair<double, Json>> most;  // by program
    for (const sweep::Point& point : s.points()) {
      const std::string& name = s.plan.definition.programs[point.program].name;
      const Json* reference = reference_run(s, point, results);
      const auto line = results.find(point.id);
      if (reference == nullptr || line == results.end() || !line->second.contains("run")) continue;
      if (seen.count(name) != 0) continue;
      const Json& run = line->second.at("run");
      const auto before = reference->at("cycles").get<double>();
      const double change = before == 0 ? 0 : std::abs(run.at("cycles").get<double>() / before - 1);
      const std::string text = compare::sentence(*reference, run, name, under(s.plan, point));
      const auto at = most.find(name);
      if (text.empty() || (at != most.end() && at->second.first >= change)) continue;
      most[name] = {change, {{"workload", name}, {"point", point.id}, {"text", text + "."}}};
    }
    for (const sweep::Program& program : s.plan.definition.programs)
      if (const auto at = most.find(program.name);
          at != most.end() && seen.insert(program.name).second)
        summary.push_back(at->second.second);
  }
  return summary;
}

}  // namespace

Json document_of(const Experiment& e, const std::string& version, const std::string& size,
                 const std::vector<PlannedStudy>& studies, const std::vector<Chart>& charts,
                 const Results& results) {
  Json json;
  json["schema"] = kExperimentSchema;
  json["name"] = e.name;
  json["title"] = e.title;
  json["description"] = e.description;
  json["source"] = e.source;
  json["nearwarp_version"] = version;
  json["size"] = size;
  json["summary"] = summary_of(studies, results);
  json["studies"] = Json::array();
  json["figures"] = Json::array();
  for (const Chart& chart : charts) json["figures"].push_back(figure_json(chart));
  json["quantities"] = Json::object();
  for (const Quantity& q : quantities())
    json["quantities"][q.name] = {{"unit", q.unit}, {"meaning", q.meaning}};
  json["points"] = Json::array();
  Json machines = Json::object(), policies = Json::object(), descriptions = Json::object();
  DescribedPoints described;
  Counters counters;
  std::set<std::string> seen;
  for (const PlannedStudy& s : studies) {
    const sweep::Plan& plan = s.plan;
    size_t complete = 0, failed = 0;
    for (const sweep::Point& point : s.points()) {
      const auto line = results.find(point.id);
      const bool there = line != results.end();
      complete += there && line->second.at("status") == "complete" ? 1 : 0;
      failed += there && line->second.at("status") == "failed" ? 1 : 0;
      if (!seen.insert(point.id).second) continue;
      Json p;
      p["id"] = point.id;
      p["study"] = s.study->name;
      p["workload"] = plan.definition.programs[point.program].name;
      p["size"] = plan.definition.programs[point.program].size;
      p["machine"] = plan.machine_name(point);
      p["policy"] = plan.policy_name(point);
      p["reference"] = reference_id(s, point);
      p["status"] = there ? line->second.at("status") : Json("not run");
      if (there && line->second.contains("error")) p["error"] = line->second.at("error");
      p["configuration"] = described.hash(plan, point);
      const auto machine_config = plan.machine(point);
      const auto policy_config = plan.policy(point);
      if (machine_config != nullptr && policy_config != nullptr) {
        const std::string& machine = plan.definition.machines[point.machine];
        const std::string& policy = plan.definition.policies[point.policy];
        if (!machines.contains(p["machine"])) {
          machines[p["machine"]] = keys_json(described.machines.file(machine));
          descriptions[p["machine"]] = machine_config->description;
        }
        if (!policies.contains(p["policy"]))
          policies[p["policy"]] = keys_json(described.policies.file(policy));
        p["changes"] = described.changes(plan, point);
      }
      if (there && line->second.contains("run")) {
        const Json& run = line->second.at("run");
        const size_t before = counters.names.size();
        add_run(p, run, counters);
        for (const Json& total : run.value("kernel_totals", Json::array())) {
          const auto kernel = total.at("kernel").get<std::string>();
          if (const std::string name = report::short_name(kernel); name != kernel)
            json["kernel_names"][kernel] = name;
        }
        if (const Json* reference = reference_run(s, point, results)) {
          p["change"] = compare::sentence(*reference, run, p["workload"].get<std::string>(),
                                          p["policy"].get<std::string>());
          p["changed"] = compare::decomposition_json(compare::decompose(*reference, run));
        }
        for (size_t i = before; i < counters.names.size(); ++i) {
          const std::string& name = counters.names[i];
          const Json& c = run.at("counters").at(name);
          json["counters"][name] = {{"unit", c.at("unit")}, {"meaning", c.at("description")}};
        }
      }
      json["points"].push_back(std::move(p));
    }
    json["studies"].push_back({{"name", s.study->name},
                               {"about", s.study->about},
                               {"points", plan.points.size()},
                               {"complete", complete},
                               {"failed", failed}});
  }
  json["machines"] = std::move(machines);
  json["machine_descriptions"] = std::move(descriptions);
  json["policies"] = std::move(policies);
  return json;
}

}  // namespace nearwarp::experiment
