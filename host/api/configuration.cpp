// Machines and policies of the public interface.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "host/api/failure.h"
#include "host/api/sources.h"
#include "host/api/state.h"
#include "host/config/base_clock.h"
#include "host/config/nearest.h"
#include "host/config/schema.h"
#include "host/config/shape.h"
#include "host/timing/run/launch_part.h"

namespace nearwarp {
namespace {

/// How a configuration is made, and what it is called in messages.
template <class T>
struct Kind;
template <>
struct Kind<Machine> {
  static constexpr auto load = config::load_machine;
  static constexpr auto parse = config::parse_machine;
  static constexpr const char *name = "machine", *other = "policy";
};
template <>
struct Kind<Policy> {
  static constexpr auto load = config::load_policy;
  static constexpr auto parse = config::parse_policy;
  static constexpr const char *name = "policy", *other = "machine";
};

/// Takes keys of the other kind out of the changes, which would pass unnoticed, or refuses them.
template <class T>
void sort_changes(typename T::State& state, Foreign foreign) {
  auto tried = state.config;
  std::erase_if(state.changes, [&](const std::string& change) {
    if (config::apply_override(tried, change)) return false;
    if (foreign == Foreign::kPassedOver) return true;
    throw UsageError(fmt::format("'{}' is no key of a {} - set it in the {}", change, Kind<T>::name,
                                 Kind<T>::other));
  });
}

/// A configuration made of a file or of a text, with all of the changes.
template <class T>
T made(typename T::State state, Foreign foreign = Foreign::kRefused) {
  state.config = state.text.has_value() ? Kind<T>::parse(*state.text, state.source, state.changes)
                                        : Kind<T>::load(state.source, state.changes);
  sort_changes<T>(state, foreign);
  return Access::make<T>(std::make_shared<const typename T::State>(std::move(state)));
}

template <class T>
Expected<T> loaded(const std::string& source, std::span<const std::string> changes,
                   Foreign foreign = Foreign::kRefused) {
  const std::vector<std::string> all(changes.begin(), changes.end());
  return guarded(
      [&] { return made<T>({.source = source, .changes = all, .given = all}, foreign); });
}
template <class T>
Expected<T> parsed(const std::string& text, const std::string& name,
                   std::span<const std::string> changes) {
  const std::vector<std::string> all(changes.begin(), changes.end());
  return guarded(
      [&] { return made<T>({.source = name, .text = text, .changes = all, .given = all}); });
}
template <class T>
Expected<T> changed(const T& configuration, std::span<const std::string> more) {
  return guarded([&] {
    typename T::State state = Access::of(configuration);
    state.changes.insert(state.changes.end(), more.begin(), more.end());
    state.given.insert(state.given.end(), more.begin(), more.end());
    return made<T>(std::move(state));
  });
}

std::vector<Key> keys_of(const std::vector<config::KeyDescription>& described) {
  std::vector<Key> keys;
  keys.reserve(described.size());
  for (const config::KeyDescription& k : described)
    keys.push_back({k.key, k.value, k.unit, k.doc, k.range, {}});
  return keys;
}

/// All that there are, whatever has them.
template <class Config>
void append_schema(std::vector<Key>& all) {
  for (const config::Key<Config>& k : config::keys<Config>())
    all.push_back(
        {std::string(k.path), {}, std::string(k.unit), std::string(k.doc), config::allowed(k), {}});
}

std::string value_of(const std::vector<config::KeyDescription>& keys, std::string_view name) {
  std::vector<std::string> names;
  for (const config::KeyDescription& k : keys) {
    if (k.key == name) return k.value;
    names.push_back(k.key);
  }
  throw UsageError(fmt::format("unknown key '{}'{}", name, config::suggestion(name, names)));
}

}  // namespace

std::vector<std::string> machine_names() { return config::machine_names(); }
std::vector<std::string> policy_names() { return config::policy_names(); }

Expected<Machine> Machine::load(const std::string& name_or_path, Texts changes, Foreign foreign) {
  return loaded<Machine>(name_or_path, changes, foreign);
}
Expected<Machine> Machine::parse(const std::string& toml, const std::string& name, Texts changes) {
  return parsed<Machine>(toml, name, changes);
}
Expected<Machine> Machine::with(Texts changes) const { return changed(*this, changes); }
const std::string& Machine::name() const { return Access::of(*this).config.name; }
std::vector<Key> Machine::keys() const {
  const State& state = Access::of(*this);
  const bool is_file = !state.text.has_value();
  // The energy file's come after the machine's own.
  std::vector<Key> keys = keys_of(config::describe(state.config));
  set_sources(keys, is_file ? state.config.path : "", state.config.dram.standard, state.changes);
  std::vector<Key> energy = keys_of(config::describe(state.config.energy));
  set_sources(energy, is_file ? state.config.energy.path : "", "none", state.changes);
  keys.insert(keys.end(), energy.begin(), energy.end());
  return keys;
}
std::string Machine::note() const { return config::clock_note(Access::of(*this).config); }
bool Machine::computes_in_stacks() const {
  return config::shape_of(Access::of(*this).config).stacks_behind_links();
}
std::vector<Key> Machine::all_keys() {
  std::vector<Key> keys;
  append_schema<config::MachineConfig>(keys);
  append_schema<config::EnergyConfig>(keys);
  return keys;
}
Expected<std::string> Machine::get(std::string_view key) const {
  return guarded([&] { return value_of(config::describe_whole(Access::of(*this).config), key); });
}

Expected<Policy> Policy::load(const std::string& name_or_path, Texts changes) {
  return loaded<Policy>(name_or_path, changes);
}
Expected<Policy> Policy::parse(const std::string& toml, const std::string& name, Texts changes) {
  return parsed<Policy>(toml, name, changes);
}
Expected<std::vector<Policy>> Policy::load_all(Texts names_or_paths, Texts changes,
                                               Foreign foreign) {
  return guarded([&] {
    config::Loader loader;
    std::vector<Policy> all;
    for (const std::string& name : names_or_paths) {
      const std::vector<std::string> given(changes.begin(), changes.end());
      State state{.source = name, .changes = given, .given = given};
      state.config = loader.policy(name, changes);
      sort_changes<Policy>(state, foreign);
      std::erase_if(state.changes, [&](const std::string& change) {
        return std::ranges::find(state.config.without_effect, change) !=
               state.config.without_effect.end();
      });
      all.push_back(Access::make<Policy>(std::make_shared<const State>(std::move(state))));
    }
    std::vector<const config::PolicyConfig*> configs;
    for (const Policy& policy : all) configs.push_back(&Access::of(policy).config);
    if (!configs.empty()) config::refuse_without_effect(configs);
    return all;
  });
}
Expected<Policy> Policy::with(Texts changes) const { return changed(*this, changes); }
const std::string& Policy::name() const { return Access::of(*this).config.name; }
std::vector<Key> Policy::keys() const {
  const State& state = Access::of(*this);
  std::vector<Key> keys = keys_of(config::describe(state.config));
  set_sources(keys, state.text.has_value() ? "" : state.config.path, "none", state.changes);
  return keys;
}
std::string Policy::why_no_parts() const { return sim::why_no_parts(Access::of(*this).config); }
std::vector<Key> Policy::all_keys() {
  std::vector<Key> keys;
  append_schema<config::PolicyConfig>(keys);
  return keys;
}
Expected<std::string> Policy::get(std::string_view key) const {
  return guarded([&] { return value_of(config::describe(Access::of(*this).config), key); });
}

}  // namespace nearwarp
