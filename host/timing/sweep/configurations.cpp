// The machines and policies of a sweep's points.
#include "host/timing/sweep/configurations.h"

#include <fmt/format.h>

#include "host/core/error.h"

namespace nearwarp::sweep {
namespace {

/// So many stay loaded: a few megabytes, and more than points next to each other have.
constexpr size_t kMostKept = 1024;

std::string key_of(const std::string& name, const std::vector<std::string>& overrides) {
  std::string key = name;
  for (const std::string& text : overrides) key += "\n" + text;
  return key;
}

/// Overrides that are of no effect under it, a line each: points that differ by them alone are
/// several all the same.
std::string without_effect(const config::MachineConfig&) { return ""; }
std::string without_effect(const config::PolicyConfig& policy) {
  std::string text;
  for (const std::string& one : policy.without_effect) text += one + "\n";
  return text;
}

}  // namespace

template <class Config>
auto Configurations<Config>::check(const std::string& name,
                                   const std::vector<std::string>& overrides) -> const Known& {
  const std::string key = key_of(name, overrides);
  const auto [at, is_new] = known_.try_emplace(key);
  Known& known = at->second;
  if (!is_new) return known;
  Tally& tally = tallies_[name];
  try {
    const auto config = keep(key, (loader_.*load_)(name, overrides));
    const std::string none = without_effect(*config);
    known.values =
        content_hash(fmt::format("{}\n{}{}", config->name, config::values_text(*config), none));
    kinds_.try_emplace(name + "\n" + none, config);
    tally.good += 1;
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    known.error = error.what();
    known.values = content_hash(fmt::format("{}\n{}\n", key, known.error));
    if (tally.first_error == nullptr) tally.first_error = std::current_exception();
  }
  return known;
}

template <class Config>
std::shared_ptr<const Config> Configurations<Config>::get(
    const std::string& name, const std::vector<std::string>& overrides) {
  const std::string key = key_of(name, overrides);
  const auto known = known_.find(key);
  if (known == known_.end() || !known->second.error.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto at = kept_.find(key);
  return at != kept_.end() ? at->second : keep(key, (loader_.*load_)(name, overrides));
}

template <class Config>
std::shared_ptr<const Config> Configurations<Config>::keep(const std::string& key, Config config) {
  if (order_.size() == kMostKept) {
    kept_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(key);
  return kept_[key] = std::make_shared<const Config>(std::move(config));
}

template <class Config>
std::vector<const Config*> Configurations<Config>::kinds() const {
  std::vector<const Config*> all;
  for (const auto& [key, config] : kinds_) all.push_back(config.get());
  return all;
}

template <class Config>
void Configurations<Config>::refuse_impossible() const {
  for (const auto& [name, tally] : tallies_)
    if (tally.good == 0) std::rethrow_exception(tally.first_error);
}

template class Configurations<config::MachineConfig>;
template class Configurations<config::PolicyConfig>;

}  // namespace nearwarp::sweep
