// The points of a sweep: the cross product of what varies, in a fixed order, each with an id.
#include "host/timing/sweep/plan.h"

#include <fmt/format.h>

#include <charconv>
#include <exception>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "host/config/config.h"
#include "host/core/error.h"
#include "host/core/hash.h"
#include "host/timing/sweep/format.h"

namespace nearwarp::sweep {
namespace {

std::string digest(const std::string& text) { return content_hash(text).hex(); }

/// Name of a configuration given by name or path.
std::string stem(const std::string& name_or_path) {
  const bool is_path =
      name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".toml");
  return is_path ? std::filesystem::path(name_or_path).stem().string() : name_or_path;
}

/// The overrides that a choice of values makes of a machine's keys, or of a policy's.
std::vector<std::string> overrides_of(const std::vector<Axis>& axes,
                                      const std::vector<size_t>& choice, bool Axis::*whose) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < choice.size(); ++i)
    if (axes[i].*whose) texts.push_back(axes[i].override_text(choice[i]));
  return texts;
}

/// Counts through all choices, the last axis fastest. Returns false after the last one.
bool advance(const std::vector<Axis>& axes, std::vector<size_t>& choice) {
  for (size_t i = axes.size(); i-- > 0;) {
    if (++choice[i] < axes[i].values.size()) return true;
    choice[i] = 0;
  }
  return false;
}

class Expansion {
 public:
  using Told = std::function<bool(uint64_t, uint64_t)>;

  Expansion(Plan& plan, const Told& progress)
      : plan_(plan),
        progress_(progress),
        all_(count_points(plan.definition)),
        machines_(plan.configurations->machines),
        policies_(plan.configurations->policies) {}

  void run() {
    const Definition& d = plan_.definition;
    for (size_t program = 0; program < d.programs.size(); ++program)
      for (size_t machine = 0; machine < d.machines.size(); ++machine)
        add_machine(program, machine);
    machines_.refuse_impossible();
    policies_.refuse_impossible();
    config::refuse_without_effect(policies_.kinds());
    if (d.divided) mix_ids_of_programs();
    std::string ids;
    std::unordered_map<std::string, size_t> seen;
    for (const Point& point : plan_.points) {
      ids += point.id;
      const auto [at, is_new] = seen.try_emplace(point.id, point.index);
      if (is_new) continue;
      throw UsageError(fmt::format(
          "points {} and {} of the sweep are the same: {} on {} under {} - name every workload, "
          "machine and policy once",
          at->second + 1, point.index + 1, d.programs[point.program].name,
          d.machines[point.machine], d.policies[point.policy]));
    }
    plan_.id = digest(ids);
  }

 private:
  /// A point's parts depend on what the program's other points need.
  void mix_ids_of_programs() {
    std::vector<std::string> all(plan_.definition.programs.size());
    for (const Point& point : plan_.points) all[point.program] += point.id;
    for (std::string& ids : all) ids = digest(ids);
    for (Point& point : plan_.points) point.id = digest(point.id + all[point.program]);
  }

  void add_machine(size_t program, size_t machine) {
    const Definition& d = plan_.definition;
    std::vector<size_t> choice(d.axes.size());
    do {
      const auto& m =
          machines_.check(d.machines[machine], overrides_of(d.axes, choice, &Axis::of_machine));
      const auto of_policy = overrides_of(d.axes, choice, &Axis::of_policy);
      for (size_t policy = 0; policy < d.policies.size(); ++policy) {
        const auto& p = policies_.check(d.policies[policy], of_policy);
        Point point;
        point.index = plan_.points.size();
        point.program = program;
        point.machine = machine;
        point.policy = policy;
        point.choice = choice;
        point.error = m.error.empty() ? p.error : m.error;
        point.id =
            digest(fmt::format("{} {}\nprogram {}\nmachine {}\npolicy {}", kSweepSchema, d.version,
                               d.programs[program].key, m.values.hex(), p.values.hex()));
        plan_.points.push_back(std::move(point));
      }
      if (progress_ && !progress_(plan_.points.size(), all_))
        throw Error("interrupted while the sweep's points were checked - there are no results");
    } while (advance(d.axes, choice));
  }

  Plan& plan_;
  const Told& progress_;
  uint64_t all_;
  Configurations<config::MachineConfig>& machines_;
  Configurations<config::PolicyConfig>& policies_;
};

}  // namespace

Plan::Plan() : configurations(std::make_shared<PlanConfigurations>()) {}

std::shared_ptr<const config::MachineConfig> Plan::machine(const Point& point) const {
  return configurations->machines.get(
      definition.machines[point.machine],
      overrides_of(definition.axes, point.choice, &Axis::of_machine));
}

std::shared_ptr<const config::PolicyConfig> Plan::policy(const Point& point) const {
  return configurations->policies.get(
      definition.policies[point.policy],
      overrides_of(definition.axes, point.choice, &Axis::of_policy));
}

std::vector<std::string> Plan::overrides(const Point& point) const {
  std::vector<std::string> texts;
  for (size_t i = 0; i < definition.axes.size(); ++i)
    texts.push_back(definition.axes[i].override_text(point.choice[i]));
  return texts;
}

std::string Plan::machine_name(const Point& point) const {
  return stem(definition.machines[point.machine]);
}

std::string Plan::policy_name(const Point& point) const {
  return stem(definition.policies[point.policy]);
}

uint64_t count_points(const Definition& d) {
  uint64_t points = 1;
  const auto times = [&](size_t n) {
    points = n != 0 && points > kMaxPoints / n ? kMaxPoints + 1 : points * n;
  };
  times(d.programs.size());
  times(d.machines.size());
  times(d.policies.size());
  for (const Axis& axis : d.axes) times(axis.values.size());
  return points;
}

Plan expand(Definition definition, const std::function<bool(uint64_t, uint64_t)>& progress) {
  if (count_points(definition) > kMaxPoints)
    throw UsageError(fmt::format(
        "the sweep has more than {} points - give fewer values, or several sweeps", kMaxPoints));
  Plan plan;
  plan.definition = std::move(definition);
  Expansion(plan, progress).run();
  return plan;
}

uint32_t part_of(size_t index, uint32_t parts) {
  uint64_t digits = 0;
  if (parts > 1) {
    for (uint64_t rest = index; rest != 0; rest /= parts) digits += rest % parts;
  }
  return static_cast<uint32_t>(digits % parts) + 1;
}

bool Shard::has(size_t index) const { return part_of(index, parts) == part; }

Shard parse_shard(const std::string& text) {
  Shard shard;
  const char* end = text.data() + text.size();
  const auto part = std::from_chars(text.data(), end, shard.part);
  bool good = part.ec == std::errc() && part.ptr != end && *part.ptr == '/';
  if (good) {
    const auto parts = std::from_chars(part.ptr + 1, end, shard.parts);
    good = parts.ec == std::errc() && parts.ptr == end;
  }
  if (!good || shard.part < 1 || shard.part > shard.parts) {
    throw UsageError(
        fmt::format("--shard cannot be '{}' - write i/n with i from 1 to n, e.g. 1/4", text));
  }
  return shard;
}

}  // namespace nearwarp::sweep
