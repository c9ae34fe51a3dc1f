// The schema of configuration files: one table per kind of file, which serves loading, overriding,
// checking, `nearwarp show` and the documentation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "host/config/area.h"
#include "host/config/dram.h"
#include "host/config/energy.h"
#include "host/config/machine.h"
#include "host/config/policy.h"

namespace nearwarp::config {

/// Where a key's value is kept; its type is the key's type. An optional number may be "unknown".
using Member = std::variant<uint32_t*, uint64_t*, bool*, std::string*, std::optional<uint64_t>*>;

/// Is `word` among `choices`, which blanks separate?
bool is_choice(std::string_view choices, std::string_view word);

/// One key of a file.
template <class Config>
struct Key {
  std::string_view path;  ///< dotted, e.g. "l1.ways"
  Member (*member)(Config&) = nullptr;
  std::string_view unit;      ///< empty for counts, texts and switches
  uint64_t min = 0, max = 0;  ///< of a number, inclusive
  bool power_of_two = false;
  std::string_view choices;  ///< of a text: the valid ones, separated by blanks; empty: any
  std::string_view doc;      ///< one sentence
  bool optional = false;     ///< a file may leave it out: the structure's default
  /// Of a machine: only those of these shapes have it, separated by blanks; empty: all.
  std::string_view shapes{};
  bool in_ns = false;  ///< cycles of the DRAM, which may be written as a time, "13.75 ns"
};

/// Has this configuration the key?
template <class Config>
bool applies(const Key<Config>& key, const Config& config) {
  if constexpr (std::is_same_v<Config, MachineConfig>) {
    return key.shapes.empty() || is_choice(key.shapes, config.shape);
  } else {
    return true;
  }
}

/// All keys, in the order of the documentation.
std::span<const Key<MachineConfig>> machine_keys();
std::span<const Key<PolicyConfig>> policy_keys();
std::span<const Key<EnergyConfig>> energy_keys();
std::span<const Key<DramConfig>> dram_keys();
std::span<const Key<AreaConfig>> area_keys();

template <class Config>
std::span<const Key<Config>> keys() {
  if constexpr (std::is_same_v<Config, MachineConfig>) {
    return machine_keys();
  } else if constexpr (std::is_same_v<Config, EnergyConfig>) {
    return energy_keys();
  } else if constexpr (std::is_same_v<Config, DramConfig>) {
    return dram_keys();
  } else if constexpr (std::is_same_v<Config, AreaConfig>) {
    return area_keys();
  } else {
    return policy_keys();
  }
}

template <class Config>
const Key<Config>* find_key(std::string_view path) {
  for (const Key<Config>& key : keys<Config>()) {
    if (key.path == path) return &key;
  }
  return nullptr;
}

/// A key's member in a configuration that the caller only reads.
template <class Config>
Member member_of(const Key<Config>& key, const Config& config) {
  return key.member(const_cast<Config&>(config));
}

/// What is allowed: "1 to 64, a power of two", "true or false", "gto or lrr", "any text".
std::string allowed(const Member& member, uint64_t min, uint64_t max, bool power_of_two,
                    std::string_view choices);
template <class Config>
std::string allowed(const Key<Config>& key) {
  Config any;
  return allowed(key.member(any), key.min, key.max, key.power_of_two, key.choices);
}

/// Does a value obey its key's own range?
bool obeys(const Member& member, uint64_t min, uint64_t max, bool power_of_two,
           std::string_view choices);
template <class Config>
bool obeys(const Key<Config>& key, const Config& config) {
  return obeys(member_of(key, config), key.min, key.max, key.power_of_two, key.choices);
}

/// The value as it would be written in TOML.
std::string value_text(const Member& member);

}  // namespace nearwarp::config
