// TOM's and tuned offloading's members of a run in JSON.
#include "host/mechanisms/tom/report/sections.h"

namespace nearwarp::tom {
namespace {

using namespace report;

Json candidates_json(const RunResult& run) {
  Json rows = Json::array();
  for (const CandidateRow& row : candidates_of(run)) {
    rows.push_back({{"kernel", row.kernel},
                    {"id", row.id},
                    {"source_lines", row.source_lines},
                    {"instances", row.instances},
                    {"offloaded", row.offloaded},
                    {"refused_condition", row.refused_condition},
                    {"refused_busy", row.refused_busy},
                    {"refused_pending", row.refused_pending},
                    {"no_memory_access", row.no_memory_access},
                    {"learning", row.learning},
                    {"local_lines", row.local_lines},
                    {"remote_lines", row.remote_lines},
                    {"kept", row.kept},
                    {"kept_cycles", row.kept_cycles},
                    {"returned", row.returned},
                    {"offloaded_cycles", row.offloaded_cycles},
                    {"stack_slots", row.stack_slots},
                    {"home_warps", row.home_warps}});
    if (row.entries == 0) continue;
    rows.back()["rounds"] = {{"entries", row.entries},
                             {"sent_back", row.sent_back},
                             {"home", row.home_rounds},
                             {"home_cycles", row.home_cycles},
                             {"near", row.near_rounds}};
    if (row.shared.empty()) continue;
    rows.back()["shared"] = {{"use", row.shared},
                             {"bytes", row.shared_bytes},
                             {"refused", row.refused_shared},
                             {"table_bytes", row.table_bytes},
                             {"merged_bytes", row.merged_bytes},
                             {"merge_cycles", row.merge_cycles}};
  }
  return rows;
}

Json mapping_json(const MappingReport& m) {
  Json json;
  json["source"] = m.learnt ? "learnt" : "known";
  json["applied"] = m.applied;
  if (m.applied) json["bits"] = {m.first_bit, m.last_bit};
  json["instances"] = {{"total", m.total_instances}, {"seen", m.seen_instances}};
  if (m.learnt) {
    json["instances"]["wanted"] = m.wanted_instances;
    if (m.applied) json["instances"]["few"] = m.by_few();
    json["interrupt_cycle"] = m.interrupt_cycle;
    json["standstill_cycle"] = m.standstill_cycle;
    json["resume_cycle"] = m.resume_cycle;
  }
  json["accesses"] = m.seen_accesses;
  json["scores"] = Json::array();
  for (const MappingScore& s : m.scores)
    json["scores"].push_back({{"first_bit", s.first_bit},
                              {"at_destination", s.at_destination},
                              {"one_stack", s.one_stack}});
  json["ranges"] = Json::array();
  for (const MappedRange& r : m.ranges)
    json["ranges"].push_back(
        {{"name", r.name}, {"address", r.address}, {"bytes", r.bytes}, {"remapped", r.remapped}});
  json["ranges_left_out"] = m.ranges_left_out;
  return json;
}

}  // namespace

void add_members(const RunResult& run, Json& json) {
  json["candidates"] = candidates_json(run);
  if (mapping_of(run).has_value()) json["mapping"] = mapping_json(*mapping_of(run));
}

NearLines near_lines(const Json& run, const std::string& kernel) {
  NearLines lines;
  for (const Json& c : run.value("candidates", Json::array())) {
    if (c.value("kernel", "") != kernel) continue;
    lines.local += c.value("local_lines", uint64_t{0});
    lines.remote += c.value("remote_lines", uint64_t{0});
  }
  return lines;
}

}  // namespace nearwarp::tom
