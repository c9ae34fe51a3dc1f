// An experiment's results as tables.
#include "host/timing/experiment/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "host/timing/experiment/described.h"
#include "host/timing/experiment/expression.h"
#include "host/timing/report/columns.h"
#include "host/timing/report/csv.h"
#include "host/timing/report/sample.h"

namespace nearwarp::experiment {
namespace {

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

/// Ours at the place of a published value: of a stacked figure that without a part is the sum.
std::optional<double> ours_at(const Chart& chart, const Published& p) {
  std::optional<double> ours;
  for (const Cell& c : chart.cells)
    if (chart.x[c.x] == p.x && (p.series.empty() || p.series == chart.series[c.series]) &&
        (p.part.empty() || p.part == chart.parts[c.part]))
      ours = ours.value_or(0) + c.value;
  return ours;
}

std::string number_text(double value) {
  return fmt::format("{:.{}f}", value, value >= 1000 ? 0 : value >= 10 ? 1 : 3);
}

/// How far a sample's cycles may be off, relative; empty for other runs.
std::string cycles_error_in(const Json& line) {
  if (!line.contains("run") || !line.at("run").contains("launches")) return "";
  const auto sample = report::sample_of(line.at("run").at("launches"));
  return sample ? fmt::format("{}", report::cycles_error(*sample)) : "";
}

/// The approximations that a run's launches make, in words; empty if there are none.
std::string approximated_in(const Json& line) {
  std::string text;
  if (!line.contains("run") || !line.at("run").contains("launches")) return text;
  for (const Json& one : line.at("run").at("launches").at("approximated"))
    text += (text.empty() ? "" : "; ") + one.get<std::string>();
  return text;
}

/// By row and column; what is not there is left empty.
using Values = std::map<std::pair<size_t, size_t>, double>;

std::string grid(const std::string& corner, const std::vector<std::string>& rows,
                 const std::vector<std::string>& columns, const Values& values, size_t width) {
  std::vector<report::Column> cells;
  for (size_t i = 0; i < columns.size(); ++i) {
    report::Column column{columns[i].empty() ? "value" : columns[i], {}};
    // Columns of short names are no narrower than numbers.
    if (column.head.size() < 8) column.head.insert(0, 8 - column.head.size(), ' ');
    for (size_t row = 0; row < rows.size(); ++row) {
      const auto at = values.find({row, i});
      column.cells.push_back(at == values.end() ? "-" : number_text(at->second));
    }
    cells.push_back(std::move(column));
  }
  return report::columns_text(rows, std::move(cells), width, corner);
}

/// By part and series: the figure's own mean over x, or where it has none the arithmetic one over
/// those places where the series has a value.
Values mean_parts(const Chart& chart) {
  const size_t summary = chart.x.size() - 1;
  std::map<size_t, std::set<size_t>> places;  // by series
  Values values;
  for (const Cell& c : chart.cells) {
    if (chart.has_summary && c.x != summary) continue;
    places[c.series].insert(c.x);
    values[{c.part, c.series}] += c.value;
  }
  for (auto& [at, value] : values) value /= static_cast<double>(places[at.second].size());
  return values;
}

/// Published values beside ours, and how far ours are off in the mean; empty if there are none.
std::string published_text(const Chart& chart) {
  std::string text;
  double errors = 0;
  size_t values = 0;
  for (const Published& p : chart.figure->published) {
    const std::optional<double> ours = ours_at(chart, p);
    if (!ours.has_value() || p.value == 0) continue;
    std::string place = p.x;
    for (const std::string& name : {p.series, p.part})
      if (!name.empty()) place += " " + name;
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", place, number_text(p.value),
                        number_text(*ours));
    errors += std::abs(*ours / p.value - 1);
    values += 1;
  }
  if (values == 0) return "";
  return fmt::format("{} (ours): {}; mean error {:.0f} %", chart.figure->against(), text,
                     100 * errors / static_cast<double>(values));
}

}  // namespace

