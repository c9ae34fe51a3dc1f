// Describes configurations of points: keys with their values, and differences from the files.
#include "host/timing/experiment/described.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "host/core/hash.h"

namespace nearwarp::experiment {
namespace {

using Keys = std::vector<config::KeyDescription>;

Keys keys_of(const config::MachineConfig& machine) { return config::describe_whole(machine); }
Keys keys_of(const config::PolicyConfig& policy) { return config::describe(policy); }

template <class Config>
Config load(const std::string& name);
template <>
config::MachineConfig load(const std::string& name) {
  return config::load_machine(name);
}
template <>
config::PolicyConfig load(const std::string& name) {
  return config::load_policy(name);
}

/// Call f(line) for each line of a text, without its line feed.
template <class F>
void each_line(std::string_view text, F&& f) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    f(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

template <class Config>
const Keys& Descriptions<Config>::file(const std::string& name) {
  const auto at = files_.find(name);
  return at != files_.end() ? at->second
                            : files_.emplace(name, keys_of(load<Config>(name))).first->second;
}

template <class Config>
auto Descriptions<Config>::of(const std::string& name, std::shared_ptr<const Config> config)
    -> const Described& {
  Described& last = last_[name];
  if (last.config == config) return last;
  std::unordered_set<std::string>& lines = lines_[name];
  if (lines.empty())
    each_line(config::values_text(load<Config>(name)),
              [&](std::string_view line) { lines.emplace(line); });
  last.text = config::values_text(*config);
  last.changes = nlohmann::ordered_json::object();
  each_line(last.text, [&](std::string_view line) {
    if (lines.contains(std::string(line))) return;
    const size_t end = line.find(" = ");
    if (end == std::string_view::npos) return;  // a further line of a value of several lines
    last.changes[std::string(line.substr(0, end))] = line.substr(end + 3);
  });
  last.config = std::move(config);
  return last;
}

template class Descriptions<config::MachineConfig>;
template class Descriptions<config::PolicyConfig>;

std::string DescribedPoints::hash(const sweep::Plan& plan, const sweep::Point& point) {
  const auto machine = plan.machine(point);
  const auto policy = plan.policy(point);
  if (machine == nullptr || policy == nullptr) return "";
  const sweep::Definition& d = plan.definition;
  const std::string text = machines.of(d.machines[point.machine], machine).text +
                           policies.of(d.policies[point.policy], policy).text;
  return content_hash(text).hex().substr(0, 16);
}

nlohmann::ordered_json DescribedPoints::changes(const sweep::Plan& plan,
                                                const sweep::Point& point) {
  const auto machine = plan.machine(point);
  const auto policy = plan.policy(point);
  if (machine == nullptr || policy == nullptr) return nlohmann::ordered_json::object();
  const sweep::Definition& d = plan.definition;
  nlohmann::ordered_json changes = machines.of(d.machines[point.machine], machine).changes;
  changes.update(policies.of(d.policies[point.policy], policy).changes);
  return changes;
}

}  // namespace nearwarp::experiment
