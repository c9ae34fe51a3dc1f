// Speed of the timing model: recorded kernels replayed on a machine. Items are warp-instructions.
//
// The three synthetic kernels run on the 80-SM machine, and with a sparse matrix on that of
// GPGPU-Sim's configuration SM2_GTX480; the workloads on TOM's, without and with offloading.
// Functional execution is not part of the time.
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>

#include "bench/workloads/workload.h"
#include "host/config/config.h"
#include "host/functional/device/virtual_device.h"
#include "host/timing/run/cpu_replay.h"

namespace {

using namespace nearwarp;

/// Recordings are made once and kept; a benchmark only replays.
const runtime::Recording& recording(const std::string& workload, workloads::Size size) {
  static std::map<std::pair<std::string, int>, std::unique_ptr<runtime::Recording>> kept;
  auto& slot = kept[{workload, static_cast<int>(size)}];
  if (!slot) {
    runtime::VirtualDevice device;
    workloads::find(workload)->run(device, size);
    slot = std::make_unique<runtime::Recording>(device.take_recording(workload));
  }
  return *slot;
}

void replay(benchmark::State& state, const std::string& workload, workloads::Size size,
            const std::string& machine_name, const std::string& policy_name) {
  const runtime::Recording& program = recording(workload, size);
  const config::MachineConfig machine = config::load_machine(machine_name);
  const config::PolicyConfig policy = config::load_policy(policy_name);
  sim::SimOptions options;
  options.threads = static_cast<unsigned>(state.range(0));
  uint64_t instructions = 0, cycles = 0;
  for (auto _ : state) {
    const report::RunResult r = sim::replay_on_cpu(program, machine, policy, options);
    instructions += r.warp_instructions;
    cycles += r.cycles;
  }
  state.SetItemsProcessed(static_cast<int64_t>(instructions));
  state.counters["cycles/s"] =
      benchmark::Counter(static_cast<double>(cycles), benchmark::Counter::kIsRate);
}

struct Case {
  const char* workload;
  workloads::Size size;
  const char* machine;
  const char* policy;
};
constexpr Case kCases[] = {
    {"vector-add", workloads::Size::kMedium, "bench80", "baseline"},
    {"fma", workloads::Size::kMedium, "bench80", "baseline"},
    {"gather", workloads::Size::kMedium, "bench80", "baseline"},
    {"vector-add", workloads::Size::kSmall, "gtx480", "baseline"},
    {"fma", workloads::Size::kSmall, "gtx480", "baseline"},
    {"gather", workloads::Size::kSmall, "gtx480", "baseline"},
    {"spmv", workloads::Size::kSmall, "gtx480", "baseline"},
    {"libor", workloads::Size::kMedium, "tom", "baseline"},
    {"libor", workloads::Size::kMedium, "tom", "ndp-controlled-bmap"},
    {"kmeans", workloads::Size::kMedium, "tom", "baseline"},
    {"kmeans", workloads::Size::kMedium, "tom", "ndp-controlled-bmap"},
    {"bfs-rmat", workloads::Size::kMedium, "tom", "baseline"},
    {"bfs-rmat", workloads::Size::kMedium, "tom", "ndp-controlled-bmap"},
    {"reduction", workloads::Size::kMedium, "tom", "baseline"},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Case& c : kCases) {
    const std::string name = std::string(c.workload) + "/" + c.machine + "/" + c.policy;
    benchmark::RegisterBenchmark(
        name.c_str(),
        [c](benchmark::State& state) { replay(state, c.workload, c.size, c.machine, c.policy); })
        ->ArgName("threads")
        ->Arg(1)
        ->Arg(2)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