std::string points_csv(const std::string& version, const std::vector<PlannedStudy>& studies,
                       const Results& results) {
  DescribedPoints described;
  report::CsvRows csv;
  csv.add("study", "id", "nearwarp_version", "configuration", "workload", "size", "machine",
          "policy", "changes", "status");
  for (const Quantity& q : quantities()) csv.add(column(q));
  csv.add("cycles_error", "approximated", "error");
  csv.end_row();
  for (const PlannedStudy& s : studies) {
    for (const sweep::Point& point : s.points()) {
      const auto line = results.find(point.id);
      if (line == results.end()) continue;
      const sweep::Program& program = s.plan.definition.programs[point.program];
      const auto status = line->second.at("status").get<std::string>();
      csv.add(s.study->name, point.id, version, described.hash(s.plan, point), program.name,
              program.size, s.plan.machine_name(point), s.plan.policy_name(point),
              fmt::format("{}", fmt::join(s.plan.overrides(point), " ")), status);
      for (const Quantity& q : quantities()) {
        std::optional<double> value;
        if (status != "failed") value = quantity_of(line->second.at("run"), q.name);
        csv.add(value);
      }
      csv.add(cycles_error_in(line->second), approximated_in(line->second),
              line->second.value("error", ""));
      csv.end_row();
    }
  }
  return csv.text();
}

std::string chart_csv(const Chart& chart) {
  report::CsvRows csv;
  csv.add(chart.x_name, chart.series_name.empty() ? "series" : chart.series_name, "part", "value",
          "unit", chart.figure->against(), "source");
  csv.end_row();
  for (const Cell& cell : chart.cells) {
    const Published* p = published_at(chart, cell);
    csv.add(chart.x[cell.x], chart.series[cell.series], chart.parts[cell.part], cell.value,
            chart.unit, p == nullptr ? std::optional<double>() : p->value,
            p == nullptr ? std::string() : p->source);
    csv.end_row();
  }
  // Stacked figures have rows of their own for what is published of the whole.
  for (const Published& p : chart.figure->published) {
    const auto ours = ours_at(chart, p);
    if (!ours || !p.part.empty() || chart.parts.size() <= 1) continue;
    csv.add(p.x, p.series, "all", *ours, chart.unit, p.value, p.source);
    csv.end_row();
  }
  return csv.text();
}

std::string chart_text(const Chart& chart, size_t width) {
  constexpr size_t kNoteIndent = 2;
  std::string text =
      report::wrapped(
          chart.figure->title + (chart.unit.empty() ? "" : fmt::format(" [{}]", chart.unit)),
          width) +
      "\n";
  const bool stacked = chart.parts.size() > 1;
  if (stacked && chart.series.size() == 1) {
    Values values;
    for (const Cell& c : chart.cells) values[{c.x, c.part}] += c.value;
    text += grid(chart.x_name, chart.x, chart.parts, values, width);
  } else {
    Values values;
    for (const Cell& c : chart.cells) values[{c.x, c.series}] += c.value;
    const bool shares = stacked && !values.empty() &&
                        std::all_of(values.begin(), values.end(),
                                    [](const auto& v) { return std::abs(v.second - 1) < 1e-6; });
    // Shares add up to 1, so a table of their sums would say nothing.
    if (!shares) text += grid(chart.x_name, chart.x, chart.series, values, width);
    if (stacked && !shares) text += "\n";
    if (stacked) text += grid("mean of parts", chart.parts, chart.series, mean_parts(chart), width);
  }
  std::vector<std::string> notes = chart.notes;
  if (std::string published = published_text(chart); !published.empty())
    notes.insert(notes.begin(), std::move(published));
  for (const std::string& note : notes) {
    std::istringstream lines(report::wrapped("(" + note + ")", width - kNoteIndent));
    for (std::string line; std::getline(lines, line);)
      text += std::string(kNoteIndent, ' ') + line + "\n";
  }
  return text;
}

}  // namespace nearwarp::experiment
