// Finds points that several sweeps have in common.
#include "host/timing/sweep/shared_points.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "host/config/config.h"
#include "host/core/error.h"

namespace nearwarp::sweep {
namespace {

/// The values of keys as they are in effect, so that a value that a sweep sets and the same value
/// in a machine's or policy's file are equal.
class ValuesInEffect {
 public:
  /// The value of the axis' key if it is set to the axis' value number `value`.
  std::string of(const Definition& d, const Axis& axis, size_t value, const Point& at) {
    return read(d, axis, axis.override_text(value), at);
  }
  /// The value of the axis' key in the machine's or policy's file.
  std::string own(const Definition& d, const Axis& axis, const Point& at) {
    return read(d, axis, "", at);
  }

 private:
  std::string read(const Definition& d, const Axis& axis, const std::string& set, const Point& at) {
    const std::string& name = axis.of_machine ? d.machines[at.machine] : d.policies[at.policy];
    const auto [found, is_new] =
        known_.try_emplace({axis.of_machine ? "machine" : "policy", name, axis.key, set});
    if (!is_new) return found->second;
    std::vector<std::string> overrides;
    if (!set.empty()) overrides.push_back(set);
    try {
      found->second = axis.of_machine ? own_value(loader_.machine(name, overrides), axis.key)
                                      : own_value(loader_.policy(name, overrides), axis.key);
    } catch (const Error&) {
      found->second = set;  // the value is wrong without other changes: texts are compared
    }
    return found->second;
  }

  config::Loader loader_;
  std::map<std::vector<std::string>, std::string> known_;
};

/// Looks for points of one sweep in an earlier one.
class Search {
 public:
  Search(const Plan& plan, const Plan& earlier, ValuesInEffect& values,
         std::unordered_set<size_t>& found)
      : plan_(plan), earlier_(earlier), values_(values), found_(found) {}

  void run() {
    const Definition &d = plan_.definition, &e = earlier_.definition;
    Point here, there;
    for (here.program = 0; here.program < d.programs.size(); ++here.program)
      for (there.program = 0; there.program < e.programs.size(); ++there.program) {
        if (d.programs[here.program].key != e.programs[there.program].key) continue;
        for (here.machine = 0; here.machine < d.machines.size(); ++here.machine)
          for (there.machine = 0; there.machine < e.machines.size(); ++there.machine) {
            if (d.machines[here.machine] != e.machines[there.machine]) continue;
            for (here.policy = 0; here.policy < d.policies.size(); ++here.policy)
              for (there.policy = 0; there.policy < e.policies.size(); ++there.policy)
                if (d.policies[here.policy] == e.policies[there.policy]) along(here, there);
          }
      }
  }

 private:
  /// An axis of either sweep, and the pairs of its values in both sweeps that are equal.
  struct Common {
    size_t here,
        there;  ///< the axis in this sweep and in the earlier one; kNone: not an axis there
    std::vector<std::pair<size_t, size_t>> values;  ///< positions on both axes
  };
  static constexpr size_t kNone = static_cast<size_t>(-1);

  static size_t position(const std::vector<Axis>& axes, const std::string& key) {
    const auto at = std::ranges::find(axes, key, &Axis::key);
    return at == axes.end() ? kNone : static_cast<size_t>(at - axes.begin());
  }

  /// Compare the points with the program, machine and policy of `here` in this sweep, and of
  /// `there` in the earlier one.
  void along(Point here, Point there) {
    const Definition &d = plan_.definition, &e = earlier_.definition;
    std::vector<Common> all;
    for (size_t i = 0; i < d.axes.size(); ++i) {
      Common& c = all.emplace_back(Common{i, position(e.axes, d.axes[i].key), {}});
      std::vector<std::string> others;
      if (c.there == kNone) {
        others.push_back(values_.own(d, d.axes[i], here));
      } else {
        for (size_t w = 0; w < e.axes[c.there].values.size(); ++w)
          others.push_back(values_.of(e, e.axes[c.there], w, there));
      }
      for (size_t v = 0; v < d.axes[i].values.size(); ++v) {
        const std::string value = values_.of(d, d.axes[i], v, here);
        for (size_t w = 0; w < others.size(); ++w)
          if (value == others[w]) c.values.emplace_back(v, w);
      }
      if (c.values.empty()) return;
    }
    for (size_t i = 0; i < e.axes.size(); ++i) {
      if (position(d.axes, e.axes[i].key) != kNone) continue;
      Common& c = all.emplace_back(Common{kNone, i, {}});
      for (size_t w = 0; w < e.axes[i].values.size(); ++w)
        if (values_.of(e, e.axes[i], w, there) == values_.own(e, e.axes[i], there))
          c.values.emplace_back(0, w);
      if (c.values.empty()) return;
    }
    here.choice.assign(d.axes.size(), 0);
    there.choice.assign(e.axes.size(), 0);
    compare(all, 0, here, there);
  }

  /// Compare the points with all combinations of equal values on the axes from `next` on.
  void compare(const std::vector<Common>& all, size_t next, Point& here, Point& there) {
    if (next == all.size()) {
      const size_t index = plan_.index(here);
      if (found_.contains(index)) return;
      if (plan_.points[index].id == earlier_.points[earlier_.index(there)].id) found_.insert(index);
      return;
    }
    const Common& c = all[next];
    for (const auto& [v, w] : c.values) {
      if (c.here != kNone) here.choice[c.here] = v;
      if (c.there != kNone) there.choice[c.there] = w;
      compare(all, next + 1, here, there);
    }
  }

  const Plan &plan_, &earlier_;
  ValuesInEffect& values_;
  std::unordered_set<size_t>& found_;
};

}  // namespace

std::vector<std::unordered_set<size_t>> points_of_earlier(std::span<const Plan* const> plans) {
  std::vector<std::unordered_set<size_t>> found(plans.size());
  ValuesInEffect values;
  for (size_t i = 0; i < plans.size(); ++i)
    for (size_t before = 0; before < i; ++before)
      Search(*plans[i], *plans[before], values, found[i]).run();
  return found;
}

}  // namespace nearwarp::sweep
