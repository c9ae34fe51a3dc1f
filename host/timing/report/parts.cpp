// Results of parts of a run.
#include "host/timing/report/parts.h"

#include <algorithm>
#include <cmath>

#include "host/timing/report/rows.h"
#include "host/timing/report/section.h"

namespace nearwarp::report {

// Not in the unnamed namespace: each_row() finds these by their rows' types.

/// Applies f(mine, other) to every number that is a sum over a run's events.
template <class F>
static void each_sum(SmCycles& a, const SmCycles& b, F f) {
  f(a.warp_cycles, b.warp_cycles);
  for (size_t i = 0; i < a.uses.size(); ++i) f(a.uses[i], b.uses[i]);
}

template <class F>
static void each_sum(Utilisation& a, const Utilisation& b, F f) {
  f(a.available_ticks, b.available_ticks);
  f(a.busy_ticks, b.busy_ticks);
  a.busiest.clear();
  a.most_ticks = 0;
  for (size_t i = 0; i < a.each.size() && i < b.each.size(); ++i) {
    f(a.each[i].first, b.each[i].first);
    if (!a.busiest.empty() && a.each[i].first <= a.most_ticks) continue;
    a.most_ticks = a.each[i].first;
    a.busiest = a.each[i].second;
  }
}

template <class F>
static void each_sum(WayTime& a, const WayTime& b, F f) {
  f(a.ticks, b.ticks);
}

template <class F>
static void each_sum(RouterNetwork& a, const RouterNetwork& b, F f) {
  f(a.cycles, b.cycles);
  for (size_t i = 0; i < a.wires.size() && i < b.wires.size(); ++i)
    f(a.wires[i].flits, b.wires[i].flits);
}

static std::string key(const SmCycles& c) { return c.sms + "\n" + c.kernel; }
static const std::string& key(const Utilisation& u) { return u.name; }
static const std::string& key(const WayTime& w) { return w.name; }
static const std::string& key(const RouterNetwork& n) { return n.name; }

namespace {

/// The counter says what is left at the run's end.
bool is_level(const std::string& name) { return name.ends_with("_left_dirty"); }
/// The counter says what was the most at any time, or at any place.
bool is_most(const std::string& name) {
  return name.find("peak") != name.npos || name.find("busiest") != name.npos;
}

template <class F>
void each_sum(RunResult& a, const RunResult& b, bool add_missing, F f) {
  f(a.cycles, b.cycles);
  f(a.warp_instructions, b.warp_instructions);
  f(a.thread_instructions, b.thread_instructions);
  f(a.offloaded_thread_instructions, b.offloaded_thread_instructions);
  f(a.traffic.gpu_to_memory_bytes, b.traffic.gpu_to_memory_bytes);
  f(a.traffic.memory_to_gpu_bytes, b.traffic.memory_to_gpu_bytes);
  f(a.traffic.memory_to_memory_bytes, b.traffic.memory_to_memory_bytes);
  f(a.link_use.gpu_to_memory_busy_ticks, b.link_use.gpu_to_memory_busy_ticks);
  f(a.link_use.memory_to_gpu_busy_ticks, b.link_use.memory_to_gpu_busy_ticks);
  f(a.link_use.available_ticks, b.link_use.available_ticks);
  each_row(a.sm_cycles, b.sm_cycles, add_missing, f);
  each_row(a.kernel_cycles, b.kernel_cycles, add_missing, f);
  each_row(a.utilisation, b.utilisation, add_missing, f);
  each_row(a.way, b.way, add_missing, f);
  each_row(a.networks, b.networks, add_missing, f);
  for (const MechanismReport* m : mechanism_reports())
    if (m->each_sum != nullptr) m->each_sum(a, b, add_missing, f);
}

/// Counters by name; those that are no sums are treated as the header says.
template <class F>
void each_counter(RunResult& a, const RunResult& b, bool later_is_b, F f) {
  std::erase_if(a.counters, [](const Counter& c) { return is_most(c.name); });
  // Runs mostly have their counters in the same order.
  size_t next = 0;
  const auto other = [&](const std::string& name) -> const Counter* {
    for (size_t i = 0; i < b.counters.size(); ++i) {
      const Counter& c = b.counters[next];
      next = next + 1 == b.counters.size() ? 0 : next + 1;
      if (c.name == name) return &c;
    }
    return nullptr;
  };
  std::erase_if(a.counters, [&](Counter& c) {
    const Counter* same = other(c.name);
    if (same == nullptr) return true;
    if (!is_level(c.name))
      f(c.value, same->value);
    else if (later_is_b)
      c.value = same->value;
    return false;
  });
}

/// Subtracts in an account of a part, whose sums of SM cycles never fall: 0 is the least.
void subtract(uint64_t& a, uint64_t b) { a = a > b ? a - b : 0; }
void add(uint64_t& a, uint64_t b) { a += b; }

}  // namespace

RunResult between(const RunResult& before, const RunResult& after) {
  RunResult part = after;
  each_sum(part, before, false, subtract);
  each_counter(part, before, false, subtract);
  std::erase_if(part.kernels,
                [&](const KernelRow& k) { return k.begin + k.cycles <= before.cycles; });
  for (KernelRow& k : part.kernels) k.begin -= std::min(k.begin, before.cycles);
  std::erase_if(part.kernel_cycles, [&](const SmCycles& c) {
    return std::none_of(part.kernels.begin(), part.kernels.end(),
                        [&](const KernelRow& k) { return k.kernel == c.kernel; });
  });
  if (after.learning_cycles != RunResult::kToTheEnd)
    part.learning_cycles = std::min(after.learning_cycles, after.cycles) -
                           std::min(after.learning_cycles, before.cycles);
  part.energy = {};
  return part;
}

RunResult joined(const config::MachineConfig& machine, std::vector<RunResult> parts) {
  RunResult all = std::move(parts.front());
  for (size_t i = 1; i < parts.size(); ++i) {
    const RunResult& part = parts[i];
    for (KernelRow k : part.kernels) {
      k.begin += all.cycles;
      all.kernels.push_back(std::move(k));
    }
    each_sum(all, part, true, add);
    each_counter(all, part, true, add);
    all.wall_seconds += part.wall_seconds;
    if (!all.partial && part.partial) all.partial_reason = part.partial_reason;
    all.partial |= part.partial;
    if (!all.launches.has_value() || !part.launches.has_value()) continue;
    LaunchesReport& l = *all.launches;
    l.last = part.launches->last;
    l.parts.insert(l.parts.end(), part.launches->parts.begin(), part.launches->parts.end());
    l.before = std::max(l.before, part.launches->before);
    l.warmed_by = std::max(l.warmed_by, part.launches->warmed_by);
    l.learnt_by = std::max(l.learnt_by, part.launches->learnt_by);
    l.simulated += part.launches->simulated;
    l.exact &= part.launches->exact;
  }
  all.energy = account_energy(machine, all);
  return all;
}

RunResult extrapolated(const config::MachineConfig& machine, std::vector<RunResult> parts,
                       const std::vector<PartWeight>& weights) {
  for (size_t i = 0; i < parts.size(); ++i) {
    const PartWeight& w = weights[i];
    const auto multiplied = [](uint64_t a, double by) {
      return by == 1 ? a : static_cast<uint64_t>(std::llround(static_cast<double>(a) * by));
    };
    const auto times = [&](uint64_t& a, uint64_t) { a = multiplied(a, w.times); };
    RunResult& part = parts[i];
    each_sum(part, part, false, times);
    std::erase_if(part.counters, [](const Counter& c) { return is_most(c.name); });
    for (Counter& c : part.counters)
      if (!is_level(c.name)) times(c.value, 0);
    for (KernelRow& k : part.kernels) {
      k.weight = w.units * w.share;
      const double whole = w.times / k.weight;
      if (w.share == 1) continue;
      for (uint64_t KernelRow::*m :
           {&KernelRow::cycles, &KernelRow::warp_instructions, &KernelRow::thread_instructions})
        k.*m = multiplied(k.*m, whole);
    }
  }
  RunResult all = joined(machine, std::move(parts));
  for (KernelRow& k : all.kernels) k.begin = 0;
  return all;
}

}  // namespace nearwarp::report
