// Counts the work of the stepping kernels: steps systems of one program with different keys on the
// CUDA device, by teams or as a batch, and prints what was simulated. The simulated GPU says how
// many instructions it executed for that, and with how many lanes: figures without a GPU. bench/gpu
// --proxy makes a table of them, and `nearwarp run --profile` shows where they are.
//
//   gpu_proxy WAY PROGRAM [--machine M] [--policy P] [--systems N] [--instructions N] ...
//
// Batches are stepped by one warp, teams are one warp each: nobody waits for work, so that every
// instruction counts.
#include <cstdio>
#include <cxxopts.hpp>
#include <memory>
#include <string>
#include <vector>

#include "bench/workloads/workload.h"
#include "host/config/config.h"
#include "host/core/error.h"
#include "host/functional/device/virtual_device.h"
#include "host/timing/run/accelerator_batch.h"
#include "kernels/device.h"

namespace {

using namespace nearwarp;

class Sum final : public sim::BatchObserver {
 public:
  void finished(size_t, sim::BatchOutcome outcome) override {
    if (outcome.error != nullptr) std::rethrow_exception(outcome.error);
    cycles += outcome.result->cycles;
    instructions += outcome.result->warp_instructions;
  }
  bool progress(uint64_t) override { return true; }
  uint64_t cycles = 0, instructions = 0;
};

/// Some of what a study varies: little, where latencies do, or more.
std::vector<std::string> keys_of(uint32_t system, const std::string& vary) {
  if (vary == "nothing") return {};
  if (vary == "latency") return {"l2.latency_cycles=" + std::to_string(29 + 3 * (system % 8))};
  return {"l2.latency_cycles=" + std::to_string(29 + 3 * (system % 8)),
          "l1.bytes=" + std::to_string(system / 8 % 2 == 0 ? 32768 : 16384),
          "sm.schedulers=" + std::to_string(1 + system / 16 % 2)};
}

int run(const cxxopts::ParseResult& given) {
  const auto way = given["way"].as<std::string>();
  if (way != "teams" && way != "batch") throw UsageError("WAY is teams or batch");
  const auto program = given["program"].as<std::string>();
  const workloads::Workload* workload = workloads::find(program);
  if (workload == nullptr) throw UsageError("there is no workload '" + program + "'");
  runtime::VirtualDevice::Options recording_options;
  recording_options.max_thread_instructions = given["instructions"].as<uint64_t>() * 32;
  runtime::VirtualDevice recorder(recording_options);
  workload->run(recorder, workloads::Size::kSmall);
  const runtime::Recording recording = recorder.take_recording(program);

  const config::PolicyConfig policy = config::load_policy(given["policy"].as<std::string>());
  std::vector<std::unique_ptr<config::MachineConfig>> machines;
  std::vector<sim::ReplayJob> systems;
  for (uint32_t i = 0; i < given["systems"].as<uint32_t>(); ++i) {
    std::vector<std::string> keys = keys_of(i, given["vary"].as<std::string>());
    if (const auto cycles = given["cycles"].as<uint64_t>(); cycles != 0)
      keys.push_back("run.max_cycles=" + std::to_string(cycles));
    machines.push_back(std::make_unique<config::MachineConfig>(
        config::load_machine(given["machine"].as<std::string>(), keys)));
    systems.push_back({&recording, machines.back().get(), &policy});
  }
  std::string why;
  if (kernels::cuda_devices(why).empty()) throw Error("there is no CUDA device: " + why);
  const auto device = kernels::open_cuda_device(0, {.batch_warps = 1});
  sim::AcceleratorBatchOptions options;
  options.way = way == "batch" ? sim::DeviceWay::kBatch : sim::DeviceWay::kTeams;
  options.team_warps = way == "batch" ? 0 : 1;
  options.slice = {};  // to the end
  Sum sum;
  sim::AcceleratorBatch(*device, options).run(systems, sum);
  std::printf("%zu systems, %llu cycles, %llu warp-instructions\n", systems.size(),
              static_cast<unsigned long long>(sum.cycles),
              static_cast<unsigned long long>(sum.instructions));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options line("gpu_proxy", "What stepping systems on a CUDA device executes");
  line.add_options()("way", "teams or batch", cxxopts::value<std::string>())(
      "program", "a workload", cxxopts::value<std::string>())(
      "machine", "of all systems", cxxopts::value<std::string>()->default_value("tom"), "NAME")(
      "policy", "of all systems", cxxopts::value<std::string>()->default_value("baseline"), "NAME")(
      "vary", "between systems: nothing, latency, or all",
      cxxopts::value<std::string>()->default_value("all"), "WHAT")(
      "cycles", "of each system, at most; 0: all", cxxopts::value<uint64_t>()->default_value("0"),
      "N")("systems", "how many", cxxopts::value<uint32_t>()->default_value("32"), "N")(
      "instructions", "warp-instructions of the program, at most; 0: all",
      cxxopts::value<uint64_t>()->default_value("20000"), "N")("h,help", "print this text");
  line.parse_positional({"way", "program"});
  line.positional_help("WAY PROGRAM");
  try {
    const auto given = line.parse(argc, argv);
    if (given.count("help") != 0) {
      std::printf("%s", line.help().c_str());
      return 0;
    }
    if (given.count("way") == 0 || given.count("program") == 0)
      throw UsageError("WAY and PROGRAM are wanted - try --help");
    return run(given);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_proxy: %s\n", error.what());
    return 1;
  }
}
