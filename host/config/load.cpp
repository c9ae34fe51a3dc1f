// Reads configuration files and overrides into their structures, strictly.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <sstream>
#include <tuple>

#include "host/config/config.h"
#include "host/config/find.h"
#include "host/config/mechanism.h"
#include "host/config/nearest.h"
#include "host/config/rules.h"
#include "host/config/schema.h"
#include "host/config/vault_standard.h"
#include "host/core/error.h"

namespace nearwarp::config {
namespace {

template <class Config>
std::vector<std::string> key_names() {
  std::vector<std::string> names;
  for (const Key<Config>& key : keys<Config>()) names.emplace_back(key.path);
  return names;
}

/// " - did you mean ...?" for a wrong key; without a near one, the keys of its section.
std::string key_suggestion(std::string_view path, const std::vector<std::string>& names) {
  const std::string near = nearest_name(path, names);
  if (!near.empty()) return fmt::format(" - did you mean '{}'?", near);
  const std::string section(path.substr(0, path.find('.') + 1));
  std::string list;
  for (const std::string& name : names) {
    if (section.empty() || !name.starts_with(section)) continue;
    list += (list.empty() ? "" : ", ") + name.substr(section.size());
  }
  if (!list.empty()) {
    return fmt::format(" - keys of [{}]: {}", section.substr(0, section.size() - 1), list);
  }
  return " - 'nearwarp show machine', 'show policy' and 'show energy' list all keys";
}

template <class Config>
Error bad_value(const Key<Config>& key, const std::string& what, const std::string& where) {
  return Error(fmt::format("{} {} ({}) - allowed: {}{}{}", key.path, what, where, allowed(key),
                           key.unit.empty() ? "" : ", in ", key.unit));
}

/// Store a time for a timing of the DRAM; false if the key has none.
template <class Config>
bool store_time(const Key<Config>& key, Config& config, std::string_view text,
                const std::string& where) {
  if constexpr (requires { config.timing_ps; }) {
    if (!key.in_ns) return false;
    const std::optional<uint64_t> ps = picoseconds(text);
    if (!ps)
      throw Error(
          fmt::format("{} cannot be \"{}\" ({}) - allowed: {} DRAM cycles, or a time as in "
                      "\"13.75 ns\"",
                      key.path, text, where, allowed(key)));
    config.timing_ps[std::string(key.path)] = *ps;
    return true;
  } else {
    return false;
  }
}

/// Store a number; throws if it does not fit or breaks the key's range.
template <class Config>
void store_number(const Key<Config>& key, Config& config, int64_t value, const std::string& where) {
  const Member member = key.member(config);
  if (const auto* optional = std::get_if<std::optional<uint64_t>*>(&member)) {
    if (value >= 0) **optional = static_cast<uint64_t>(value);
    if (value < 0 || !obeys(key, config)) {
      throw bad_value(key, fmt::format("cannot be {}", value), where);
    }
    return;
  }
  if constexpr (requires { config.timing_ps; }) {
    const auto time = config.timing_ps.find(key.path);
    if (time != config.timing_ps.end()) config.timing_ps.erase(time);
  }
  const bool wide = std::holds_alternative<uint64_t*>(member);
  const bool fits = value >= 0 && (wide || value <= std::numeric_limits<uint32_t>::max());
  if (fits && wide) *std::get<uint64_t*>(member) = static_cast<uint64_t>(value);
  if (fits && !wide) *std::get<uint32_t*>(member) = static_cast<uint32_t>(value);
  if (!fits || !obeys(key, config)) {
    throw bad_value(key, fmt::format("cannot be {}", value), where);
  }
}

template <class Config>
void store_text(const Key<Config>& key, Config& config, std::string value,
                const std::string& where) {
  *std::get<std::string*>(key.member(config)) = value;
  if (!obeys(key, config)) throw bad_value(key, fmt::format("cannot be \"{}\"", value), where);
}

std::string describe_type(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a floating-point number";
    case toml::node_type::boolean:
      return "a truth value";
    default:
      return "a date or time";
  }
}

template <class Config>
void store_node(const Key<Config>& key, Config& config, const toml::node& node,
                const std::string& where) {
  const Member member = key.member(config);
  if (const auto* flag = std::get_if<bool*>(&member)) {
    if (const auto value = node.value_exact<bool>()) {
      **flag = *value;
      return;
    }
  } else if (std::holds_alternative<std::string*>(member)) {
    if (const auto value = node.value_exact<std::string>()) {
      return store_text(key, config, *value, where);
    }
  } else if (const auto* optional = std::get_if<std::optional<uint64_t>*>(&member);
             optional != nullptr && node.value_exact<std::string>() == "unknown") {
    (*optional)->reset();
    return;
  } else if (const auto time = node.value_exact<std::string>();
             time && store_time(key, config, *time, where)) {
    return;
  } else if (const auto value = node.value_exact<int64_t>()) {
    return store_number(key, config, *value, where);
  }
  throw bad_value(key, "cannot be " + describe_type(node), where);
}

/// Take all values of `table`, whose path is `prefix`.
template <class Config>
void store_table(const toml::table& table, const std::string& prefix, const std::string& file,
                 Config& config, Places& places) {
  for (const auto& [name, node] : table) {
    const std::string path = prefix + std::string(name.str());
    const std::string where = fmt::format("{}:{}", file, name.source().begin.line);
    if (const Key<Config>* key = find_key<Config>(path)) {
      store_node(*key, config, node, where);
      places[path] = where;
      continue;
    }
    const std::string section = path + ".";
    bool is_section = false;
    for (const Key<Config>& key : keys<Config>()) {
      is_section = is_section || key.path.starts_with(section);
    }
    if (is_section && node.is_table()) {
      places[path] = where;
      store_table(*node.as_table(), section, file, config, places);
    } else if (is_section) {
      throw Error(fmt::format("{} cannot be {} ({}) - it is a section: [{}]", path,
                              describe_type(node), where, path));
    } else {
      std::vector<std::string> names = key_names<Config>();
      if (node.is_table()) {  // a section's name: compare it with sections' names
        std::vector<std::string> sections;
        for (const std::string& key : names) {
          for (size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1)) {
            if (sections.empty() || sections.back() != key.substr(0, dot)) {
              sections.push_back(key.substr(0, dot));
            }
          }
        }
        throw Error(
            fmt::format("unknown section '{}' ({}){}", path, where, suggestion(path, sections)));
      }
      throw Error(fmt::format("unknown key '{}' ({}){}", path, where, key_suggestion(path, names)));
    }
  }
}

