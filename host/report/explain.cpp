// Why candidate blocks were offloaded or not, and what it brought, for people.
#include "host/report/explain.h"

#include <fmt/format.h>

#include "host/report/columns.h"

namespace nearwarp::report {
namespace {

const std::vector<std::string> kLabels = {"source",
                                          "instances",
                                          "  offloaded",
                                          "  kept: condition",
                                          "  kept: channel busy",
                                          "  kept: pending limit",
                                          "  kept: no access",
                                          "seen while learning",
                                          "lines in own stack",
                                          "lines in other stacks",
                                          "  own stack [%]",
                                          "latency at home [cyc.]",
                                          "latency offl. [cycles]"};

/// The end of a long list of sources is cut.
std::string shortened(const std::string& text) {
  constexpr size_t kLongest = 32;
  return text.size() <= kLongest ? text : text.substr(0, kLongest - 2) + "..";
}

std::string mean(uint64_t sum, uint64_t count) {
  if (count == 0) return "-";
  return fmt::format("{:.0f}", static_cast<double>(sum) / static_cast<double>(count));
}

std::string percent(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f}", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

Column column(const CandidateRow& row) {
  return {fmt::format("{} {}", row.kernel, row.id),
          {row.source_lines.empty() ? "-" : shortened(row.source_lines), grouped(row.instances),
           grouped(row.offloaded), grouped(row.refused_condition), grouped(row.refused_busy),
           grouped(row.refused_pending), grouped(row.no_memory_access), grouped(row.learning),
           grouped(row.local_lines), grouped(row.remote_lines),
           percent(row.local_lines, row.local_lines + row.remote_lines),
           mean(row.kept_cycles, row.kept), mean(row.offloaded_cycles, row.offloaded)}};
}

}  // namespace

std::string format_explanation(const RunResult& run, size_t width) {
  if (run.candidates.empty()) return "";
  std::vector<Column> columns;
  for (const CandidateRow& row : run.candidates) columns.push_back(column(row));
  std::string text = wrapped(
      fmt::format("{}: candidate blocks (kernel and number, as nearwarp analyze lists them). "
                  "Latencies: from the offload controller's decision until the warp is beyond the "
                  "block.",
                  run.policy),
      width);
  return text + "\n" + columns_text(kLabels, std::move(columns), width);
}

}  // namespace nearwarp::report
