#include "host/mechanisms/mpu/area/area.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "host/config/shape.h"
#include "host/core/error.h"
#include "host/core/json_as_text.h"
#include "host/mechanisms/mpu/settings.h"

namespace nearwarp::mpu {
namespace {

constexpr uint64_t kNm2OfUm2 = 1'000'000, kNm2OfMm2 = kNm2OfUm2 * 1'000'000;
constexpr uint64_t kLanes = 32, kWordBits = 32;
constexpr uint64_t kOperands = 3;      ///< of an instruction in an operand collector, at most
constexpr uint64_t kLineBits = 1024;   ///< 128 bytes
constexpr uint64_t kPaperBuffers = 4;  ///< row buffers per bank for which area.row_latches counts

const char* name_of(Die die) { return die == Die::kDram ? "DRAM" : "logic"; }

/// Adds parts to a report, with the area that each takes on its die.
struct Lister {
  const config::AreaConfig& area;
  AreaReport& report;

  void add(Die die, const char* name, const char* of, uint64_t count, uint64_t nm2) const {
    if (die == Die::kDram) nm2 = nm2 * area.process_percent / 100;
    report.parts.push_back({die, name, of, count, nm2});
  }
};

double mm2(uint64_t nm2) { return static_cast<double>(nm2) / static_cast<double>(kNm2OfMm2); }

}  // namespace

uint64_t AreaReport::added_nm2(Die die) const {
  uint64_t sum = 0;
  for (const AreaPart& part : parts)
    if (part.die == die) sum += part.total_nm2();
  return sum;
}
double AreaReport::share(const AreaPart& part) const {
  return static_cast<double>(part.total_nm2()) /
         static_cast<double>(part.die == Die::kDram ? dram_nm2 : logic_nm2);
}
double AreaReport::share(Die die) const {
  return static_cast<double>(added_nm2(die)) /
         static_cast<double>(die == Die::kDram ? dram_nm2 : logic_nm2);
}

AreaReport area_of(const config::MachineConfig& machine, const config::PolicyConfig& policy,
                   const config::AreaConfig& area) {
  if (!config::shape_of(machine).in_banks())
    throw Error(
        fmt::format("machine '{}' has no processors below their memory (machine.shape = "
                    "\"{}\") - an area report is of \"near_bank\" machines, as mpu",
                    machine.name, machine.shape));
  const bool near = config::has_mechanism(policy, "mpu");
  const uint64_t cores = machine.gpu.sms / machine.near_bank.processors;
  const uint64_t subcores = cores * machine.sm.schedulers, units = cores * machine.near_bank.units;
  const uint64_t lanes = kLanes * area.lane_um2 * kNm2OfUm2;
  const auto collectors = [&](uint64_t instructions) {
    return instructions * kOperands * kLanes * kWordBits * area.sram_nm2_per_bit;
  };
  const auto registers = [&](uint64_t count) {
    return count * kWordBits * area.register_nm2_per_bit;
  };
  const uint64_t shared = uint64_t{machine.sm.shared_memory_bytes} * 8 * area.sram_nm2_per_bit;

  AreaReport report;
  report.dram_nm2 = area.die_mm2 * area.dies * kNm2OfMm2;
  report.logic_nm2 = area.die_mm2 * kNm2OfMm2;
  const Lister list{area, report};
  if (near) {
    list.add(Die::kDram, "vector ALU", "unit", units, lanes);
    list.add(Die::kDram, "near-bank register file", "unit", units,
             registers(policy.table<Settings>().near_registers / machine.near_bank.units));
    list.add(Die::kDram, "operand collector", "unit", units,
             collectors(policy.table<Settings>().collectors));
    list.add(Die::kDram, "LSU-Extension", "unit", units,
             area.lsu_lines * kLineBits * area.sram_nm2_per_bit);
    list.add(Die::kDram, "memory controller", "unit", units, area.controller_um2 * kNm2OfUm2);
    if (policy.table<Settings>().shared_memory == "near")
      list.add(Die::kDram, "shared memory", "core", cores, shared);
  }
  if (machine.dram.row_buffers > 1) {
    const uint64_t latches =
        (area.row_latches * (machine.dram.row_buffers - 1) + kPaperBuffers - 2) /
        (kPaperBuffers - 1);
    list.add(Die::kDram, "latches of row addresses", "unit", units,
             latches * area.latch_nm2_per_bit);
  }
  list.add(Die::kLogic, "vector ALU", "subcore", subcores, lanes);
  list.add(Die::kLogic, "register file", "subcore", subcores,
           registers(machine.sm.registers / machine.sm.schedulers));
  list.add(Die::kLogic, "operand collector", "subcore", subcores,
           collectors(policy.table<Settings>().collectors));
  list.add(Die::kLogic, "pipeline", "subcore", subcores, area.pipeline_um2 * kNm2OfUm2);
  list.add(Die::kLogic, "instruction cache", "core", cores,
           area.instruction_cache_bytes * 8 * area.sram_nm2_per_bit);
  list.add(Die::kLogic, "router", "core", cores, area.router_um2 * kNm2OfUm2);
  if (!near || policy.table<Settings>().shared_memory != "near")
    list.add(Die::kLogic, "shared memory", "core", cores, shared);
  if (!near)
    list.add(Die::kLogic, "memory controller", "unit", units, area.controller_um2 * kNm2OfUm2);
  return report;
}

std::string area_text(const AreaReport& report) {
  std::string text = fmt::format("{:<6} {:<32} {:>6} {:>11} {:>9} {:>9}\n", "die", "part", "count",
                                 "um2 each", "mm2", "of die %");
  text += std::string(78, '-') + "\n";
  for (const Die die : {Die::kDram, Die::kLogic}) {
    bool any = false;
    for (const AreaPart& part : report.parts) {
      if (part.die != die) continue;
      any = true;
      text += fmt::format("{:<6} {:<32} {:>6} {:>11} {:>9.3f} {:>9.2f}\n", name_of(die),
                          fmt::format("{} ({})", part.name, part.of), part.count,
                          part.nm2 / kNm2OfUm2, mm2(part.total_nm2()), 100 * report.share(part));
    }
    text += fmt::format("{:<6} {:<32} {:>6} {:>11} {:>9.3f} {:>9.2f}\n", name_of(die),
                        any ? "all" : "nothing is added", "", "", mm2(report.added_nm2(die)),
                        100 * report.share(die));
  }
  return text;
}

std::string area_json(const AreaReport& report, const config::MachineConfig& machine,
                      const config::PolicyConfig& policy, const config::AreaConfig& area) {
  nlohmann::ordered_json json;
  json["schema"] = "nearwarp.area/1";
  json["machine"] = machine.name;
  json["policy"] = policy.name;
  json["area"] = area.name;
  json["technology_nm"] = area.technology_nm;
  json["processors"] = machine.near_bank.processors;
  json["parts"] = nlohmann::ordered_json::array();
  for (const AreaPart& part : report.parts)
    json["parts"].push_back({{"die", name_of(part.die)},
                             {"part", part.name},
                             {"of", part.of},
                             {"count", part.count},
                             {"each_nm2", part.nm2},
                             {"share_of_dies", report.share(part)}});
  for (const Die die : {Die::kDram, Die::kLogic})
    json["dies"][name_of(die)] = {{"nm2", die == Die::kDram ? report.dram_nm2 : report.logic_nm2},
                                  {"used_nm2", report.added_nm2(die)},
                                  {"share", report.share(die)}};
  return json_as_text(json, 2) + "\n";
}

}  // namespace nearwarp::mpu
