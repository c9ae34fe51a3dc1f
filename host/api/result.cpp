// A run's numbers as the public interface has them.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "host/api/failure.h"
#include "host/api/state.h"
#include "host/config/nearest.h"
#include "host/core/json_as_text.h"
#include "host/timing/report/json.h"

namespace nearwarp {

std::vector<std::string> changes_of(const Machine::State& machine, const Policy::State& policy) {
  if (machine.given == policy.given) return machine.given;
  std::vector<std::string> all = machine.given;
  all.insert(all.end(), policy.given.begin(), policy.given.end());
  return all;
}

Result result_of(report::RunResult run, const RunOf& of, JsonText json) {
  run.workload = of.program->name;
  run.size = of.program->size;
  run.overrides = changes_of(*of.machine, *of.policy);
  if (!run.partial && !of.program->cut_short.empty()) {
    run.partial = true;
    run.partial_reason = of.program->cut_short;
  }
  Result r;
  r.program = run.workload;
  r.size = run.size;
  r.machine = run.machine;
  r.policy = run.policy;
  r.partial = run.partial;
  r.partial_reason = run.partial_reason;
  r.cycles = run.cycles;
  r.seconds = run.seconds();
  r.warp_instructions = run.warp_instructions;
  r.thread_instructions = run.thread_instructions;
  r.offloaded_thread_instructions = run.offloaded_thread_instructions;
  r.ipc = run.ipc();
  r.gpu_to_memory_bytes = run.traffic.gpu_to_memory_bytes;
  r.memory_to_gpu_bytes = run.traffic.memory_to_gpu_bytes;
  r.memory_to_memory_bytes = run.traffic.memory_to_memory_bytes;
  r.energy_joules = report::joules(run.energy.total());
  r.host_seconds = run.wall_seconds;
  if (run.launches.has_value()) {
    r.exact = run.launches->exact;
    if (run.launches->sample.has_value()) {
      r.exact = false;
      r.cycles_error = report::cycles_error(*run.launches->sample);
    }
  }
  r.counters.reserve(run.counters.size());
  for (const report::Counter& c : run.counters)
    r.counters.push_back({c.name, c.value, c.unit, c.description});
  r.launches.reserve(run.kernels.size());
  for (const report::KernelRow& k : run.kernels)
    r.launches.push_back({k.kernel, k.begin, k.cycles, k.warp_instructions, k.thread_instructions});
  if (json == JsonText::kMade) r.json = json_as_text(report::run_json(run), 2);
  r.whole = std::make_shared<const Result::Whole>(
      Result::Whole{std::move(run), of.machine, of.program->one_workload});
  return r;
}

namespace {

/// A run has hundreds of counters: so many of those that may be meant are named.
constexpr size_t kMostNamed = 5;

/// The value of that name among counters with a name and a value.
template <class Counters>
Expected<uint64_t> found(const Counters& counters, std::string_view name) {
  const auto at = std::ranges::find_if(counters, [&](const auto& c) { return c.name == name; });
  if (at != counters.end()) return at->value;
  std::vector<std::string> names;
  for (const auto& c : counters) names.push_back(c.name);
  std::string near;
  for (const std::string& other : config::nearest_names(name, names, kMostNamed))
    near += (near.empty() ? "did you mean '" : " or '") + other + "'";
  return failure_of(
      ErrorParts{.what = "there is no counter '" + std::string(name) + "'",
                 .right = near.empty() ? "the result lists all that there are" : near + "?"});
}

}  // namespace

Expected<uint64_t> counter_of(const report::RunResult& run, std::string_view name) {
  return found(run.counters, name);
}
Expected<uint64_t> Result::counter(std::string_view name) const { return found(counters, name); }

}  // namespace nearwarp