/// Where a missing key belongs: its section's line, or the file.
std::string section_place(std::string_view path, const std::string& file, const Places& places) {
  for (size_t dot = path.rfind('.'); dot != std::string_view::npos;
       dot = path.rfind('.', dot - 1)) {
    const auto at = places.find(path.substr(0, dot));
    if (at != places.end()) return at->second;
    if (dot == 0) break;
  }
  return fmt::format("{}:1", file);
}

/// All keys that a file has to have are there.
template <class Config>
void require_keys(const Config& config, const Places& places) {
  for (const Key<Config>& key : keys<Config>()) {
    if (places.count(key.path) != 0 || key.optional || !applies(key, config)) continue;
    throw Error(fmt::format("missing key '{}' ({}) - {} allowed: {}{}{}", key.path,
                            section_place(key.path, config.path, places), key.doc, allowed(key),
                            key.unit.empty() ? "" : ", in ", key.unit));
  }
}

/// Names of the mechanisms that have a key: "mechanism coda", "mechanisms tom and tuning".
std::string takers(const Key<PolicyConfig>& key) {
  std::vector<std::string_view> names;
  for (const MechanismDeclaration* d : declared_mechanisms()) {
    PolicyConfig policy;
    policy.mechanism = d->name;
    if (policy_has(key, policy)) names.push_back(d->name);
  }
  std::string text = names.size() == 1 ? "mechanism " : "mechanisms ";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

/// A file has no tables of mechanisms that it does not name: they would be of no effect.
void check_tables(const PolicyConfig& policy, const Places& places) {
  for (const Key<PolicyConfig>& key : policy_keys()) {
    const auto at = places.find(key.path);
    if (at == places.end() || applies(key, policy)) continue;
    throw Error(
        fmt::format("{} ({}) is a key of the {} - this policy's mechanism is \"{}\": leave the key "
                    "out, or name one that has it in policy.mechanism",
                    key.path, at->second, takers(key), policy.mechanism));
  }
}

/// `standard`: of a machine's vaults, instead of the one that the file names; empty: that one.
template <class Config>
Config read_file(const std::filesystem::path& path, Places& places,
                 std::string_view standard = {}) {
  const std::string file = path.string();
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw Error(fmt::format("cannot read '{}' - is it a readable text file?", file));
  Config config;
  try {
    const toml::table table = toml::parse(text.str(), file);
    store_table(table, "", file, config, places);
  } catch (const toml::parse_error& error) {
    throw Error(fmt::format("not valid TOML ({}:{}): {} - see https://toml.io", file,
                            error.source().begin.line, error.description()));
  }
  if constexpr (std::is_same_v<Config, MachineConfig>) take_standard(config, standard, places);
  if constexpr (requires { config.timing_ps; }) note_timing_clock(config);
  config.name = path.stem().string();
  config.path = file;
  if constexpr (std::is_same_v<Config, PolicyConfig>) {
    check_tables(config, places);  // others are checked once overrides have named mechanisms
  } else {
    require_keys(config, places);
  }
  return config;
}

struct Override {
  std::string_view key, value;
};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

Override split_override(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || trimmed(text.substr(0, equals)).empty()) {
    throw UsageError(fmt::format("'{}' sets nothing - write --set key=value", text));
  }
  return {trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1))};
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

