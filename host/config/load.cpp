// Loads configuration files by name or path, with overrides.
#include <fmt/format.h>

#include <map>
#include <tuple>
#include <utility>

#include "host/config/config.h"
#include "host/config/error_at.h"
#include "host/config/find.h"
#include "host/config/overrides.h"
#include "host/config/read.h"
#include "host/config/rules.h"
#include "host/config/schema.h"
#include "host/config/vault_standard.h"
#include "host/core/error.h"

namespace nearwarp::config {
namespace {

/// Notes overrides of keys that the policy's mechanisms lack. They are no error yet, since an
/// override is applied to all policies of a run; see refuse_without_effect().
void note_without_effect(PolicyConfig& policy, std::span<const std::string> overrides) {
  for (const std::string& text : overrides) {
    const Key<PolicyConfig>* key = find_key<PolicyConfig>(split_override(text).key);
    if (key != nullptr && !applies(*key, policy)) policy.without_effect.push_back(text);
  }
}

/// The energy file that a machine names, with the overrides of its keys.
EnergyConfig load_named_energy(Loader::Files& files, const MachineConfig& machine,
                               std::span<const std::string> overrides, const PlaceOf& place_of);

/// Throws for a key that machines of this shape do not have, since it has no effect.
void check_shape(const MachineConfig& machine, const Places& places) {
  std::string shape;
  for (const Key<MachineConfig>& key : machine_keys()) {
    const auto at = places.find(key.path);
    if (at == places.end() || applies(key, machine)) continue;
    fail_by_place(
        at->second,
        parts_at(at->second,
                 fmt::format("{} ({}) is a key of machines with machine.shape = {}", key.path,
                             at->second, allowed(&shape, 0, 0, false, key.shapes)),
                 fmt::format("this one is \"{}\"", machine.shape)));
  }
}

}  // namespace

/// Files that have been read, before overrides, by name and by the DRAM standard that replaces the
/// file's own.
struct Loader::Files {
  template <class Config>
  struct Read {
    Config config;
    Places places;
  };
  template <class Config>
  using Kept = std::map<std::string, Read<Config>>;

  template <class Config>
  const Read<Config>& read(std::string_view kind, const std::string& name_or_path,
                           std::string_view standard) {
    const std::string key = fmt::format("{}\n{}", name_or_path, standard);
    auto& kept = std::get<Kept<Config>>(all);
    const auto at = kept.find(key);
    if (at != kept.end()) return at->second;
    Read<Config> read;
    read.config =
        read_file<Config>(find_config(kind, name_or_path).string(), read.places, standard);
    return kept.emplace(key, std::move(read)).first->second;
  }

  std::tuple<Kept<MachineConfig>, Kept<PolicyConfig>, Kept<EnergyConfig>> all;
};

namespace {

/// The value of the last override of dram.standard; its timings are taken before other overrides.
std::string_view standard_of(std::span<const std::string> overrides) {
  std::string_view standard;
  for (const std::string& text : overrides) {
    const Override change = split_override(text);
    if (change.key == "dram.standard") standard = unquoted(change.value);
  }
  return standard;
}

/// Applies overrides to a configuration and checks it.
template <class Config>
Config settled(Loader::Files& files, Config config, Places places,
               std::span<const std::string> overrides) {
  for (const std::string& text : overrides) override_key<Config>(config, text, &places);
  if constexpr (std::is_same_v<Config, MachineConfig>) {
    check_shape(config, places);
    settle_timings(config, places);
  }
  if constexpr (std::is_same_v<Config, PolicyConfig>) {
    note_without_effect(config, overrides);
    require_keys(config, places);
  }
  const PlaceOf place_of = [&](std::string_view path) {
    const auto at = places.find(path);
    return at != places.end() ? at->second : config.path;  // an optional key that was left out
  };
  check_rules(config, place_of);
  if constexpr (std::is_same_v<Config, MachineConfig>) {
    config.energy = load_named_energy(files, config, overrides, place_of);
  }
  return config;
}

template <class Config>
Config load(Loader::Files& files, std::string_view kind, const std::string& name_or_path,
            std::span<const std::string> overrides) {
  const auto& read = files.read<Config>(kind, name_or_path, standard_of(overrides));
  return settled<Config>(files, read.config, read.places, overrides);
}

template <class Config>
Config parse(const std::string& text, const std::string& name,
             std::span<const std::string> overrides) {
  Loader::Files files;
  Places places;
  Config config = read_text<Config>(text, name, name, places, standard_of(overrides));
  return settled<Config>(files, std::move(config), std::move(places), overrides);
}

EnergyConfig load_named_energy(Loader::Files& files, const MachineConfig& machine,
                               std::span<const std::string> overrides, const PlaceOf& place_of) {
  std::string file;
  const std::string place = place_of("energy.model");
  try {
    file = find_config("energy", machine.energy_model, folder_of(place)).string();
  } catch (const Error& error) {
    const std::string text = fmt::format("{} (energy.model, {})", error.what(), place);
    if (is_change(place)) throw UsageError(text);
    throw Error(text);
  }
  return load<EnergyConfig>(files, "energy", file, overrides);
}

/// Throws for overrides without effect on a policy that is loaded alone.
PolicyConfig by_itself(PolicyConfig policy) {
  const PolicyConfig* const only = &policy;
  refuse_without_effect({&only, 1});
  return policy;
}

}  // namespace

Loader::Loader() : files_(std::make_unique<Files>()) {}
Loader::~Loader() = default;
MachineConfig Loader::machine(const std::string& name_or_path,
                              std::span<const std::string> overrides) {
  return load<MachineConfig>(*files_, "machines", name_or_path, overrides);
}
PolicyConfig Loader::policy(const std::string& name_or_path,
                            std::span<const std::string> overrides) {
  return load<PolicyConfig>(*files_, "policies", name_or_path, overrides);
}

MachineConfig load_machine(const std::string& name_or_path,
                           std::span<const std::string> overrides) {
  return Loader().machine(name_or_path, overrides);
}
PolicyConfig load_policy(const std::string& name_or_path, std::span<const std::string> overrides) {
  return by_itself(Loader().policy(name_or_path, overrides));
}

MachineConfig parse_machine(const std::string& text, const std::string& name,
                            std::span<const std::string> overrides) {
  return parse<MachineConfig>(text, name, overrides);
}
PolicyConfig parse_policy(const std::string& text, const std::string& name,
                          std::span<const std::string> overrides) {
  return by_itself(parse<PolicyConfig>(text, name, overrides));
}

EnergyConfig load_energy(const std::string& name_or_path, std::span<const std::string> overrides) {
  Loader::Files files;
  return load<EnergyConfig>(files, "energy", name_or_path, overrides);
}
DramConfig read_dram(const std::string& name_or_path) {
  Places places;
  return read_file<DramConfig>(find_config("dram", name_or_path).string(), places);
}
DramConfig load_dram(const std::string& name_or_path, std::span<const std::string> overrides) {
  Places places;
  DramConfig config = read_file<DramConfig>(find_config("dram", name_or_path).string(), places);
  for (const std::string& text : overrides) override_own(config, text, places);
  settle_timings(config, places);
  check_rules(config, [&](std::string_view path) {
    const auto at = places.find(path);
    return at != places.end() ? at->second : config.path;  // an optional key that was left out
  });
  return config;
}
AreaConfig load_area(const std::string& name_or_path, std::span<const std::string> overrides) {
  Places places;
  AreaConfig config = read_file<AreaConfig>(find_config("area", name_or_path).string(), places);
  for (const std::string& text : overrides) override_own(config, text, places);
  return config;
}
}  // namespace nearwarp::config
