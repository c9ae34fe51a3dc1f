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

/// Loads the machines (or policies) of a sweep, each combination once.
template <class Config>
class Combinations {
 public:
  struct Loaded {
    std::shared_ptr<const Config> config;
    std::string values;  ///< for ids: name, keys and values
    std::string error;
  };
  using Load = Config (config::Loader::*)(const std::string&, std::span<const std::string>);

  explicit Combinations(Load load) : load_(load) {}

  /// `overrides` name keys of Config only.
  const Loaded& get(const std::string& name, const std::vector<std::string>& overrides) {
    std::string key = name;
    for (const std::string& text : overrides) key += "\n" + text;
    const auto [at, is_new] = loaded_.try_emplace(key);
    if (!is_new) return at->second;
    Loaded& loaded = at->second;
    Tally& tally = tallies_[name];
    try {
      loaded.config = std::make_shared<const Config>((loader_.*load_)(name, overrides));
      loaded.values = loaded.config->name + "\n" + config::values_text(*loaded.config);
      if constexpr (std::is_same_v<Config, config::PolicyConfig>)
        for (const std::string& text : loaded.config->without_effect)
          loaded.values += text + "\n";  // points that differ by it alone are several all the same
      tally.good += 1;
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      loaded.error = error.what();
      loaded.values = key + "\n" + loaded.error + "\n";
      if (tally.first_error == nullptr) tally.first_error = std::current_exception();
    }
    return loaded;
  }

  /// Those that could be loaded.
  std::vector<const Config*> good() const {
    std::vector<const Config*> all;
    for (const auto& [key, loaded] : loaded_)
      if (loaded.config != nullptr) all.push_back(loaded.config.get());
    return all;
  }

  /// What cannot be had in any combination is wrong for all of its points.
  void check() const {
    for (const auto& [name, tally] : tallies_)
      if (tally.good == 0) std::rethrow_exception(tally.first_error);
  }

 private:
  struct Tally {
    size_t good = 0;
    std::exception_ptr first_error;
  };
  config::Loader loader_;
  Load load_;
  std::unordered_map<std::string, Loaded> loaded_;
  std::map<std::string, Tally> tallies_;
};

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
        machines_(&config::Loader::machine),
        policies_(&config::Loader::policy) {}

  void run() {
    const Definition& d = plan_.definition;
    for (size_t program = 0; program < d.programs.size(); ++program)
      for (size_t machine = 0; machine < d.machines.size(); ++machine)
        add_machine(program, machine);
    machines_.check();
    policies_.check();
    config::refuse_without_effect(policies_.good());
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
  void add_machine(size_t program, size_t machine) {
    const Definition& d = plan_.definition;
    std::vector<size_t> choice(d.axes.size());
    do {
      std::vector<std::string> of_machine, of_policy;
      for (size_t i = 0; i < choice.size(); ++i) {
        if (d.axes[i].of_machine) of_machine.push_back(d.axes[i].override_text(choice[i]));
        if (d.axes[i].of_policy) of_policy.push_back(d.axes[i].override_text(choice[i]));
      }
      const auto& m = machines_.get(d.machines[machine], of_machine);
      for (size_t policy = 0; policy < d.policies.size(); ++policy) {
        const auto& p = policies_.get(d.policies[policy], of_policy);
        Point point;
        point.index = plan_.points.size();
        point.program = program;
        point.machine = machine;
        point.policy = policy;
        point.choice = choice;
        point.machine_config = m.config;
        point.policy_config = p.config;
        point.error = m.error.empty() ? p.error : m.error;
        point.id = digest(fmt::format("{} {}\nprogram {}\nmachine {}policy {}", kSweepSchema,
                                      d.version, d.programs[program].key, m.values, p.values));
        plan_.points.push_back(std::move(point));
      }
      if (progress_ && !progress_(plan_.points.size(), all_))
        throw Error("interrupted while the sweep's points were checked - there are no results");
    } while (advance(d.axes, choice));
  }

  Plan& plan_;
  const Told& progress_;
  uint64_t all_;
  Combinations<config::MachineConfig> machines_;
  Combinations<config::PolicyConfig> policies_;
};

}  // namespace

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
