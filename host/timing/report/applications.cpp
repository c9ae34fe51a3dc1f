// Several programs that ran at the same time.
#include "host/timing/report/applications.h"

#include <fmt/format.h>

#include "host/timing/report/columns.h"

namespace nearwarp::report {

std::string format_applications(std::span<const RunResult> runs, size_t width) {
  if (runs.empty() || runs[0].applications.empty()) return "";
  std::vector<std::string> names;
  std::vector<Column> columns;
  for (const ApplicationRow& row : runs[0].applications) names.push_back(row.name);
  for (const RunResult& run : runs) {
    Column cycles{run.policy, {}}, ipc{"IPC", {}};
    for (const ApplicationRow& row : run.applications) {
      cycles.cells.push_back(grouped(row.cycles));
      ipc.cells.push_back(row.cycles == 0
                              ? "-"
                              : fmt::format("{:.2f}", static_cast<double>(row.thread_instructions) /
                                                          static_cast<double>(row.cycles)));
    }
    columns.push_back(std::move(cycles));
    columns.push_back(std::move(ipc));
  }
  return "Programs that ran at the same time, and the cycle in which each ended:\n\n" +
         columns_text(names, columns, width);
}

}  // namespace nearwarp::report
