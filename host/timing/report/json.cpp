// Results of runs as JSON.
#include "host/timing/report/json.h"

#include <nlohmann/json.hpp>

#include "host/core/json_as_text.h"
#include "host/timing/report/bound.h"
#include "host/timing/report/kernels.h"
#include "host/timing/report/launches.h"
#include "host/timing/report/section.h"
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
                    {"ipc", k.ipc()}});
    Json& row = rows.back();
    for (const MechanismReport* m : mechanism_reports())
      if (m->kernel_members != nullptr) m->kernel_members(run, k.kernel, row);
    row["registers"] = k.registers;
    row["registers_source"] = k.registers_source;
    row["code"] = k.code;
    row["sm_cycles"] = kernel_cycles_json(run, k.kernel);
  }
  return rows;
}

Json phases_json(const RunResult& run) {
  Json rows = Json::array();
  for (const MechanismReport* m : mechanism_reports()) {
    if (m->phases == nullptr) continue;
    for (const Phase& p : m->phases(run).phases)
      rows.push_back({{"name", p.name},
                      {"begin_cycle", p.begin},
                      {"end_cycle", p.end},
                      {"stands_still", p.stands_still}});
  }
  return rows;
}

/// An energy as an integer if 64 bits hold it, else as the nearest floating-point number.
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

}  // namespace

Json value_json(const std::string& toml) {
  Json value = Json::parse(toml, nullptr, false);
  return value.is_discarded() ? Json(toml) : value;
}

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
  json["way"] = way_json(run);
  if (const Json phases = phases_json(run); !phases.empty()) json["phases"] = phases;
  if (!run.networks.empty()) json["networks"] = networks_json(run);
  json["energy"] = energy_json(run);
  json["host"] = {{"wall_seconds", run.wall_seconds},
                  {"warp_instructions_per_second", run.warp_instructions_per_second()},
                  {"cycles_per_second", run.cycles_per_second()}};
  json["kernels"] = kernels_json(run);
  if (!run.applications.empty()) json["applications"] = applications_json(run);
  json["kernel_totals"] = kernel_totals_json(run);
  for (const MechanismReport* m : mechanism_reports())
    if (m->members != nullptr) m->members(run, json);
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
  return json_as_text(document, 2) + "\n";
}

}  // namespace nearwarp::report
