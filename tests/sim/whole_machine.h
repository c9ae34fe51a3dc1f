// Recordings of the built-in workloads and of small PTX kernels, and runs of them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/workloads/workload.h"
#include "host/config/config.h"
#include "host/mechanisms/tom/report/sections.h"
#include "host/timing/run/cpu_replay.h"

namespace nearwarp::testing {

/// A workload, executed once per process; `limit` thread-instructions (0: to its end).
inline const runtime::Recording& workload(const std::string& name, uint64_t limit = 0,
                                          workloads::Size size = workloads::Size::kSmall) {
  static std::map<std::string, std::unique_ptr<runtime::Recording>> kept;
  auto& r = kept[name + "/" + std::to_string(limit) + "/" + std::to_string(int(size))];
  if (!r) {
    runtime::VirtualDevice::Options options;
    options.max_thread_instructions = limit;
    runtime::VirtualDevice device(options);
    workloads::find(name)->run(device, size);
    r = std::make_unique<runtime::Recording>(device.take_recording(name));
  }
  return *r;
}

/// Names of all built-in workloads but variants, for tests that run over them.
inline std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const auto& w : workloads::all())
    if (w->variant_of().empty()) names.push_back(w->name());
  return names;
}
/// `name` as a part of a test's name.
inline std::string test_name(std::string name) {
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

/// A device with a module compiled from PTX text (".version" and so on are added).
struct PtxDevice {
  runtime::VirtualDevice device;
  uint32_t module;
  explicit PtxDevice(const std::string& text)
      : module(device.load_module(std::make_shared<const compiler::Program>(compiler::compile_ptx(
            ".version 8.0\n.target sm_80\n.address_size 64\n" + text, "test.ptx")))) {}
  runtime::Recording record(const std::string& name = "test") {
    return device.take_recording(name);
  }
};

inline report::RunResult simulate(const runtime::Recording& recording, const std::string& policy,
                                  const std::vector<std::string>& overrides = {},
                                  const sim::SimOptions& options = {}) {
  return sim::replay_on_cpu(recording, config::load_machine("tom", overrides),
                            config::load_policy(policy, overrides), options);
}

/// Everything that a run found, as text, the time it took on the host apart.
inline std::vector<std::pair<std::string, uint64_t>> numbers(const report::RunResult& r) {
  std::vector<std::pair<std::string, uint64_t>> n{
      {"cycles", r.cycles},
      {"warp_instructions", r.warp_instructions},
      {"thread_instructions", r.thread_instructions},
      {"offloaded_thread_instructions", r.offloaded_thread_instructions},
      {"gpu_to_memory", r.traffic.gpu_to_memory_bytes},
      {"memory_to_gpu", r.traffic.memory_to_gpu_bytes},
      {"memory_to_memory", r.traffic.memory_to_memory_bytes}};
  for (const report::Counter& c : r.counters) n.emplace_back(c.name, c.value);
  for (const report::EnergyTerm& t : r.energy.terms)
    n.emplace_back(t.name, static_cast<uint64_t>(t.energy));
  for (const report::KernelRow& k : r.kernels) n.emplace_back(k.kernel, k.cycles);
  for (const tom::CandidateRow& c : tom::candidates_of(r))
    n.emplace_back(c.kernel + std::to_string(c.id), c.instances * 1'000'000 + c.offloaded);
  return n;
}

/// And where packets were, and how busy everything was.
inline std::vector<std::pair<std::string, uint64_t>> numbers_and_times(const report::RunResult& r) {
  std::vector<std::pair<std::string, uint64_t>> n = numbers(r);
  for (const report::WayTime& w : r.way) n.emplace_back("way " + w.name, w.ticks);
  for (const report::Utilisation& u : r.utilisation) n.emplace_back("busy " + u.name, u.busy_ticks);
  return n;
}

inline uint64_t counter(const report::RunResult& r, const std::string& name) {
  for (const report::Counter& c : r.counters)
    if (c.name == name) return c.value;
  throw Error("no counter " + name);
}

}  // namespace nearwarp::testing
