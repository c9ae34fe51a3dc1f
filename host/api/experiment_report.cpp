// Makes figures, tables and report of the results in an experiment's folder.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "host/api/experiment_state.h"
#include "host/api/failure.h"
#include "host/core/error_parts.h"
#include "host/core/folder.h"
#include "host/core/json_as_text.h"
#include "host/timing/experiment/chart.h"
#include "host/timing/experiment/document.h"
#include "host/timing/experiment/report.h"
#include "host/timing/experiment/tables.h"
#include "host/timing/report/columns.h"
#include "host/timing/report/file.h"

namespace nearwarp {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The results in the files of the whole and of all parts; a success counts before a failure.
experiment::Results all_results(const std::string& folder) {
  experiment::Results results;
  std::vector<std::string> paths;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("results") && name.ends_with(".jsonl")) paths.push_back(entry.path());
  }
  if (failed)
    throw file_error(folder, "cannot read the folder '" + folder + "': " + failed.message(),
                     "name the one that the experiment was run into");
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths)
    for (auto& [id, line] : experiment::read_results(path)) {
      const auto at = results.find(id);
      if (at == results.end() || at->second.at("status") == "failed")
        results.insert_or_assign(id, std::move(line));
    }
  return results;
}

}  // namespace

ExperimentReport report_of(const Experiment::State& e, const std::string& folder, size_t width) {
  const experiment::Results results = all_results(folder);
  ExperimentReport report;
  std::vector<experiment::Chart> charts;
  for (const experiment::Figure& figure : e.experiment.figures) {
    charts.push_back(make_chart(e.experiment, e.studies, figure, results));
    report.figures.push_back({figure.name, figure.title, experiment::chart_csv(charts.back()),
                              experiment::chart_latex(charts.back()),
                              experiment::chart_text(charts.back(), width)});
  }
  report.points_csv = experiment::points_csv(version(), e.studies, results);
  const Json document =
      experiment::document_of(e.experiment, version(), e.size, e.studies, charts, results);
  for (const Json& one : document.at("summary"))
    report.summary += report::wrapped(one.at("text").get<std::string>(), width);
  report.json = json_as_text(document, 1) + "\n";
  report.html = experiment::report_html(document);
  return report;
}

Expected<Done> ExperimentReport::write(const std::string& folder) const {
  return guarded([&] {
    const fs::path out = folder;
    make_folder((out / "figures").string(), "folder");
    for (const FigureTable& figure : figures) {
      report::write_file((out / "figures" / (figure.name + ".csv")).string(), figure.csv);
      report::write_file((out / "figures" / (figure.name + ".tex")).string(), figure.latex);
    }
    report::write_file((out / "points.csv").string(), points_csv);
    report::write_file((out / "experiment.json").string(), json);
    report::write_file((out / "report.html").string(), html);
    return Done{};
  });
}

}  // namespace nearwarp
