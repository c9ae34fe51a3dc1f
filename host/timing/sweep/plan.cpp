// The points of a sweep: the cross product of what varies, in a fixed order, each with an id.
#include "host/timing/sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <exception>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "host/config/config.h"
#include "host/core/error.h"
#include "host/core/hash.h"
#include "host/timing/sweep/configurations.h"
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

using Told = std::function<bool(uint64_t, uint64_t)>;

}  // namespace

/// Makes points from their positions.
class PointMaker {
 public:
  explicit PointMaker(Definition definition) : d_(std::move(definition)) {
    for (const Axis& axis : d_.axes) choices_ *= axis.values.size();
    per_program_ = d_.machines.size() * choices_ * d_.policies.size();
    machines_.expect(d_.machines.size() * combinations(&Axis::of_machine));
    policies_.expect(d_.policies.size() * combinations(&Axis::of_policy));
  }

  size_t size() const { return d_.programs.size() * per_program_; }
  size_t per_program() const { return per_program_; }
  PointPlace place(size_t index) const {
    const size_t rest = index % per_program_;
    return {index / per_program_, rest / d_.policies.size() / choices_, rest % d_.policies.size()};
  }

  size_t index(const Point& at) const {
    size_t index = at.program * d_.machines.size() + at.machine;
    for (size_t i = 0; i < d_.axes.size(); ++i)
      index = index * d_.axes[i].values.size() + at.choice[i];
    return index * d_.policies.size() + at.policy;
  }

  size_t made() const { return made_; }

  Point at(size_t index) {
    made_ += 1;
    Point point = placed(index);
    const auto& m = machines_.check(machine_number(point), d_.machines[point.machine],
                                    overrides_of(d_.axes, point.choice, &Axis::of_machine));
    const auto& p = policies_.check(policy_number(point), d_.policies[point.policy],
                                    overrides_of(d_.axes, point.choice, &Axis::of_policy));
    if (const std::string* error = m.error != nullptr ? m.error : p.error; error != nullptr)
      point.error = *error;
    point.id =
        digest(fmt::format("{} {}\nprogram {}\nmachine {}\npolicy {}", kSweepSchema, d_.version,
                           d_.programs[point.program].key, m.values.hex(), p.values.hex()));
    if (!divided_for_.empty()) point.id = digest(point.id + divided_for_);
    return point;
  }

  std::shared_ptr<const config::MachineConfig> machine(const Point& point) {
    return machines_.get(machine_number(point), d_.machines[point.machine],
                         overrides_of(d_.axes, point.choice, &Axis::of_machine));
  }
  std::shared_ptr<const config::PolicyConfig> policy(const Point& point) {
    return policies_.get(policy_number(point), d_.policies[point.policy],
                         overrides_of(d_.axes, point.choice, &Axis::of_policy));
  }

  /// Checks the sweep as a whole: throws for what is wrong. Returns its id.
  std::string check(const Told& progress) {
    const std::vector<size_t> some = along_axes();
    std::vector<Point> points;
    for (const size_t index : some) {
      points.push_back(at(index));
      tell(progress, points.size(), some.size());
    }
    for (size_t m = 0; m < d_.machines.size(); ++m)
      find_possible(machines_, d_.machines[m], m * choices_ * d_.policies.size(), &Axis::of_machine,
                    progress);
    for (size_t p = 0; p < d_.policies.size(); ++p)
      find_possible(policies_, d_.policies[p], p, &Axis::of_policy, progress);
    check_effects(progress);
    std::unordered_map<std::string, size_t> seen;
    std::string ids = fmt::format("{} points\n", size());
    for (const Point& point : points) {
      ids += point.id;
      const auto [first, is_new] = seen.try_emplace(point.id, point.index);
      if (is_new) continue;
      throw UsageError(same_points(placed(first->second), point));
    }
    const std::string axes = axes_text();
    if (d_.divided) divided_for_ = digest(configurations_text(points) + axes);
    return digest(ids + axes + divided_for_);
  }

