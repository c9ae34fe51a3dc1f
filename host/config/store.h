// Stores values of keys, from files or overrides, in configurations.
#pragma once

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/config/dram_clock.h"
#include "host/config/error_at.h"
#include "host/config/nearest.h"
#include "host/config/schema.h"
#include "host/core/error_parts.h"

namespace nearwarp::config {

template <class Config>
std::vector<std::string> key_names() {
  std::vector<std::string> names;
  for (const Key<Config>& key : keys<Config>()) names.emplace_back(key.path);
  return names;
}

/// The end of a message about a wrong key: " - did you mean ...?", or, if no key is near, the keys
/// of its section.
inline std::string key_suggestion(std::string_view path, const std::vector<std::string>& names) {
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
ErrorWithParts<> bad_value(const Key<Config>& key, const std::string& what,
                           const std::string& where) {
  return ErrorWithParts<>(at_place(
      fmt::format("{} {}", key.path, what), where,
      fmt::format("allowed: {}{}{}", allowed(key), key.unit.empty() ? "" : ", in ", key.unit)));
}

/// Store a time as the value of a DRAM timing; false if the key is not a timing. Throws for a text
/// that is no time.
template <class Config>
bool store_time(const Key<Config>& key, Config& config, std::string_view text,
                const std::string& where) {
  if constexpr (requires { config.timing_ps; }) {
    if (!key.in_ns) return false;
    const std::optional<uint64_t> ps = picoseconds(text);
    if (!ps)
      throw ErrorWithParts<>(at_place(
          fmt::format("{} cannot be \"{}\"", key.path, text), where,
          fmt::format("allowed: {} DRAM cycles, or a time as in \"13.75 ns\"", allowed(key))));
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

}  // namespace nearwarp::config
