// The section of reports on candidate blocks: why they were offloaded or not, and what it saved.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "host/mechanisms/tom/report/sections.h"
#include "host/timing/report/columns.h"

namespace nearwarp::tom {
namespace {

using namespace report;

std::string decimal(double value, int digits) {
  return value == 0 ? "-" : fmt::format("{:.{}f}", value, digits);
}

/// A candidate's name, such as "kernel 3". The kernel's name is cut so that half the width is left
/// for numbers.
std::string name_of(const CandidateRow& row, size_t width) {
  const std::string id = fmt::format(" {}", row.id);
  const size_t most = std::max<size_t>(width / 2, 20) - id.size();
  if (row.kernel.size() <= most) return row.kernel + id;
  return row.kernel.substr(0, most - 2) + ".." + id;
}

struct Metric {
  const char* head;
  std::string (*text)(const CandidateRow&);
};
constexpr char kNoAccess[] = "no access";
constexpr Metric kMetrics[] = {
    {"instances", [](const CandidateRow& r) { return grouped(r.instances); }},
    {"offloaded", [](const CandidateRow& r) { return grouped(r.offloaded); }},
    {"condition", [](const CandidateRow& r) { return grouped(r.refused_condition); }},
    {"busy", [](const CandidateRow& r) { return grouped(r.refused_busy); }},
    {"pending", [](const CandidateRow& r) { return grouped(r.refused_pending); }},
    {kNoAccess, [](const CandidateRow& r) { return grouped(r.no_memory_access); }},
    {"learning", [](const CandidateRow& r) { return grouped(r.learning); }},
    {"local lines", [](const CandidateRow& r) { return grouped(r.local_lines); }},
    {"remote lines", [](const CandidateRow& r) { return grouped(r.remote_lines); }},
    {"local %",
     [](const CandidateRow& r) { return percent(r.local_lines, r.local_lines + r.remote_lines); }},
    {"at home", [](const CandidateRow& r) { return mean(r.kept_cycles, r.kept); }},
    {"offl.", [](const CandidateRow& r) { return mean(r.offloaded_cycles, r.returned); }},
    {"S", [](const CandidateRow& r) { return grouped(r.stack_slots); }},
    {"H", [](const CandidateRow& r) { return grouped(r.home_warps); }},
    {"r", [](const CandidateRow& r) { return decimal(r.advantage(), 2); }},
    {"steady %", [](const CandidateRow& r) { return decimal(100 * r.steady_share(), 1); }},
    {"reached %", [](const CandidateRow& r) { return decimal(100 * r.offloaded_share(), 1); }},
};

/// Further columns under tuned offloading.
constexpr Metric kRoundMetrics[] = {
    {"entries", [](const CandidateRow& r) { return grouped(r.entries); }},
    {"trials", [](const CandidateRow& r) { return grouped(r.instances); }},
    {"returned", [](const CandidateRow& r) { return grouped(r.returned); }},
    {"at end", [](const CandidateRow& r) { return grouped(r.returned - r.sent_back); }},
    {"sent back", [](const CandidateRow& r) { return grouped(r.sent_back); }},
    {"rounds, home", [](const CandidateRow& r) { return grouped(r.home_rounds); }},
    {"rounds, near", [](const CandidateRow& r) { return grouped(r.near_rounds); }},
    {"near %",
     [](const CandidateRow& r) { return percent(r.near_rounds, r.home_rounds + r.near_rounds); }},
    {"cycles, home", [](const CandidateRow& r) { return mean(r.home_cycles, r.home_rounds); }},
    {"cycles, near", [](const CandidateRow& r) { return mean(r.offloaded_cycles, r.near_rounds); }},
};

/// Further columns if candidates have shared arrays that are sent along.
constexpr Metric kSharedMetrics[] = {
    {"array", [](const CandidateRow& r) { return r.shared.empty() ? "-" : r.shared; }},
    {"bytes", [](const CandidateRow& r) { return grouped(r.shared_bytes); }},
    {"no room", [](const CandidateRow& r) { return grouped(r.refused_shared); }},
    {"bytes there", [](const CandidateRow& r) { return grouped(r.table_bytes); }},
    {"bytes back", [](const CandidateRow& r) { return grouped(r.merged_bytes); }},
    {"wait", [](const CandidateRow& r) { return mean(r.merge_cycles, r.returned); }},
};

std::vector<Column> cells_of(const RunResult& run, std::span<const Metric> metrics) {
  std::vector<Column> columns;
  for (const Metric& m : metrics) {
    Column c{m.head, {}};
    for (const CandidateRow& row : candidates_of(run)) c.cells.push_back(m.text(row));
    columns.push_back(std::move(c));
  }
  return columns;
}

bool has_shared(const RunResult& run) {
  return std::any_of(candidates_of(run).begin(), candidates_of(run).end(),
                     [](const CandidateRow& r) { return !r.shared.empty(); });
}

bool has_rounds(const RunResult& run) {
  return std::any_of(candidates_of(run).begin(), candidates_of(run).end(),
                     [](const CandidateRow& r) { return r.entries != 0; });
}

constexpr char kCandidatesLegend[] =
    "Candidate blocks (kernel and number, as nearwarp analyze lists them): instances that reached "
    "the offload controller; of these offloaded, or kept because of their condition, a busy "
    "channel, the pending limit, or because they left the block before its first access (only "
    "shown if there are such); instances begun while learning the mapping; lines that stack SMs "
    "sent to their own stack (local) and to others (remote); mean core cycles from the "
    "controller's decision until the warp is beyond the block, at home (if the condition held) "
    "and offloaded. S warps of stack SMs and H of main SMs can execute it at a time; r: time at "
    "home over time offloaded; if all of them always did, S r / (S r + H) of the instances would "
    "be offloaded (steady); reached: of those whose condition held.";
constexpr char kRoundsLegend[] =
    "Loops: times that a warp came to the block, and trials to offload it; returns from stack SMs, "
    "at the block's end and by the memory traffic monitor, which sends back what goes too often to "
    "other stacks; rounds of its loops on the main GPU and on stack SMs; mean core cycles of a "
    "warp per round at home, and near memory from the trial to the return.";
constexpr char kSharedLegend[] =
    "Shared arrays: what an offloaded warp does with the one that goes along, and its bytes; "
    "instances kept because the stack SM's shared memory had no room; bytes sent and come back; "
    "mean core cycles that a warp waited, once acknowledged, for what had come back to be merged.";

/// A table under its heading, after a blank line.
std::string table_of(const char* what, const RunResult& run, const std::vector<std::string>& names,
                     std::span<const Metric> metrics, size_t width) {
  return fmt::format("\n{} under {}:\n\n", what, run.policy) +
         columns_text(names, cells_of(run, metrics), width);
}

std::vector<Column> columns_of(const RunResult& run) {
  std::vector<Column> columns;
  const bool all_access =
      std::all_of(candidates_of(run).begin(), candidates_of(run).end(),
                  [](const CandidateRow& r) { return r.no_memory_access == 0; });
  for (const Metric& m : kMetrics) {
    if (all_access && m.head == kNoAccess) continue;  // it is rare, and would be a column of zeros
    Column c{m.head, {}};
    for (const CandidateRow& row : candidates_of(run)) c.cells.push_back(m.text(row));
    columns.push_back(std::move(c));
  }
  return columns;
}

}  // namespace

double CandidateRow::advantage() const {
  if (kept_cycles == 0 || offloaded_cycles == 0) return 0;
  return static_cast<double>(kept_cycles) / static_cast<double>(kept) *
         static_cast<double>(returned) / static_cast<double>(offloaded_cycles);
}

double CandidateRow::steady_share() const {
  const double in_stacks = static_cast<double>(stack_slots) * advantage();
  return in_stacks == 0 ? 0 : in_stacks / (in_stacks + static_cast<double>(home_warps));
}

double CandidateRow::offloaded_share() const {
  const uint64_t held = instances - refused_condition;
  return held == 0 ? 0 : static_cast<double>(offloaded) / static_cast<double>(held);
}

std::string format_candidates(const RunResult& run, size_t width) {
  if (candidates_of(run).empty()) return "";
  std::vector<std::string> names;
  std::string sources;
  for (const CandidateRow& row : candidates_of(run)) {
    names.push_back(name_of(row, width));
    if (!row.source_lines.empty())
      sources +=
          wrapped(fmt::format("{}: {}", names.back(), without_folders(row.source_lines)), width);
  }
  std::string text = fmt::format("Candidate blocks under {}:\n\n", run.policy) +
                     columns_text(names, columns_of(run), width);
  if (has_rounds(run)) text += table_of("Loops", run, names, kRoundMetrics, width);
  if (has_shared(run)) text += table_of("Shared arrays", run, names, kSharedMetrics, width);
  return text + "\n" + sources;
}

std::span<const Legend> candidate_legends() {
  static constexpr Legend kLegends[] = {
      {kCandidatesLegend, [](const RunResult& r) { return !candidates_of(r).empty(); }},
      {kRoundsLegend, has_rounds},
      {kSharedLegend, has_shared},
  };
  return kLegends;
}

}  // namespace nearwarp::tom
