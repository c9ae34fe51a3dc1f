// The machines and policies of a sweep's points.
#include "host/timing/sweep/configurations.h"

#include <fmt/format.h>

#include "host/core/error.h"

namespace nearwarp::sweep {
namespace {

/// Configurations that stay loaded: a few megabytes, and more than points next to each other have.
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
auto Configurations<Config>::check(size_t combination, const std::string& name,
                                   const std::vector<std::string>& overrides) -> const Known& {
  const std::lock_guard lock(mutex_);
  return check_locked(combination, name, overrides);
}

template <class Config>
auto Configurations<Config>::check_locked(size_t combination, const std::string& name,
                                          const std::vector<std::string>& overrides)
    -> const Known& {
  Known& known = known_.at(combination);
  if (known.checked) return known;
  Tally& tally = tallies_[name];
  try {
    const auto config = keep(combination, (loader_.*load_)(name, overrides));
    const std::string none = without_effect(*config);
    known.values =
        content_hash(fmt::format("{}\n{}{}", config->name, config::values_text(*config), none));
    kinds_.try_emplace(name + "\n" + none, config);
    tally.good += 1;
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    if (errors_.empty() || errors_.back() != error.what()) errors_.emplace_back(error.what());
    known.error = &errors_.back();
    known.values = content_hash(fmt::format("{}\n{}\n", key_of(name, overrides), *known.error));
    if (tally.first_error == nullptr) tally.first_error = std::current_exception();
  }
  known.checked = true;
  return known;
}

template <class Config>
std::shared_ptr<const Config> Configurations<Config>::get(
    size_t combination, const std::string& name, const std::vector<std::string>& overrides) {
  const std::lock_guard lock(mutex_);
  if (check_locked(combination, name, overrides).error != nullptr) return nullptr;
  const auto at = kept_.find(combination);
  return at != kept_.end() ? at->second : keep(combination, (loader_.*load_)(name, overrides));
}

template <class Config>
std::shared_ptr<const Config> Configurations<Config>::keep(size_t combination, Config config) {
  if (order_.size() == kMostKept) {
    kept_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(combination);
  return kept_[combination] = std::make_shared<const Config>(std::move(config));
}

template <class Config>
std::vector<const Config*> Configurations<Config>::kinds() const {
  std::vector<const Config*> all;
  for (const auto& [key, config] : kinds_) all.push_back(config.get());
  return all;
}

template <class Config>
bool Configurations<Config>::is_possible(const std::string& name) const {
  const auto tally = tallies_.find(name);
  return tally != tallies_.end() && tally->second.good != 0;
}

template <class Config>
void Configurations<Config>::refuse(const std::string& name) const {
  std::rethrow_exception(tallies_.at(name).first_error);
}

template class Configurations<config::MachineConfig>;
template class Configurations<config::PolicyConfig>;

}  // namespace nearwarp::sweep
