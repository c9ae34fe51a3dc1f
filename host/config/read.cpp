// Reads the text of a configuration file into its structure, strictly.
#include "host/config/read.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "host/config/constraints.h"
#include "host/config/mechanism.h"
#include "host/config/store.h"
#include "host/config/toml_errors.h"
#include "host/config/vault_standard.h"

namespace nearwarp::config {
namespace {

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
  } else if (const auto* texts = std::get_if<std::vector<std::string>*>(&member)) {
    if (const toml::array* list = node.as_array()) {
      (*texts)->clear();
      for (const toml::node& element : *list) {
        const auto text = element.value_exact<std::string>();
        if (!text) throw bad_value(key, "cannot have " + describe_type(element), where);
        (*texts)->push_back(*text);
      }
      return;
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

/// Stores all values of `table`, whose keys begin with `prefix`.
template <class Config>
void store_table(const toml::table& table, const std::string& prefix, const std::string& file,
                 Config& config, Places& places) {
  for (const auto& [name, node] : table) {
    const std::string path = prefix + std::string(name.str());
    const std::string where = fmt::format("{}:{}", file, name.source().begin.line);
    if (const Key<Config>* key = find_key<Config>(path)) {
      store_node(*key, config, node, where);
      places[path] = where;
      if (const toml::array* list = node.as_array())
        for (size_t i = 0; i < list->size(); ++i)
          places[element_of(path, i)] =
              fmt::format("{}:{}", file, list->get(i)->source().begin.line);
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
      throw ErrorWithParts<>(at_place(fmt::format("{} cannot be {}", path, describe_type(node)),
                                      where, fmt::format("it is a section: [{}]", path)));
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
        throw ErrorWithParts<>(at_place(fmt::format("unknown section '{}'", path), where,
                                        without_dash(suggestion(path, sections))));
      }
      throw ErrorWithParts<>(at_place(fmt::format("unknown key '{}'", path), where,
                                      without_dash(key_suggestion(path, names))));
    }
  }
}

/// The place to name for a missing key: the line of its section, or the file.
std::string section_place(std::string_view path, const std::string& file, const Places& places) {
  for (size_t dot = path.rfind('.'); dot != std::string_view::npos;
       dot = path.rfind('.', dot - 1)) {
    const auto at = places.find(path.substr(0, dot));
    if (at != places.end()) return at->second;
    if (dot == 0) break;
  }
  return fmt::format("{}:1", file);
}

/// Throws for keys of mechanisms that the policy does not name, since they have no effect.
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

}  // namespace

template <class Config>
void require_keys(const Config& config, const Places& places) {
  for (const Key<Config>& key : keys<Config>()) {
    if (places.count(key.path) != 0 || key.optional || !applies(key, config)) continue;
    throw ErrorWithParts<>(at_place(fmt::format("missing key '{}'", key.path),
                                    section_place(key.path, config.path, places),
                                    fmt::format("{} allowed: {}{}{}", key.doc, allowed(key),
                                                key.unit.empty() ? "" : ", in ", key.unit)));
  }
}

template <class Config>
Config read_text(const std::string& text, const std::string& file, const std::string& name,
                 Places& places, std::string_view standard) {
  Config config;
  check_depth(text, file);
  try {
    const toml::table table = toml::parse(text, file);
    store_table(table, "", file, config, places);
  } catch (const toml::parse_error& error) {
    throw not_toml(file, error);
  }
  if constexpr (std::is_same_v<Config, DramConfig>)
    if (places.count("timing.constraints") == 0)
      config.timing.constraints = customary_constraints();
  if constexpr (std::is_same_v<Config, MachineConfig>) {
    if (places.count("dram.constraints") == 0) config.dram.constraints = customary_constraints();
    take_standard(config, standard, places);
  }
  if constexpr (requires { config.timing_ps; }) note_timing_clock(config);
  config.name = name;
  config.path = file;
  if constexpr (std::is_same_v<Config, PolicyConfig>) {
    check_tables(config, places);  // missing keys are checked after overrides
  } else {
    require_keys(config, places);
  }
  return config;
}

template <class Config>
Config read_file(const std::string& path, Places& places, std::string_view standard) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw unreadable(path);
  return read_text<Config>(text.str(), path, std::filesystem::path(path).stem().string(), places,
                           standard);
}

template void require_keys(const MachineConfig&, const Places&);
template MachineConfig read_text(const std::string&, const std::string&, const std::string&,
                                 Places&, std::string_view);
template MachineConfig read_file(const std::string&, Places&, std::string_view);
template void require_keys(const PolicyConfig&, const Places&);
template PolicyConfig read_text(const std::string&, const std::string&, const std::string&, Places&,
                                std::string_view);
template PolicyConfig read_file(const std::string&, Places&, std::string_view);
template void require_keys(const EnergyConfig&, const Places&);
template EnergyConfig read_text(const std::string&, const std::string&, const std::string&, Places&,
                                std::string_view);
template EnergyConfig read_file(const std::string&, Places&, std::string_view);
template void require_keys(const DramConfig&, const Places&);
template DramConfig read_text(const std::string&, const std::string&, const std::string&, Places&,
                              std::string_view);
template DramConfig read_file(const std::string&, Places&, std::string_view);
template void require_keys(const AreaConfig&, const Places&);
template AreaConfig read_text(const std::string&, const std::string&, const std::string&, Places&,
                              std::string_view);
template AreaConfig read_file(const std::string&, Places&, std::string_view);

}  // namespace nearwarp::config