  /// Says that two points are the same, and why.
  std::string same_points(const Point& first, const Point& second) const {
    std::string what =
        fmt::format("points {} and {} of the sweep are the same: {} on {} under {}",
                    first.index + 1, second.index + 1, d_.programs[second.program].name,
                    d_.machines[second.machine], d_.policies[second.policy]);
    for (size_t i = 0; i < d_.axes.size(); ++i) {
      if (first.choice[i] == second.choice[i]) continue;
      return fmt::format("{}, and {} and {} come to the same value - leave one of them out", what,
                         d_.axes[i].override_text(first.choice[i]),
                         d_.axes[i].override_text(second.choice[i]));
    }
    return what + " - name every workload, machine and policy once";
  }

  std::vector<size_t> examples(size_t program) const {
    std::vector<size_t> found;
    for (const size_t choice : single_choices())
      for (size_t m = 0; m < d_.machines.size(); ++m)
        for (size_t p = 0; p < d_.policies.size(); ++p)
          found.push_back(program * per_program_ + m * choices_ * d_.policies.size() + choice + p);
    std::ranges::sort(found);
    return found;
  }

  /// A point without what its configuration says.
  Point placed(size_t index) const {
    Point point;
    const PointPlace at = place(index);
    point.index = index;
    point.program = at.program;
    point.machine = at.machine;
    point.policy = at.policy;
    size_t rest = index / d_.policies.size() % choices_;
    point.choice.resize(d_.axes.size());
    for (size_t i = d_.axes.size(); i-- > 0; rest /= d_.axes[i].values.size())
      point.choice[i] = rest % d_.axes[i].values.size();
    return point;
  }

 private:
  static void tell(const Told& progress, size_t checked, size_t all) {
    if (progress && !progress(checked, all))
      throw Interrupted("interrupted while the sweep's points were checked - there are no results");
  }
  size_t combinations(bool Axis::*whose) const {
    size_t n = 1;
    for (const Axis& axis : d_.axes)
      if (axis.*whose) n *= axis.values.size();
    return n;
  }
  size_t number(size_t which, const Point& point, bool Axis::*whose) const {
    for (size_t i = 0; i < d_.axes.size(); ++i)
      if (d_.axes[i].*whose) which = which * d_.axes[i].values.size() + point.choice[i];
    return which;
  }
  size_t machine_number(const Point& p) const { return number(p.machine, p, &Axis::of_machine); }
  size_t policy_number(const Point& p) const { return number(p.policy, p, &Axis::of_policy); }

  std::string axes_text() const {
    std::string text;
    for (const Axis& axis : d_.axes)
      for (const Axis::Value& value : axis.values)
        text += fmt::format("\n{}={}", axis.key, value.toml);
    return text;
  }

  /// Machines and policies of the first program's points among these, which were made.
  std::string configurations_text(const std::vector<Point>& points) {
    std::string text;
    for (const Point& p : points) {
      if (p.program != 0) continue;
      const auto& m = machines_.check(machine_number(p), d_.machines[p.machine], {});
      const auto& policy = policies_.check(policy_number(p), d_.policies[p.policy], {});
      text += fmt::format("machine {} policy {}\n", m.values.hex(), policy.values.hex());
    }
    return text;
  }

  /// How far from a name's first point those are that have at most one value that is not the first.
  std::vector<size_t> single_choices() const {
    size_t step = d_.policies.size();
    std::vector<size_t> choices = {0};
    for (size_t i = d_.axes.size(); i-- > 0; step *= d_.axes[i].values.size())
      for (size_t v = 1; v < d_.axes[i].values.size(); ++v) choices.push_back(v * step);
    return choices;
  }

