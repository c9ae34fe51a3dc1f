// Speed of the analyses that run over traces without timing. Items are warp-instructions.
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>

#include "bench/workloads/workload.h"
#include "host/config/config.h"
#include "host/functional/device/virtual_device.h"
#include "host/mechanisms/tom/mapping_study.h"
#include "host/mechanisms/tom/offset_study.h"
#include "host/timing/machine/baseline_map.h"

namespace {

using namespace nearwarp;

/// A recording of size medium and its image; made once and kept.
struct Program {
  runtime::Recording recording;
  config::MachineConfig machine = config::load_machine("tom");
  sim::ImageTables image;
  tom::OffloadTables offload;
  AddressMap map = sim::machine_address_map(machine);

  explicit Program(const std::string& workload) {
    runtime::VirtualDevice device;
    workloads::find(workload)->run(device, workloads::Size::kMedium);
    recording = device.take_recording(workload);
    image = sim::build_image(recording, machine);
    offload = tom::build_offload_tables(recording, machine,
                                        config::load_policy("ndp-controlled-bmap"), image);
  }
};

const Program& program(const std::string& workload) {
  static std::map<std::string, std::unique_ptr<Program>> kept;
  auto& slot = kept[workload];
  if (!slot) slot = std::make_unique<Program>(workload);
  return *slot;
}

template <class F>
void analysis(benchmark::State& state, const std::string& workload, F&& run) {
  const Program& p = program(workload);
  sim::StudyOptions options;
  options.threads = static_cast<unsigned>(state.range(0));
  uint64_t instructions = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(run(p, options));
    instructions += p.recording.warp_instructions;
  }
  state.SetItemsProcessed(static_cast<int64_t>(instructions));
}

template <class F>
void add(const std::string& name, const std::string& workload, bool threads, F run) {
  auto* b = benchmark::RegisterBenchmark(
      (name + "/" + workload).c_str(),
      [=](benchmark::State& state) { analysis(state, workload, run); });
  b->ArgName("threads")->Arg(1)->UseRealTime()->Unit(benchmark::kMillisecond);
  if (threads) b->Arg(2);
}

}  // namespace

int main(int argc, char** argv) {
  for (const char* workload : {"kmeans", "bfs-rmat"}) {
    add("count_instances", workload, true, [](const Program& p, const sim::StudyOptions& o) {
      return sim::count_instances(p.recording, p.image, p.offload, o);
    });
    add("study_mappings", workload, true, [](const Program& p, const sim::StudyOptions& o) {
      return sim::study_mappings(p.recording, p.image, p.offload, p.map, sim::kAllInstances, o)
          .accesses;
    });
    add("study_offsets", workload, false, [](const Program& p, const sim::StudyOptions&) {
      return sim::study_offsets(p.recording, p.image, p.offload).size();
    });
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
