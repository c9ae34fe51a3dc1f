// Finds the point of a sweep that a line of results, written by another sweep, belongs to.
#include "host/timing/sweep/places.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "host/config/config.h"
#include "host/core/error.h"

namespace nearwarp::sweep {
namespace {

/// The name without folders; of several programs ("a+b"), that of the last one.
std::string_view last_part(std::string_view programs) {
  return programs.substr(programs.find_last_of("/+") + 1);  // npos + 1 is 0
}

/// Can both be names of one program? Different paths may lead to one file, whose contents are part
/// of a point's id.
bool may_be(const std::string& name, const std::string& other) {
  if (name == other) return true;
  const bool has_path = name.find('/') != name.npos || other.find('/') != other.npos;
  return has_path && last_part(name) == last_part(other);
}

}  // namespace

Places::Places(const Plan& plan) : plan_(plan) {
  for (const Axis& axis : plan.definition.axes) {
    std::vector<std::string>& values = values_.emplace_back();
    for (const Axis::Value& value : axis.values) values.push_back(line_value(value.toml));
  }
}

std::optional<size_t> Places::of(const Record& record) {
  const auto found = of(record, true);
  return found.has_value() ? found : of(record, false);
}

std::optional<size_t> Places::of(const Record& record, bool named) {
  const Definition& d = plan_.definition;
  Point at;
  at.choice.resize(d.axes.size());
  for (at.program = 0; at.program < d.programs.size(); ++at.program) {
    const Program& program = d.programs[at.program];
    if (may_be(program.name, record.workload) != named || program.size != record.size) continue;
    for (at.machine = 0; at.machine < d.machines.size(); ++at.machine) {
      if (plan_.machine_name(at) != record.machine) continue;
      for (at.policy = 0; at.policy < d.policies.size(); ++at.policy) {
        if (plan_.policy_name(at) != record.policy) continue;
        if (const auto found = among(record, at, 0)) return found;
      }
    }
  }
  return std::nullopt;
}

/// The index of the record's point among points that agree with `at` in all axes before this one.
std::optional<size_t> Places::among(const Record& record, Point at, size_t axis) {
  if (axis == values_.size()) {
    const size_t index = plan_.index(at);
    return plan_.points[index].id == record.id ? std::optional(index) : std::nullopt;
  }
  const std::string& key = plan_.definition.axes[axis].key;
  const auto set = std::ranges::find(record.overrides, key, &Record::Override::key);
  if (set != record.overrides.end()) {
    const auto value = std::ranges::find(values_[axis], set->value);
    if (value == values_[axis].end()) return std::nullopt;
    at.choice[axis] = static_cast<size_t>(value - values_[axis].begin());
    return among(record, at, axis + 1);
  }
  for (const size_t value : unset(axis, at.machine, at.policy)) {
    at.choice[axis] = value;
    if (const auto found = among(record, at, axis + 1)) return found;
  }
  return std::nullopt;
}

/// The configuration's own value of the key, if the axis has it; else all values of the axis.
const std::vector<size_t>& Places::unset(size_t axis, size_t machine, size_t policy) {
  const Definition& d = plan_.definition;
  const auto [found, is_new] = unset_.try_emplace({axis, machine, policy});
  std::vector<size_t>& values = found->second;
  if (!is_new) return values;
  const Axis& of = d.axes[axis];
  std::string own;
  try {
    config::Loader loader;
    own = of.of_machine ? own_value(loader.machine(d.machines[machine], {}), of.key)
                        : own_value(loader.policy(d.policies[policy], {}), of.key);
  } catch (const Error&) {  // the configuration is invalid without an override of the key
  }
  for (size_t i = 0; i < of.values.size(); ++i)
    if (of.values[i].toml == own) values.push_back(i);
  if (values.empty()) {
    values.resize(of.values.size());
    std::iota(values.begin(), values.end(), size_t{0});
  }
  return values;
}

}  // namespace nearwarp::sweep
