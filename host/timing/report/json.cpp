// Results as JSON for programs.
#include "host/timing/report/json.h"

#include <nlohmann/json.hpp>

#include "host/timing/report/bound.h"
#include "host/timing/report/kernels.h"
#include "host/timing/report/launches.h"
#include "host/timing/report/use_json.h"

namespace nearwarp::report {
namespace {

Json counters_json(const RunResult& run) {
  Json counters = Json::object();
  for (const Counter& counter : run.counters) {
    counters[counter.name] = {
        {"value", counter.value}, {"unit", counter.unit}, {"description", counter.description}};
  }
  return counters;
}

Json kernels_json(const RunResult& run) {
  Json rows = Json::array();
  for (const KernelRow& row : run.kernels) {
    rows.push_back({{"kernel", row.kernel},
                    {"launch", row.launch},
                    {"alike", row.alike},
                    {"stands_for", row.stands_for},
                    {"cycles", row.cycles},
                    {"begin_cycle", row.begin},
                    {"stream", row.stream},
                    {"warp_instructions", row.warp_instructions},
                    {"thread_instructions", row.thread_instructions},
                    {"registers", row.registers},
                    {"registers_source", row.registers_source},
                    {"code", row.code}});
    if (run.launches.has_value() && run.launches->sample.has_value())
      rows.back()["weight"] = row.weight;
  }
  return rows;
}

Json applications_json(const RunResult& run) {
  Json rows = Json::array();
  for (const ApplicationRow& row : run.applications)
    rows.push_back({{"name", row.name},
                    {"cycles", row.cycles},
                    {"warp_instructions", row.warp_instructions},
                    {"thread_instructions", row.thread_instructions}});
  return rows;
}

Json kernel_totals_json(const RunResult& run) {
  Json rows = Json::array();
  for (const KernelSummary& k : summarize_kernels(run)) {
    rows.push_back({{"kernel", k.kernel},
                    {"launches", k.launches},
                    {"distinct_launches", k.distinct},
                    {"simulated_launches", k.simulated},
                    {"estimated_cycles", k.estimated_cycles},
                    {"cycles", k.cycles},
                    {"warp_instructions", k.warp_instructions},
                    {"thread_instructions", k.thread_instructions},
                    {"ipc", k.ipc()},
                    {"candidate_instances", k.instances},
                    {"offloaded_instances", k.offloaded},
                    {"registers", k.registers},
                    {"registers_source", k.registers_source},
                    {"code", k.code},
                    {"sm_cycles", kernel_cycles_json(run, k.kernel)}});
  }
  return rows;
}

Json candidates_json(const RunResult& run) {
  Json rows = Json::array();
  for (const CandidateRow& row : run.candidates) {
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

Json placed_json(const RunResult& run) {
  Json objects = Json::array();
  for (const PlacedObject& o : run.placed)
    objects.push_back({{"name", o.name},
                       {"address", o.address},
                       {"bytes", o.bytes},
                       {"pages", o.localised ? "cgp" : "fgp"},
                       {"block_bytes", o.block_bytes},
                       {"constant", o.constant},
                       {"from_code", o.from_code},
                       {"chunk_bytes", o.chunk_bytes},
                       {"accesses", o.accesses},
                       {"local", o.local},
                       {"unit_bytes", o.unit_bytes},
                       {"warp_accesses", o.warp_accesses},
                       {"near_unit", o.near_unit}});
  return objects;
}

/// An integer while JSON readers keep one exactly in 64 bits, else the nearest number.
Json femtojoules_json(Femtojoules energy) {
  if (energy <= UINT64_MAX) return static_cast<uint64_t>(energy);
  return static_cast<double>(energy);
}

Json energy_json(const RunResult& run) {
  const EnergyReport& e = run.energy;
  Json json;
  json["model"] = e.model;
  json["technology_nm"] = e.technology_nm;
  json["total_joules"] = joules(e.total());
  json["by_board_joules"] = joules(e.by_board);
  json["energy_delay_joule_seconds"] = run.energy_delay_joule_seconds();
  json["parts"] = Json::object();
  for (size_t i = 0; i < kNumEnergyParts; ++i) {
    const auto part = static_cast<EnergyPart>(i);
    json["parts"][energy_part_name(part)] = joules(e.part(part));
  }
  json["terms"] = Json::array();
  for (const EnergyTerm& t : e.terms) {
    json["terms"].push_back({{"part", energy_part_name(t.part)},
                             {"name", t.name},
                             {"counters", t.counters},
                             {"count", t.count},
                             {"constant", t.constant},
                             {"value", t.value},
                             {"times", t.times},
                             {"over", t.over},
                             {"femtojoules", femtojoules_json(t.energy)}});
  }
  return json;
}

/// "4" as the number, "true" as the truth value, "\"gto\"" as the text: TOML's scalars are JSON's.
Json value_json(const std::string& text) {
  Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? Json(text) : value;
}

}  // namespace

Json run_json(const RunResult& run) {
  Json json;
  json["workload"] = run.workload;
  json["size"] = run.size;
  json["machine"] = run.machine;
  json["policy"] = run.policy;
  json["overrides"] = run.overrides;
  json["status"] = run.partial ? "partial" : "complete";
  if (run.partial) json["partial_reason"] = run.partial_reason;
  if (run.launches.has_value()) json["launches"] = launches_json(*run.launches);
  json["core_mhz"] = run.core_mhz;
  json["cycles"] = run.cycles;
  json["warp_instructions"] = run.warp_instructions;
  json["thread_instructions"] = run.thread_instructions;
  json["offloaded_thread_instructions"] = run.offloaded_thread_instructions;
  json["ipc"] = run.ipc();
  json["offloaded_fraction"] = run.offloaded_fraction();
  json["traffic"] = {{"gpu_to_memory_bytes", run.traffic.gpu_to_memory_bytes},
                     {"memory_to_gpu_bytes", run.traffic.memory_to_gpu_bytes},
                     {"memory_to_memory_bytes", run.traffic.memory_to_memory_bytes}};
  json["bandwidth_used"] = {{"gpu_to_memory", run.link_use.gpu_to_memory()},
                            {"memory_to_gpu", run.link_use.memory_to_gpu()},
                            {"higher", run.link_use.higher()}};
  json["bound"] = bound_text(run);
  json["sm_cycles"] = sm_cycles_json(run);
  json["utilisation"] = utilisation_json(run);
  if (!run.networks.empty()) json["networks"] = networks_json(run);
  json["energy"] = energy_json(run);
  json["host"] = {{"wall_seconds", run.wall_seconds},
                  {"warp_instructions_per_second", run.warp_instructions_per_second()},
                  {"cycles_per_second", run.cycles_per_second()}};
  json["kernels"] = kernels_json(run);
  if (!run.applications.empty()) json["applications"] = applications_json(run);
  json["kernel_totals"] = kernel_totals_json(run);
  json["candidates"] = candidates_json(run);
  if (run.mapping.has_value()) json["mapping"] = mapping_json(*run.mapping);
  if (!run.placed.empty()) json["placement"] = placed_json(run);
  json["counters"] = counters_json(run);
  return json;
}

std::string format_json(std::span<const RunResult> runs, const RunContext& context) {
  Json document;
  document["schema"] = kRunSchema;
  document["nearwarp_version"] = context.version;
  Json machine = Json::object();
  for (const auto& [key, value] : context.machine) machine[key] = value_json(value);
  document["machine"] = machine;
  document["runs"] = Json::array();
  for (const RunResult& run : runs) document["runs"].push_back(run_json(run));
  // Names of files may hold bytes that are not UTF-8: replaced, not thrown over.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nearwarp::report
