// An axis of a sweep besides workload, machine and policy: the values of a --set.
#include "host/timing/sweep/axis.h"

#include <fmt/format.h>

#include "host/config/config.h"
#include "host/config/schema.h"
#include "host/core/error.h"

namespace nearwarp::sweep {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Splits at commas outside of double quotes.
std::vector<std::string_view> split_values(std::string_view text, std::string_view whole) {
  std::vector<std::string_view> values;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '"') quoted = !quoted;
    if (i < text.size() && (text[i] != ',' || quoted)) continue;
    values.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (quoted) {
    throw UsageError(
        fmt::format("a quotation mark is not closed (`set` {}) - write "
                    "'key=\"a, b\",c'",
                    whole));
  }
  return values;
}

/// The key's value in `config` as written in TOML; empty if it has no such key.
template <class Config>
std::string value_in(const Config& config, std::string_view key) {
  if (const config::Key<Config>* own = config::find_key<Config>(key); own != nullptr)
    return config::value_text(config::member_of(*own, config));
  if constexpr (std::is_same_v<Config, config::MachineConfig>) {
    const auto* energy = config::find_key<config::EnergyConfig>(key);
    if (energy != nullptr) return config::value_text(config::member_of(*energy, config.energy));
  }
  return {};
}

/// `override_text`'s value as it would be written in TOML; empty if `Config` has no such key.
template <class Config>
std::string toml_value(std::string_view key, const std::string& override_text) {
  Config config;
  const bool is_own = config::apply_override(config, override_text);
  if constexpr (requires { config.timing_ps; }) {
    const auto time = config.timing_ps.find(key);
    if (time != config.timing_ps.end()) return fmt::format("\"{} ps\"", time->second);
  }
  return is_own || config::find_key<Config>(key) != nullptr ? value_in(config, key) : "";
}

}  // namespace

std::string own_value(const config::MachineConfig& machine, const std::string& key) {
  return value_in(machine, key);
}
std::string own_value(const config::PolicyConfig& policy, const std::string& key) {
  return value_in(policy, key);
}

Axis parse_axis(std::string_view text) {
  const size_t equals = text.find('=');
  Axis axis;
  axis.key = trimmed(text.substr(0, equals));
  if (equals == std::string_view::npos || axis.key.empty()) {
    throw UsageError(fmt::format("`set` '{}' sets nothing - write key=value or key=a,b,c", text));
  }
  for (const std::string_view given : split_values(text.substr(equals + 1), text)) {
    Axis::Value value;
    value.given = given;
    const std::string change = axis.key + "=" + value.given;
    const std::string machine = toml_value<config::MachineConfig>(axis.key, change);
    const std::string policy = toml_value<config::PolicyConfig>(axis.key, change);
    axis.of_machine = !machine.empty();
    axis.of_policy = !policy.empty();
    value.toml = axis.of_machine ? machine : policy;
    for (const Axis::Value& other : axis.values) {
      if (other.toml != value.toml) continue;
      throw UsageError(
          fmt::format("{} is given twice (`set` {}) - give every value once", value.toml, text));
    }
    axis.values.push_back(std::move(value));
  }
  return axis;
}

}  // namespace nearwarp::sweep
