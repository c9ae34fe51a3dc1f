// Findings of probes, for people and for programs.
#include "host/timing/probe/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "host/config/config.h"
#include "host/core/json_as_text.h"
#include "host/timing/report/columns.h"

namespace nearwarp::probe {
namespace {

using Json = nlohmann::ordered_json;
/// Below it a value is marked: it is not of what its name says alone.
constexpr double kAsMeant = 0.98;

std::string mark(const Finding& f) { return f.as_meant < kAsMeant ? "*" : " "; }

std::string latencies_text(const config::MachineConfig& m, const Section& section,
                           const std::vector<std::optional<Finding>>& findings, size_t width) {
  std::vector<std::string> names;
  report::Column cycles{"core cycles ", {}}, ns{"ns", {}};
  for (size_t i = 0; i < findings.size(); ++i) {
    if (!findings[i].has_value()) continue;
    const double latency = findings[i]->latency();
    names.push_back(section.probes[i].name);
    cycles.cells.push_back(fmt::format("{:.1f}{}", latency, mark(*findings[i])));
    ns.cells.push_back(fmt::format("{:.1f}", latency * 1e3 / m.clocks.core_mhz));
  }
  return report::columns_text(names, {cycles, ns}, width);
}

std::string bandwidths_text(const config::MachineConfig& m, const Section& section,
                            const std::vector<std::optional<Finding>>& findings, size_t width) {
  std::vector<std::string> names;
  report::Column reached{"GB/s ", {}}, bound{"bound", {}}, share{"share [%]", {}}, part{"of", {}};
  for (size_t i = 0; i < findings.size(); ++i) {
    if (!findings[i].has_value()) continue;
    const double found = findings[i]->gigabytes_per_second(m.clocks.core_mhz);
    const Bound& b = section.probes[i].bound;
    names.push_back(section.probes[i].name);
    reached.cells.push_back(fmt::format("{:.1f}{}", found, mark(*findings[i])));
    bound.cells.push_back(fmt::format("{:.1f}", b.gigabytes_per_second));
    share.cells.push_back(fmt::format("{:.1f}", 100 * found / b.gigabytes_per_second));
    part.cells.push_back(b.part);
  }
  return report::columns_text(names, {reached, bound, share, part}, width);
}

bool any_marked(const Findings& findings) {
  for (const auto& section : findings)
    for (const auto& f : section)
      if (f.has_value() && f->as_meant < kAsMeant) return true;
  return false;
}

Json probe_json(const config::MachineConfig& m, const Section& section, const Probe& probe,
                const Finding& f) {
  Json json;
  json["name"] = probe.name;
  if (section.latencies) {
    json["core_cycles"] = f.latency();
    json["nanoseconds"] = f.latency() * 1e3 / m.clocks.core_mhz;
  } else {
    const double found = f.gigabytes_per_second(m.clocks.core_mhz);
    json["gigabytes_per_second"] = found;
    json["bound"] = {{"gigabytes_per_second", probe.bound.gigabytes_per_second},
                     {"of", probe.bound.part},
                     {"share", found / probe.bound.gigabytes_per_second}};
  }
  json["between_two_runs"] = {{"core_cycles", f.cycles},
                              {section.latencies ? "steps" : "bytes", f.work}};
  json["share_as_meant"] = f.as_meant;
  return json;
}

}  // namespace

std::string table_text(const config::MachineConfig& machine, const std::vector<Section>& sections,
                       const Findings& findings, size_t width) {
  std::string text = report::wrapped(machine.name + ": " + machine.description, width);
  for (size_t i = 0; i < sections.size(); ++i) {
    const auto& found = findings[i];
    if (std::none_of(found.begin(), found.end(), [](const auto& f) { return f.has_value(); }))
      continue;
    const Section& s = sections[i];
    text += fmt::format("\n{}\n", s.latencies ? s.title : "bandwidth that is reached, " + s.title);
    text += s.latencies ? latencies_text(machine, s, found, width)
                        : bandwidths_text(machine, s, found, width);
  }
  text += "\n" + report::wrapped(
                     "latency: from load to use of a lone thread; GB/s: of what a program reads "
                     "and writes; bound: of the narrowest part of the way by the machine's keys, "
                     "packet headers included (docs/probe.md)",
                     width);
  if (any_marked(findings))
    text += report::wrapped("*: less than 98 % of the accesses went where the name says", width);
  return text;
}

std::string json_text(const config::MachineConfig& machine, const std::vector<Section>& sections,
                      const Findings& findings, const std::string& version) {
  Json json;
  json["schema"] = kProbeSchema;
  json["version"] = version;
  json["machine"] = machine.name;
  Json keys = Json::object();
  for (const config::KeyDescription& key : config::describe_whole(machine)) {
    Json value = Json::parse(key.value, nullptr, false);
    keys[key.key] = value.is_discarded() ? Json(key.value) : value;
  }
  json["keys"] = keys;
  bool partial = false;
  json["sections"] = Json::array();
  for (size_t i = 0; i < sections.size(); ++i) {
    Json section = {{"id", sections[i].id},
                    {"title", sections[i].title},
                    {"kind", sections[i].latencies ? "latency" : "bandwidth"},
                    {"probes", Json::array()}};
    for (size_t k = 0; k < sections[i].probes.size(); ++k) {
      partial |= !findings[i][k].has_value();
      if (findings[i][k].has_value())
        section["probes"].push_back(
            probe_json(machine, sections[i], sections[i].probes[k], *findings[i][k]));
    }
    json["sections"].push_back(section);
  }
  json["partial"] = partial;
  return json_as_text(json, 2) + "\n";
}

}  // namespace nearwarp::probe
