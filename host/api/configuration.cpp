// Machines and policies of the public interface.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "host/api/failure.h"
#include "host/api/state.h"
#include "host/config/nearest.h"
#include "host/core/temporary_folder.h"

namespace nearwarp {
namespace {

config::MachineConfig load_config(const Machine*, const std::string& from,
                                  std::span<const std::string> changes) {
  return config::load_machine(from, changes);
}
config::PolicyConfig load_config(const Policy*, const std::string& from,
                                 std::span<const std::string> changes) {
  return config::load_policy(from, changes);
}

/// Policies' keys say nothing of a machine, and the other way round: both would pass unnoticed.
template <class Config>
void check_changes(const Config& config, std::span<const std::string> changes, const char* whose) {
  Config tried = config;
  for (const std::string& change : changes)
    if (!config::apply_override(tried, change))
      throw UsageError(fmt::format("'{}' is no key of a {} - set it in the {}", change, whose,
                                   std::string_view(whose) == "machine" ? "policy" : "machine"));
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

template <class T>
T loaded(const std::string& source, const std::string& text, std::vector<std::string> changes,
         const char* whose) {
  auto state = std::make_shared<typename T::State>();
  if (text.empty()) {
    state->config = load_config(static_cast<T*>(nullptr), source, changes);
  } else {
    if (source.empty() || source.find('/') != std::string::npos)
      throw UsageError(fmt::format("'{}' cannot name a {} - leave slashes out", source, whose));
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / (source + ".toml");
    std::ofstream(file, std::ios::binary) << text;
    try {
      state->config = load_config(static_cast<T*>(nullptr), file.string(), changes);
    } catch (const Error& error) {
      throw Error(replaced(error.what(), file.string(), source));
    }
    state->config.path = source;
  }
  check_changes(state->config, changes, whose);
  state->source = source;
  state->text = text;
  state->changes = std::move(changes);
  return Access::make<T>(std::move(state));
}

template <class T>
T changed(const typename T::State& state, std::span<const std::string> more, const char* whose) {
  std::vector<std::string> changes = state.changes;
  changes.insert(changes.end(), more.begin(), more.end());
  return loaded<T>(state.source, state.text, std::move(changes), whose);
}

std::vector<Key> keys_of(const std::vector<config::KeyDescription>& described) {
  std::vector<Key> keys;
  keys.reserve(described.size());
  for (const config::KeyDescription& k : described)
    keys.push_back({k.key, k.value, k.unit, k.doc, k.range});
  return keys;
}

std::string value_of(const std::vector<config::KeyDescription>& keys, std::string_view name) {
  std::vector<std::string> names;
  for (const config::KeyDescription& k : keys) {
    if (k.key == name) return k.value;
    names.push_back(k.key);
  }
  throw UsageError(fmt::format("unknown key '{}'{}", name, config::suggestion(name, names)));
}

constexpr const char* kMachine = "machine";
constexpr const char* kPolicy = "policy";

}  // namespace

std::vector<std::string> machine_names() { return config::machine_names(); }
std::vector<std::string> policy_names() { return config::policy_names(); }

Expected<Machine> Machine::load(const std::string& name_or_path,
                                std::span<const std::string> changes) {
  return guarded([&] {
    return loaded<Machine>(name_or_path, "", {changes.begin(), changes.end()}, kMachine);
  });
}
Expected<Machine> Machine::parse(const std::string& toml, const std::string& name,
                                 std::span<const std::string> changes) {
  return guarded([&] {
    return loaded<Machine>(name, toml + "\n", {changes.begin(), changes.end()}, kMachine);
  });
}
Expected<Machine> Machine::with(std::span<const std::string> changes) const {
  return guarded([&] { return changed<Machine>(Access::of(*this), changes, kMachine); });
}
const std::string& Machine::name() const { return Access::of(*this).config.name; }
std::vector<Key> Machine::keys() const {
  return keys_of(config::describe_whole(Access::of(*this).config));
}
Expected<std::string> Machine::get(std::string_view key) const {
  return guarded([&] { return value_of(config::describe_whole(Access::of(*this).config), key); });
}

Expected<Policy> Policy::load(const std::string& name_or_path,
                              std::span<const std::string> changes) {
  return guarded([&] {
    return loaded<Policy>(name_or_path, "", {changes.begin(), changes.end()}, kPolicy);
  });
}
Expected<Policy> Policy::parse(const std::string& toml, const std::string& name,
                               std::span<const std::string> changes) {
  return guarded([&] {
    return loaded<Policy>(name, toml + "\n", {changes.begin(), changes.end()}, kPolicy);
  });
}
Expected<Policy> Policy::with(std::span<const std::string> changes) const {
  return guarded([&] { return changed<Policy>(Access::of(*this), changes, kPolicy); });
}
const std::string& Policy::name() const { return Access::of(*this).config.name; }
std::vector<Key> Policy::keys() const {
  return keys_of(config::describe(Access::of(*this).config));
}
Expected<std::string> Policy::get(std::string_view key) const {
  return guarded([&] { return value_of(config::describe(Access::of(*this).config), key); });
}

}  // namespace nearwarp
