// Names of programs, machines, policies and other files, and their keys.
#include "host/api/nearwarp/catalogue.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/workloads/workload.h"
#include "host/api/failure.h"
#include "host/config/area.h"
#include "host/config/config.h"
#include "host/config/find.h"
#include "host/config/nearest.h"
#include "host/config/schema.h"
#include "host/core/json_as_text.h"
#include "host/core/workers.h"
#include "host/timing/experiment/definition.h"
#include "host/timing/run/cuda_devices.h"

namespace nearwarp {
namespace {

std::vector<CatalogueEntry> workload_entries() {
  std::vector<CatalogueEntry> entries;
  std::string rolled;
  for (const auto& workload : workloads::all()) {
    if (workload->rolled()) {
      rolled += (rolled.empty() ? "" : ", ") + workload->variant_of();
      continue;
    }
    CatalogueEntry entry{workload->name(), workload->description(), workload->source()};
    for (const workloads::Parameter& p : workload->parameters())
      entry.parameters.push_back({p.name, workloads::range_of(p)});
    entries.push_back(std::move(entry));
  }
  entries.push_back({.name = "NAME-rolled",
                     .description = "NAME compiled without unrolling its loops: of " + rolled,
                     .source = "",
                     .stands_for_several = true});
  return entries;
}

/// A file that does not load does not hide the others.
template <auto names, auto load>
std::vector<CatalogueEntry> file_entries() {
  std::vector<CatalogueEntry> entries;
  for (const std::string& name : names()) {
    const auto loaded = guarded([&] { return load(name); });
    entries.push_back({name, loaded ? loaded->description : "", ""});
    if (!loaded) entries.back().failure = loaded.failure();
  }
  return entries;
}

auto load_machine(const std::string& name) { return config::load_machine(name); }
auto load_policy(const std::string& name) { return config::load_policy(name); }
auto load_energy(const std::string& name) { return config::load_energy(name); }
auto load_area(const std::string& name) { return config::load_area(name); }
auto load_dram(const std::string& name) { return config::load_dram(name); }

struct ListedKind {
  const char* name;
  std::vector<CatalogueEntry> (*entries)();
};
constexpr ListedKind kListedKinds[] = {
    {"workloads", workload_entries},
    {"machines", file_entries<config::machine_names, load_machine>},
    {"policies", file_entries<config::policy_names, load_policy>},
    {"energy", file_entries<config::energy_names, load_energy>},
    {"area", file_entries<config::area_names, load_area>},
    {"dram", file_entries<config::dram_names, load_dram>},
    {"experiments", file_entries<experiment::experiment_names, experiment::load_experiment>},
};

/// Keys that apply to `config`, or to anything if it is null.
template <class Config>
void append_keys(const Config* config, std::vector<KeyWords>& all) {
  static Config any;
  for (const config::Key<Config>& key : config::keys<Config>()) {
    if (config != nullptr && !config::applies(key, *config)) continue;
    KeyWords one{std::string(key.path), std::string(key.unit), std::string(key.doc), {}};
    if (std::holds_alternative<bool*>(key.member(any))) one.words = {"false", "true"};
    std::istringstream choices{std::string(key.choices)};
    for (std::string word; choices >> word;) one.words.push_back(word);
    all.push_back(std::move(one));
  }
}
template <auto load>
std::vector<KeyWords> words_of(const std::string& name) {
  std::vector<KeyWords> all;
  using Config = decltype(load(name));
  if (name.empty()) {
    append_keys<Config>(nullptr, all);
  } else {
    const Config config = load(name);
    append_keys(&config, all);
  }
  return all;
}

}  // namespace

std::vector<std::string> catalogue_kinds() {
  std::vector<std::string> names;
  for (const ListedKind& kind : kListedKinds) names.emplace_back(kind.name);
  return names;
}

std::string CatalogueEntry::text() const {
  if (failure.has_value()) return fmt::format("(invalid: {})", failure->message);
  std::string text;
  for (const Parameter& p : parameters)
    text += fmt::format("{} :{}= ({})", text.empty() ? ";" : ",", p.name, p.range);
  return description + text;
}

Expected<std::vector<CatalogueEntry>> catalogue(const std::string& kind) {
  return guarded([&] {
    for (const ListedKind& one : kListedKinds)
      if (kind == one.name) return one.entries();
    throw UsageError(
        fmt::format("cannot list '{}'{}", kind, config::suggestion(kind, catalogue_kinds())));
  });
}

Expected<std::string> catalogue_document(const std::string& kind) {
  const Expected<std::vector<CatalogueEntry>> entries = catalogue(kind);
  if (!entries) return entries.failure();
  return guarded([&] {
    using Json = nlohmann::ordered_json;
    Json json = {{"schema", "nearwarp.list/1"}, {"kind", kind}, {"entries", Json::array()}};
    for (const CatalogueEntry& entry : *entries) {
      json["entries"].push_back({{"name", entry.name}, {"description", entry.text()}});
      if (!entry.source.empty()) json["entries"].back()["source"] = entry.source;
    }
    return json_as_text(json, 1) + "\n";
  });
}

std::vector<std::string> file_kinds() {
  return {"machine", "policy", "energy", "area", "dram", "experiment"};
}

std::vector<std::string> file_names(const std::string& kind) {
  if (kind == "experiment") return experiment::experiment_names();
  return config::config_names(kind == "machine"  ? "machines"
                              : kind == "policy" ? "policies"
                                                 : kind);
}

Expected<std::vector<KeyWords>> key_words(const std::string& kind, const std::string& name) {
  return guarded([&] {
    if (kind == "machine") return words_of<load_machine>(name);
    if (kind == "policy") return words_of<load_policy>(name);
    if (kind == "energy") return words_of<load_energy>(name);
    if (kind == "area") return words_of<load_area>(name);
    if (kind == "dram") return words_of<load_dram>(name);
    if (kind == "experiment") return std::vector<KeyWords>();
    throw UsageError(
        fmt::format("there are no keys of '{}'{}", kind, config::suggestion(kind, file_kinds())));
  });
}

Devices devices() {
  Devices all;
  all.processors = processors();
  const auto found = guarded([&] { return sim::cuda_devices(all.why_no_cuda); });
  if (!found) {
    all.why_no_cuda = found.failure().message;
    return all;
  }
  for (const sim::DeviceInfo& d : *found)
    all.cuda.push_back({.index = d.index,
                        .name = d.name,
                        .architecture = d.architecture,
                        .multiprocessors = d.multiprocessors,
                        .clock_mhz = d.clock_mhz,
                        .memory_bytes = d.memory_bytes,
                        .systems_at_once = d.blocks_at_once,
                        .least_warps = d.warps_per_block,
                        .most_warps = d.warps_per_block * d.largest_team});
  return all;
}

}  // namespace nearwarp