template <class Config>
void store_override(const Key<Config>& key, Config& config, std::string_view value,
                    const std::string& where) {
  const Member member = key.member(config);
  if (const auto* flag = std::get_if<bool*>(&member)) {
    if (value != "true" && value != "false") {
      throw bad_value(key, fmt::format("cannot be '{}'", value), where);
    }
    **flag = value == "true";
  } else if (std::holds_alternative<std::string*>(member)) {
    store_text(key, config, std::string(unquoted(value)), where);
  } else if (const auto* optional = std::get_if<std::optional<uint64_t>*>(&member);
             optional != nullptr && (value == "unknown" || value == "\"unknown\"")) {
    (*optional)->reset();
  } else {
    // As TOML has them: underscores between digits, 0x, 0o, 0b before them.
    std::string digits(value);
    std::erase(digits, '_');
    int base = 10;
    for (const auto& [prefix, of] : {std::pair{"0x", 16}, {"0o", 8}, {"0b", 2}})
      if (digits.starts_with(prefix)) base = of;
    const char* const first = digits.data() + (base == 10 ? 0 : 2);
    int64_t number = 0;
    const auto [end, error] = std::from_chars(first, digits.data() + digits.size(), number, base);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      if (store_time(key, config, unquoted(value), where)) return;
      throw bad_value(key, fmt::format("cannot be '{}'", value), where);
    }
    store_number(key, config, number, where);
  }
}

bool is_key(std::string_view path) {
  return find_key<MachineConfig>(path) != nullptr || find_key<PolicyConfig>(path) != nullptr ||
         find_key<EnergyConfig>(path) != nullptr;
}

