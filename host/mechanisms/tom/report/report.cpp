// Sections of reports for TOM and tuned offloading.
#include <fmt/format.h>

#include "host/mechanisms/tom/report/sections.h"
#include "host/timing/report/columns.h"
#include "host/timing/report/rows.h"

namespace nearwarp::tom {

using report::RunResult;

// The next two functions are called by report::each_row(), for rows of candidates.
static std::string key(const CandidateRow& c) { return c.kernel + "\n" + std::to_string(c.id); }
static void each_sum(CandidateRow& a, const CandidateRow& b, const report::EachSum& f) {
  for (uint64_t CandidateRow::*m :
       {&CandidateRow::instances,         &CandidateRow::offloaded,
        &CandidateRow::refused_condition, &CandidateRow::refused_busy,
        &CandidateRow::refused_pending,   &CandidateRow::no_memory_access,
        &CandidateRow::learning,          &CandidateRow::local_lines,
        &CandidateRow::remote_lines,      &CandidateRow::kept,
        &CandidateRow::kept_cycles,       &CandidateRow::returned,
        &CandidateRow::offloaded_cycles,  &CandidateRow::entries,
        &CandidateRow::sent_back,         &CandidateRow::home_rounds,
        &CandidateRow::home_cycles,       &CandidateRow::near_rounds,
        &CandidateRow::refused_shared,    &CandidateRow::table_bytes,
        &CandidateRow::merged_bytes,      &CandidateRow::merge_cycles})
    f(a.*m, b.*m);
}

namespace {

void each_sum_of_run(RunResult& run, const RunResult& other, bool add_missing,
                     const report::EachSum& f) {
  report::each_row(candidates_of(run), candidates_of(other), add_missing, f);
}

std::string remark(const RunResult& run) {
  if (!mapping_of(run).has_value() || !mapping_of(run)->by_few()) return "";
  return fmt::format("{}: the mapping of data was learnt. {}.", run.policy,
                     few_instances_text(*mapping_of(run)));
}

std::vector<report::KernelWork> work(const RunResult& run) {
  std::vector<report::KernelWork> of;
  for (const CandidateRow& row : candidates_of(run))
    of.push_back({row.kernel, row.instances, row.offloaded});
  return of;
}

void add_kernel_members(const RunResult& run, const std::string& kernel, report::Json& json) {
  uint64_t instances = 0, offloaded = 0;
  for (const CandidateRow& row : candidates_of(run)) {
    if (row.kernel != kernel) continue;
    instances += row.instances;
    offloaded += row.offloaded;
  }
  json["candidate_instances"] = instances;
  json["offloaded_instances"] = offloaded;
}

report::Phases phases(const RunResult& run) {
  report::Phases all{"mapping of data", {}};
  if (!mapping_of(run).has_value() || !mapping_of(run)->learnt) return all;
  const MappingReport& m = *mapping_of(run);
  if (m.wanted_instances == 0) return all;
  // A run that ended before the phase did was learning all the time.
  const bool seen = m.interrupt_cycle != 0;
  all.phases.push_back({"learns the mapping", 0, seen ? m.interrupt_cycle : run.cycles});
  if (!seen) return all;
  const bool still = m.standstill_cycle != 0;
  all.phases.push_back({"SMs come to a standstill", m.interrupt_cycle,
                        still ? m.standstill_cycle : run.cycles, true});
  if (still)
    all.phases.push_back({"data is put in place", m.standstill_cycle,
                          m.resume_cycle != 0 ? m.resume_cycle : run.cycles, true});
  return all;
}

/// A text on the cycles in which a mapping was learnt, with memory behind PCI-E; empty if they are
/// fewer than `least`.
std::string cost(const report::Json& run, int64_t least) {
  if (!run.contains("mapping")) return "";
  const report::Json& mapping = run.at("mapping");
  if (mapping.value("source", "") != "learnt") return "";
  // A program without candidates has nothing to learn from, and does not wait for it.
  if (mapping.at("instances").at("wanted") == 0) return "";
  const bool applied = mapping.value("applied", false);
  const auto cycles =
      applied ? mapping.value("resume_cycle", int64_t{0}) : run.at("cycles").get<int64_t>();
  if (cycles < least) return "";
  return applied
             ? fmt::format("until the mapping was learnt, memory was behind PCI-E for {} cycles",
                           report::grouped(static_cast<uint64_t>(cycles)))
             : "the mapping was being learnt to the end, with memory behind PCI-E";
}

constexpr const char* kKept[] = {"candidates", "mapping"};

}  // namespace

const report::MechanismReport& report_sections() {
  static const report::MechanismReport report = {
      .tables = [](std::span<const RunResult> runs,
                   size_t width) { return format_mapping(runs, width); },
      .explanation = format_candidates,
      .legends = candidate_legends(),
      .remark = remark,
      .members = add_members,
      .kernel_members = add_kernel_members,
      .work = work,
      .phases = phases,
      .near_lines = near_lines,
      .kept = kKept,
      .page = add_to_page,
      .cost = cost,
      .each_sum = each_sum_of_run,
  };
  return report;
}

}  // namespace nearwarp::tom
