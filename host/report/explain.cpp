// Why candidate blocks were offloaded or not, and what it brought, for people.
#include "host/report/explain.h"

#include <fmt/format.h>

#include "host/report/columns.h"

namespace nearwarp::report {
namespace {

std::string mean(uint64_t sum, uint64_t count) {
  if (count == 0) return "-";
  return fmt::format("{:.0f}", static_cast<double>(sum) / static_cast<double>(count));
}

std::string percent(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f}", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

/// The file names of "folder/a.cu:1-2, folder/a.cu:5" without their folders.
std::string without_folders(const std::string& sources) {
  std::string text;
  for (size_t at = 0; at < sources.size();) {
    const size_t end = std::min(sources.find(", ", at), sources.size());
    const std::string one = sources.substr(at, end - at);
    const size_t slash = one.rfind('/');
    text += (text.empty() ? "" : ", ") + (slash == std::string::npos ? one : one.substr(slash + 1));
    at = end + 2;
  }
  return text;
}

std::vector<Column> columns_of(const RunResult& run) {
  std::vector<Column> c(9);
  const char* const heads[] = {"instances", "offloaded", "condition", "busy", "pending",
                               "learning",  "own %",     "at home",   "offl."};
  for (size_t i = 0; i < c.size(); ++i) c[i].head = heads[i];
  for (const CandidateRow& row : run.candidates) {
    const std::string cells[] = {grouped(row.instances),
                                 grouped(row.offloaded),
                                 grouped(row.refused_condition),
                                 grouped(row.refused_busy),
                                 grouped(row.refused_pending),
                                 grouped(row.learning),
                                 percent(row.local_lines, row.local_lines + row.remote_lines),
                                 mean(row.kept_cycles, row.kept),
                                 mean(row.offloaded_cycles, row.offloaded)};
    for (size_t i = 0; i < c.size(); ++i) c[i].cells.push_back(cells[i]);
  }
  return c;
}

}  // namespace

std::string format_explanation(const RunResult& run, size_t width) {
  if (run.candidates.empty()) return "";
  std::vector<std::string> names;
  std::string sources;
  for (const CandidateRow& row : run.candidates) {
    names.push_back(fmt::format("{} {}", row.kernel, row.id));
    if (!row.source_lines.empty())
      sources +=
          wrapped(fmt::format("{}: {}", names.back(), without_folders(row.source_lines)), width);
  }
  return wrapped(fmt::format(
                     "Candidate blocks under {} (kernel and number, as nearwarp analyze lists "
                     "them): instances that reached the offload controller; of these offloaded, or "
                     "kept because of their condition, a busy channel or the pending limit; "
                     "instances begun while learning the mapping; lines that stack SMs found in "
                     "their own stack; mean core cycles from the controller's decision until the "
                     "warp is beyond the block, at home and offloaded.",
                     run.policy),
                 width) +
         "\n" + columns_text(names, columns_of(run), width) + "\n" + sources;
}

}  // namespace nearwarp::report