/// Apply an override if it names a key of Config; returns whether it does. What is wrong with the
/// text is a mistake on the command line.
template <class Config>
bool override_key(Config& config, std::string_view text, Places* places) {
  const Override change = split_override(text);
  const std::string where = fmt::format("--set {}", text);
  const Key<Config>* key = find_key<Config>(change.key);
  if (key != nullptr) {
    try {
      store_override(*key, config, change.value, where);
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
    if (places != nullptr) (*places)[std::string(change.key)] = where;
    return true;
  }
  if (is_key(change.key)) return false;
  std::vector<std::string> names = key_names<MachineConfig>();
  for (std::string& name : key_names<PolicyConfig>()) names.push_back(std::move(name));
  for (std::string& name : key_names<EnergyConfig>()) names.push_back(std::move(name));
  throw UsageError(
      fmt::format("unknown key '{}' ({}){}", change.key, where, key_suggestion(change.key, names)));
}

/// One --set serves several policies, so that a key without effect for this one may have one for
/// another: refuse_without_effect().
void note_without_effect(PolicyConfig& policy, std::span<const std::string> overrides) {
  for (const std::string& text : overrides) {
    const Key<PolicyConfig>* key = find_key<PolicyConfig>(split_override(text).key);
    if (key != nullptr && !applies(*key, policy)) policy.without_effect.push_back(text);
  }
}

/// The energy file that a machine names, with the overrides of its keys.
EnergyConfig load_named_energy(Loader::Files& files, const MachineConfig& machine,
                               std::span<const std::string> overrides, const PlaceOf& place_of);

/// A key that machines of this shape do not have would be of no effect.
void check_shape(const MachineConfig& machine, const Places& places) {
  std::string shape;
  for (const Key<MachineConfig>& key : machine_keys()) {
    const auto at = places.find(key.path);
    if (at == places.end() || applies(key, machine)) continue;
    const std::string text =
        fmt::format("{} ({}) is a key of machines with machine.shape = {} - this one is \"{}\"",
                    key.path, at->second, allowed(&shape, 0, 0, false, key.shapes), machine.shape);
    if (at->second.starts_with("--set")) throw UsageError(text);
    throw Error(text);
  }
}

}  // namespace

/// Files as they are, before overrides; a machine's with every standard that was asked for.
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
    read.config = read_file<Config>(find_config(kind, name_or_path), read.places, standard);
    return kept.emplace(key, std::move(read)).first->second;
  }

  std::tuple<Kept<MachineConfig>, Kept<PolicyConfig>, Kept<EnergyConfig>> all;
};

