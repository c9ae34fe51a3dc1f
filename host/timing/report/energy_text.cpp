// The energy account as text.
#include "host/timing/report/energy_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "host/timing/report/columns.h"

namespace nearwarp::report {
namespace {

constexpr size_t kMostRows = 15;

/// A term of the account, with its energy in each run; 0 in runs that do not have it.
struct Row {
  std::string name;
  std::vector<Femtojoules> energy;
  Femtojoules most() const { return *std::max_element(energy.begin(), energy.end()); }
};

/// All terms that are not 0 in all runs, those with the largest energy in any run first.
std::vector<Row> rows_of(std::span<const RunResult> runs) {
  std::map<std::string, std::vector<Femtojoules>> by_name;
  for (size_t i = 0; i < runs.size(); ++i) {
    for (const EnergyTerm& term : runs[i].energy.terms) {
      std::vector<Femtojoules>& energy = by_name[term.name];
      energy.resize(runs.size());
      energy[i] = term.energy;
    }
  }
  std::vector<Row> rows;
  for (auto& [name, energy] : by_name) rows.push_back({name, std::move(energy)});
  std::erase_if(rows, [](const Row& row) { return row.most() == 0; });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.most() > b.most(); });
  return rows;
}

}  // namespace

EnergyUnit energy_unit(std::span<const RunResult> runs) {
  double most = 0;
  for (const RunResult& run : runs) most = std::max(most, joules(run.energy.total()));
  for (const EnergyUnit unit : {EnergyUnit{"J", 1}, EnergyUnit{"mJ", 1e-3}, EnergyUnit{"uJ", 1e-6}})
    if (most >= unit.joules) return unit;
  return {"nJ", 1e-9};
}

std::string format_energy(std::span<const RunResult> runs, size_t width) {
  std::vector<Row> rows = rows_of(runs);
  if (rows.empty()) return "";
  if (rows.size() > kMostRows) {
    Row others{"others", std::vector<Femtojoules>(runs.size())};
    for (size_t r = kMostRows; r < rows.size(); ++r)
      for (size_t i = 0; i < runs.size(); ++i) others.energy[i] += rows[r].energy[i];
    rows.resize(kMostRows);
    rows.push_back(std::move(others));
  }
  const EnergyUnit unit = energy_unit(runs);
  std::vector<std::string> names;
  std::vector<Column> columns(runs.size());
  for (const Row& row : rows) names.push_back(row.name);
  for (size_t i = 0; i < runs.size(); ++i) {
    columns[i].head = runs[i].policy + (runs[i].partial ? "*" : "");
    for (const Row& row : rows)
      columns[i].cells.push_back(fmt::format("{:.3f}", joules(row.energy[i]) / unit.joules));
  }
  return wrapped(fmt::format("Largest terms of the energy account in {}, after {} (estimates)",
                             unit.name, runs.front().energy.model),
                 width) +
         "\n" + columns_text(names, columns, width);
}

}  // namespace nearwarp::report
