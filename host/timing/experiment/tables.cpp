// An experiment's results as tables.
#include "host/timing/experiment/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "host/config/config.h"
#include "host/core/hash.h"
#include "host/timing/experiment/expression.h"
#include "host/timing/report/csv.h"

namespace nearwarp::experiment {
namespace {

using report::csv_field;
using Json = nlohmann::ordered_json;

/// "energy [mJ]" as a column is called.
std::string column(const Quantity& q) {
  return *q.unit == '\0' ? q.name : fmt::format("{} [{}]", q.name, q.unit);
}

const Published* published_at(const Chart& chart, const Cell& cell) {
  for (const Published& p : chart.figure->published)
    if (p.x == chart.x[cell.x] && (p.series.empty() || p.series == chart.series[cell.series]) &&
        p.part == chart.parts[cell.part])
      return &p;
  return nullptr;
}

}  // namespace

std::string configuration_hash(const sweep::Point& point) {
  if (point.machine_config == nullptr || point.policy_config == nullptr) return "";
  std::string text;
  for (const auto& k : config::describe_whole(*point.machine_config))
    text += fmt::format("{} = {}\n", k.key, k.value);
  for (const auto& k : config::describe(*point.policy_config))
    text += fmt::format("{} = {}\n", k.key, k.value);
  return content_hash(text).hex().substr(0, 16);
}

std::string points_csv(const std::string& version, const std::vector<PlannedStudy>& studies,
                       const Results& results) {
  std::string text =
      "study,id,nearwarp_version,configuration,workload,size,machine,policy,changes,status";
  for (const Quantity& q : quantities()) text += "," + csv_field(column(q));
  text += ",error\n";
  for (const PlannedStudy& s : studies) {
    for (const sweep::Point& point : s.plan.points) {
      const auto line = results.find(point.id);
      if (line == results.end()) continue;
      const sweep::Program& program = s.plan.definition.programs[point.program];
      const auto status = line->second.at("status").get<std::string>();
      text += fmt::format(
          "{},{},{},{},{},{},{},{},{},{}", csv_field(s.study->name), point.id, version,
          configuration_hash(point), csv_field(program.name), program.size,
          csv_field(s.plan.machine_name(point)), csv_field(s.plan.policy_name(point)),
          csv_field(fmt::format("{}", fmt::join(s.plan.overrides(point), " "))), status);
      for (const Quantity& q : quantities())
        text += "," + (status == "failed"
                           ? std::string()
                           : fmt::format("{}", quantity_of(line->second.at("run"), q.name)));
      text += "," + csv_field(line->second.value("error", "")) + "\n";
    }
  }
  return text;
}

std::string chart_csv(const Chart& chart) {
  std::string text =
      fmt::format("{},{},part,value,unit,published,source\n", csv_field(chart.x_name),
                  csv_field(chart.series_name.empty() ? "series" : chart.series_name));
  for (const Cell& cell : chart.cells) {
    const Published* p = published_at(chart, cell);
    text += fmt::format(
        "{},{},{},{},{},{},{}\n", csv_field(chart.x[cell.x]), csv_field(chart.series[cell.series]),
        csv_field(chart.parts[cell.part]), cell.value, csv_field(chart.unit),
        p == nullptr ? "" : fmt::format("{}", p->value), p == nullptr ? "" : csv_field(p->source));
  }
  return text;
}

std::string chart_text(const Chart& chart) {
  // Of a stack a column is the whole, but if there is only one series: then it is a part.
  const bool by_part = chart.series.size() == 1 && chart.parts.size() > 1;
  const std::vector<std::string>& columns = by_part ? chart.parts : chart.series;
  std::map<std::pair<size_t, size_t>, double> values;
  for (const Cell& c : chart.cells) values[{c.x, by_part ? c.part : c.series}] += c.value;
  size_t width = chart.x_name.size();
  for (const std::string& label : chart.x) width = std::max(width, label.size());
  std::string text =
      fmt::format("{}{}\n\n{:<{}}", chart.figure->title,
                  chart.unit.empty() ? "" : fmt::format(" [{}]", chart.unit), "", width);
  std::vector<size_t> widths;
  for (const std::string& label : columns) {
    widths.push_back(std::max<size_t>(8, label.size()));
    text += fmt::format("  {:>{}}", label.empty() ? "value" : label, widths.back());
  }
  text += "\n";
  for (size_t x = 0; x < chart.x.size(); ++x) {
    text += fmt::format("{:<{}}", chart.x[x], width);
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto at = values.find({x, i});
      const std::string number = at == values.end() ? "-"
                                                    : fmt::format("{:.{}f}", at->second,
                                                                  at->second >= 1000 ? 0
                                                                  : at->second >= 10 ? 1
                                                                                     : 3);
      text += fmt::format("  {:>{}}", number, widths[i]);
    }
    text += "\n";
  }
  for (const std::string& note : chart.notes) text += fmt::format("  ({})\n", note);
  return text;
}

}  // namespace nearwarp::experiment