namespace {

template <class Config>
Config load(Loader::Files& files, std::string_view kind, const std::string& name_or_path,
            std::span<const std::string> overrides) {
  std::string_view standard;  // its timings come before the overrides of single ones
  for (const std::string& text : overrides) {
    const Override change = split_override(text);
    if (change.key == "dram.standard") standard = unquoted(change.value);
  }
  const auto& read = files.read<Config>(kind, name_or_path, standard);
  Config config = read.config;
  Places places = read.places;
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

EnergyConfig load_named_energy(Loader::Files& files, const MachineConfig& machine,
                               std::span<const std::string> overrides, const PlaceOf& place_of) {
  std::string file;
  const std::string place = place_of("energy.model");
  try {
    file = find_config("energy", machine.energy_model, folder_of(place)).string();
  } catch (const Error& error) {
    const std::string text = fmt::format("{} (energy.model, {})", error.what(), place);
    if (place.starts_with("--set")) throw UsageError(text);
    throw Error(text);
  }
  return load<EnergyConfig>(files, "energy", file, overrides);
}

/// Every override must name a key of the file: there is no other kind beside it.
template <class Config>
void override_own(Config& config, std::string_view text, Places& places) {
  const Override change = split_override(text);
  const std::string where = fmt::format("--set {}", text);
  const Key<Config>* key = find_key<Config>(change.key);
  if (key == nullptr) {
    throw UsageError(fmt::format("unknown key '{}' ({}){}", change.key, where,
                                 key_suggestion(change.key, key_names<Config>())));
  }
  try {
    store_override(*key, config, change.value, where);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  places[std::string(change.key)] = where;
}

template <class Config>
void validate_all(Config config, const std::string& where) {  // a copy, as below
  for (const Key<Config>& key : keys<Config>()) {
    if (applies(key, config) && !obeys(key, config)) {
      throw bad_value(key, "cannot be " + value_text(member_of(key, config)), where);
    }
  }
  check_rules(config, [&](std::string_view) { return where; });
}

template <class Config>
std::string values_of(Config config) {  // a copy: reading makes tables that are not there yet
  std::string text;
  for (const Key<Config>& key : keys<Config>())
    if (applies(key, config))
      fmt::format_to(std::back_inserter(text), "{} = {}\n", key.path,
                     value_text(member_of(key, config)));
  return text;
}

template <class Config>
std::vector<KeyDescription> describe_all(Config config) {  // a copy, as above
  std::vector<KeyDescription> rows;
  for (const Key<Config>& key : keys<Config>()) {
    if (!applies(key, config)) continue;
    rows.push_back({std::string(key.path), value_text(member_of(key, config)),
                    std::string(key.unit), std::string(key.doc), allowed(key)});
  }
  return rows;
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
  PolicyConfig policy = Loader().policy(name_or_path, overrides);
  const PolicyConfig* const only = &policy;
  refuse_without_effect({&only, 1});
  return policy;
}

void refuse_without_effect(std::span<const PolicyConfig* const> policies) {
  if (policies.empty()) return;
  for (const std::string& text : policies.front()->without_effect) {
    const std::string_view name = split_override(text).key;
    const auto lacks = [&](const PolicyConfig* p) {
      return std::any_of(p->without_effect.begin(), p->without_effect.end(),
                         [&](const std::string& t) { return split_override(t).key == name; });
    };
    if (!std::all_of(policies.begin(), policies.end(), lacks)) continue;
    std::string are;
    for (const PolicyConfig* p : policies) {
      const std::string is = fmt::format("'{}' has \"{}\"", p->name, p->mechanism);
      if (are.find(is) == std::string::npos) are += (are.empty() ? "" : ", ") + is;
    }
    throw UsageError(
        fmt::format("{} (--set {}) is a key of the {} - {} {}: leave it out, or choose a policy "
                    "with one that has it",
                    name, text, takers(*find_key<PolicyConfig>(name)),
                    policies.size() == 1 ? "policy" : "of the policies", are));
  }
}
EnergyConfig load_energy(const std::string& name_or_path, std::span<const std::string> overrides) {
  Loader::Files files;
  return load<EnergyConfig>(files, "energy", name_or_path, overrides);
}
DramConfig read_dram(const std::string& name_or_path) {
  Places places;
  return read_file<DramConfig>(find_config("dram", name_or_path), places);
}
DramConfig load_dram(const std::string& name_or_path, std::span<const std::string> overrides) {
  Places places;
  DramConfig config = read_file<DramConfig>(find_config("dram", name_or_path), places);
  for (const std::string& text : overrides) override_own(config, text, places);
  settle_timings(config, places);
  check_rules(config, [&](std::string_view path) { return places.at(std::string(path)); });
  return config;
}
AreaConfig load_area(const std::string& name_or_path, std::span<const std::string> overrides) {
  Places places;
  AreaConfig config = read_file<AreaConfig>(find_config("area", name_or_path), places);
  for (const std::string& text : overrides) override_own(config, text, places);
  return config;
}
bool apply_override(MachineConfig& machine, std::string_view override_text) {
  return override_key(machine, override_text, nullptr) ||
         override_key(machine.energy, override_text, nullptr);
}
bool apply_override(PolicyConfig& policy, std::string_view override_text) {
  return override_key(policy, override_text, nullptr);
}
void validate(const MachineConfig& machine, const std::string& where) {
  validate_all(machine, where);
  validate_all(machine.energy, where);
}
void validate(const PolicyConfig& policy, const std::string& where) { validate_all(policy, where); }
std::string values_text(const MachineConfig& machine) {
  return values_of(machine) + values_of(machine.energy);
}
std::string values_text(const PolicyConfig& policy) { return values_of(policy); }
std::vector<KeyDescription> describe(const MachineConfig& machine) { return describe_all(machine); }
std::vector<KeyDescription> describe(const PolicyConfig& policy) { return describe_all(policy); }
std::vector<KeyDescription> describe(const EnergyConfig& energy) { return describe_all(energy); }
std::vector<KeyDescription> describe_whole(const MachineConfig& machine) {
  std::vector<KeyDescription> rows = describe_all(machine);
  for (KeyDescription& row : describe_all(machine.energy)) rows.push_back(std::move(row));
  return rows;
}
std::vector<KeyDescription> describe(const DramConfig& dram) { return describe_all(dram); }
std::vector<KeyDescription> describe(const AreaConfig& area) { return describe_all(area); }

}  // namespace nearwarp::config
