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
#include <vector>

#include "host/config/area.h"
#include "host/config/dram.h"
#include "host/config/energy.h"
#include "host/config/machine.h"
#include "host/config/policy.h"

namespace nearwarp::config {

struct MechanismDeclaration;  // host/config/mechanism.h

/// A pointer to a key's value, whose type is the key's type. An optional number may be "unknown".
using Member = std::variant<uint32_t*, uint64_t*, bool*, std::string*, std::optional<uint64_t>*,
                            std::vector<std::string>*>;

/// Is `word` among `choices`, which blanks separate?
bool is_choice(std::string_view choices, std::string_view word);
/// Are all words of `joined`, which "+" separates, among `choices`? Each may occur only once, and
/// the first choice ("none") only alone.
bool are_choices(std::string_view choices, std::string_view joined);
/// The words of a text in which "+" separates them.
std::vector<std::string_view> joined_words(std::string_view joined);

/// One key of a file.
template <class Config>
struct Key {
  std::string_view path;  ///< dotted, e.g. "l1.ways"
  Member (*member)(Config&) = nullptr;
  std::string_view unit;      ///< empty for counts, texts and switches
  uint64_t min = 0, max = 0;  ///< the range of a number, inclusive
  bool power_of_two = false;
  std::string_view choices;  ///< the valid texts, separated by blanks; empty: any text
  std::string_view doc;      ///< one sentence
  bool optional = false;     ///< a file may leave it out; the structure's default holds then
  /// For a key of a machine: only these shapes have it, separated by blanks; empty: all.
  std::string_view shapes{};
  bool in_ns = false;  ///< a DRAM timing in cycles that may be given as a time, "13.75 ns"
  bool alone = false;  ///< a mechanism's key that mechanisms which run on it do not have
  bool joined =
      false;  ///< the text may consist of several choices joined by "+", see are_choices()
  /// For a key of a policy: the mechanism whose key it is; null: every policy has it.
  const MechanismDeclaration* mechanism = nullptr;
};

/// Does the key belong to all policies, or to a mechanism of this one?
bool policy_has(const Key<PolicyConfig>& key, const PolicyConfig& policy);

/// Does the key belong to this configuration, by its shape or its mechanisms?
template <class Config>
bool applies(const Key<Config>& key, const Config& config) {
  if constexpr (std::is_same_v<Config, PolicyConfig>) return policy_has(key, config);
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

/// A key's member in a configuration, for reading. It may add a table of settings to the
/// configuration, so no other thread may use the configuration meanwhile.
template <class Config>
Member member_of(const Key<Config>& key, const Config& config) {
  return key.member(const_cast<Config&>(config));
}

/// The allowed values in words: "1 to 64, a power of two", "true or false", "\"gto\" or \"lrr\"".
std::string allowed(const Member& member, uint64_t min, uint64_t max, bool power_of_two,
                    std::string_view choices);
template <class Config>
std::string allowed(const Key<Config>& key) {
  Config any;
  std::string text = allowed(key.member(any), key.min, key.max, key.power_of_two, key.choices);
  return key.joined ? text + ", or several of them joined by +" : text;
}

/// Is a value within its key's range or choices?
bool obeys(const Member& member, uint64_t min, uint64_t max, bool power_of_two,
           std::string_view choices);
template <class Config>
bool obeys(const Key<Config>& key, const Config& config) {
  const Member member = member_of(key, config);
  if (key.joined) return are_choices(key.choices, *std::get<std::string*>(member));
  return obeys(member, key.min, key.max, key.power_of_two, key.choices);
}

/// The value in TOML's notation.
std::string value_text(const Member& member);

}  // namespace nearwarp::config