  /// Points in which one thing at most is not the first: each program, each machine and each policy
  /// with each value of each axis. If any two points are the same, two of these are.
  std::vector<size_t> along_axes() const {
    std::set<size_t> found;
    for (size_t i = 0; i < d_.programs.size(); ++i) found.insert(i * per_program_);
    for (const size_t choice : single_choices()) {
      for (size_t m = 0; m < d_.machines.size(); ++m)
        found.insert(m * choices_ * d_.policies.size() + choice);
      for (size_t p = 0; p < d_.policies.size(); ++p) found.insert(choice + p);
    }
    return {found.begin(), found.end()};
  }

  /// How far from a name's first point those are that differ in the machine's values alone, or in
  /// the policy's.
  std::vector<size_t> choices_of(bool Axis::*whose) const {
    std::vector<size_t> found = {0};
    size_t step = d_.policies.size();
    for (size_t i = d_.axes.size(); i-- > 0; step *= d_.axes[i].values.size()) {
      if (!(d_.axes[i].*whose)) continue;
      const size_t before = found.size();
      for (size_t v = 1; v < d_.axes[i].values.size(); ++v)
        for (size_t k = 0; k < before; ++k) found.push_back(found[k] + v * step);
    }
    return found;
  }

  /// Throws what is wrong with a name that cannot be had in any combination. `first`: the index of
  /// its first point; `whose`: the values that its combinations are of.
  template <class Config>
  void find_possible(Configurations<Config>& all, const std::string& name, size_t first,
                     bool Axis::*whose, const Told& progress) {
    if (all.is_possible(name)) return;
    const std::vector<size_t> choices = choices_of(whose);
    for (size_t i = 0; i < choices.size() && !all.is_possible(name); ++i) {
      at(first + choices[i]);
      tell(progress, i + 1, choices.size());
    }
    if (!all.is_possible(name)) all.refuse(name);
  }

  /// A value that is of no effect beside the first ones of other keys may be of some beside others.
  void check_effects(const Told& progress) {
    try {
      config::refuse_without_effect(policies_.kinds());
      return;
    } catch (const UsageError&) {
    }
    const std::vector<size_t> choices = choices_of(&Axis::of_policy);
    for (size_t i = 0; i < choices.size(); ++i) {
      for (size_t p = 0; p < d_.policies.size(); ++p) at(choices[i] + p);
      tell(progress, i + 1, choices.size());
    }
    config::refuse_without_effect(policies_.kinds());
  }

  Definition d_;
  size_t choices_ = 1, per_program_ = 0;
  Configurations<config::MachineConfig> machines_{&config::Loader::machine};
  Configurations<config::PolicyConfig> policies_{&config::Loader::policy};
  std::string divided_for_;  ///< a hash of what the division of programs depends on
  std::atomic<size_t> made_ = 0;
};

size_t Points::size() const { return maker_ == nullptr ? 0 : maker_->size(); }
Point Points::operator[](size_t index) const { return maker_->at(index); }
Point Points::at(size_t index) const {
  if (index >= size()) throw std::out_of_range("a sweep has no such point");
  return maker_->at(index);
}

size_t Points::made() const { return maker_ == nullptr ? 0 : maker_->made(); }

std::shared_ptr<const config::MachineConfig> Plan::machine(const Point& point) const {
  return maker->machine(point);
}

std::shared_ptr<const config::PolicyConfig> Plan::policy(const Point& point) const {
  return maker->policy(point);
}

size_t Plan::points_of_program() const { return maker->per_program(); }
PointPlace Plan::place(size_t index) const { return maker->place(index); }
size_t Plan::index(const Point& at) const { return maker->index(at); }
Point Plan::placed(size_t index) const { return maker->placed(index); }
std::vector<size_t> Plan::examples(size_t program) const { return maker->examples(program); }

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
  plan.definition = definition;
  plan.maker = std::make_shared<PointMaker>(std::move(definition));
  plan.points = Points(plan.maker);
  plan.id = plan.maker->check(progress);
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

Shard parse_shard(const std::string& text, const std::string& option) {
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
        fmt::format("{} cannot be '{}' - write i/n with i from 1 to n, e.g. 1/4", option, text));
  }
  return shard;
}

}  // namespace nearwarp::sweep
