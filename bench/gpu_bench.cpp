// What a GPU gives: one system and batches of systems against the CPU backend of the same machine,
// the cost of a window's barrier, and how full the GPU is. Prints tables and writes JSON.
//
//   gpu_bench [--json FILE] [--size SIZE] [--emulated]
//
// --emulated runs a few small systems on the emulated device instead: it measures nothing, but
// exercises this program where there is no GPU.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cxxopts.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "bench/workloads/workload.h"
#include "host/config/config.h"
#include "host/core/error.h"
#include "host/functional/device/virtual_device.h"
#include "host/timing/run/accelerator_batch.h"
#include "kernels/emulated_device.h"

namespace {

using namespace nearwarp;
using Json = nlohmann::ordered_json;

struct Options {
  bool emulated = false;
  workloads::Size size = workloads::Size::kMedium;
  std::vector<uint32_t> batches = {1, 8, 32, 128, 512};
  std::vector<std::string> programs = {"vector-add", "kmeans", "bfs-rmat", "libor"};
  std::vector<std::string> policies = {"baseline", "tom"};
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Adds up what a batch has simulated.
struct Sum final : sim::BatchObserver {
  uint64_t cycles = 0, instructions = 0;
  void finished(size_t, sim::BatchOutcome outcome) override {
    if (outcome.error != nullptr) std::rethrow_exception(outcome.error);
    cycles += outcome.result->cycles;
    instructions += outcome.result->warp_instructions;
  }
  bool progress(uint64_t) override { return true; }
};

/// Rates of a batch.
struct Rates {
  double seconds = 0, cycles = 0, instructions = 0;  ///< the latter per second
};

Rates measure(sim::BatchRunner& runner, const std::vector<sim::ReplayJob>& systems) {
  Sum sum;
  const auto begin = std::chrono::steady_clock::now();
  runner.run(systems, sum);
  Rates r;
  r.seconds = seconds_since(begin);
  r.cycles = static_cast<double>(sum.cycles) / r.seconds;
  r.instructions = static_cast<double>(sum.instructions) / r.seconds;
  return r;
}

Json json_of(const Rates& r) {
  return {{"seconds", r.seconds},
          {"cycles_per_second", r.cycles},
          {"warp_instructions_per_second", r.instructions}};
}

Json device_json(const kernels::DeviceInfo& d) {
  return {{"name", d.name},
          {"architecture", d.architecture},
          {"memory_bytes", d.memory_bytes},
          {"multiprocessors", d.multiprocessors},
          {"clock_mhz", d.clock_mhz},
          {"registers_per_thread", d.registers},
          {"local_bytes_per_thread", d.local_bytes},
          {"warps_per_block", d.warps_per_block},
          {"blocks_at_once", d.blocks_at_once},
          {"largest_team_blocks", d.largest_team},
          {"clusters", d.clusters}};
}

/// What a meeting of a team takes, by its size.
Json measure_barrier(kernels::Device& device) {
  constexpr uint32_t kTimes = 100'000;
  std::printf("%-28s %14s\n", "barrier of a team [blocks]", "nanoseconds");
  Json rows = Json::array();
  for (uint32_t blocks = 1; blocks <= device.info().largest_team; blocks *= 2) {
    device.meet({1, blocks}, kTimes);
    const double ns = device.meet({1, blocks}, kTimes).seconds * 1e9 / kTimes;
    std::printf("%-28u %14.0f\n", blocks, ns);
    rows.push_back({{"blocks", blocks}, {"nanoseconds", ns}});
  }
  std::printf("\n");
  return rows;
}

class Bench {
 public:
  Bench(kernels::Device& device, const Options& options)
      : device_(device), options_(options), machine_(config::load_machine("tom")) {
    for (const std::string& name : options.policies) policies_.push_back(config::load_policy(name));
  }

  Json one_system(const std::string& program, const runtime::Recording& recording) {
    const unsigned all = std::max(1u, std::thread::hardware_concurrency());
    Json rows = Json::array();
    for (const config::PolicyConfig& policy : policies_) {
      const std::vector<sim::ReplayJob> one = {{&recording, &machine_, &policy}};
      Json row = {{"workload", program}, {"policy", policy.name}};
      const Rates cpu = measure_cpu(one, 1), cpus = measure_cpu(one, all);
      row["cpu_1_thread"] = json_of(cpu);
      row["cpu_all_threads"] = json_of(cpus);
      for (uint32_t blocks = 1; blocks <= device_.info().largest_team; blocks *= 2)
        row["gpu_" + std::to_string(blocks) + "_blocks"] = json_of(measure_gpu(one, blocks));
      const Rates gpu = measure_gpu(one, 0);
      row["gpu"] = json_of(gpu);
      std::printf("%-11s %-9s %10.2f %10.2f %10.2f %9.2f %9.2f\n", program.c_str(),
                  policy.name.c_str(), cpu.instructions / 1e6, cpus.instructions / 1e6,
                  gpu.instructions / 1e6, gpu.instructions / cpu.instructions, gpu.cycles / 1e6);
      rows.push_back(std::move(row));
    }
    return rows;
  }

  Json batches(const std::string& program, const runtime::Recording& recording) {
    Json rows = Json::array();
    const unsigned all = std::max(1u, std::thread::hardware_concurrency());
    const Rates core = measure_cpu(systems(recording, 2), 1);
    const Rates cores = measure_cpu(systems(recording, 2 * all), all);
    for (const uint32_t n : options_.batches) {
      const Rates gpu = measure_gpu(systems(recording, n), 0);
      std::printf("%-11s %8u %10.2f %10.2f %10.2f %9.1f\n", program.c_str(), n,
                  core.instructions / 1e6, cores.instructions / 1e6, gpu.instructions / 1e6,
                  gpu.instructions / core.instructions);
      rows.push_back({{"workload", program},
                      {"systems", n},
                      {"cpu_1_thread", json_of(core)},
                      {"cpu_all_threads", json_of(cores)},
                      {"gpu", json_of(gpu)},
                      {"times_one_core", gpu.instructions / core.instructions}});
    }
    return rows;
  }

  /// Of `n` systems on the device.
  Rates rates(const runtime::Recording& recording, uint32_t n) const {
    return measure_gpu(systems(recording, n), 0);
  }

 private:
  /// Half of them under each policy, so that not all do the same at the same time.
  std::vector<sim::ReplayJob> systems(const runtime::Recording& recording, uint32_t n) const {
    std::vector<sim::ReplayJob> all;
    for (uint32_t i = 0; i < n; ++i)
      all.push_back({&recording, &machine_, &policies_[i % policies_.size()]});
    return all;
  }
  Rates measure_cpu(const std::vector<sim::ReplayJob>& systems, unsigned threads) const {
    sim::CpuBatch cpu(threads);
    return measure(cpu, systems);
  }
  Rates measure_gpu(const std::vector<sim::ReplayJob>& systems, uint32_t blocks) const {
    sim::AcceleratorBatchOptions options;
    options.blocks_per_team = blocks;
    sim::AcceleratorBatch gpu(device_, options);
    return measure(gpu, systems);
  }

  kernels::Device& device_;
  const Options& options_;
  config::MachineConfig machine_;
  std::vector<config::PolicyConfig> policies_;
};

runtime::Recording record(const std::string& name, workloads::Size size) {
  runtime::VirtualDevice device;
  workloads::find(name)->run(device, size);
  return device.take_recording(name);
}

std::unique_ptr<kernels::Device> open(const Options& options) {
  if (options.emulated)
    return std::make_unique<kernels::EmulatedDevice>(kernels::EmulationOptions{});
  std::string why;
  if (kernels::cuda_devices(why).empty()) throw Error("there is no CUDA device: " + why);
  return kernels::open_cuda_device(0);
}

/// How much of shared memory should hold components' states, how much should cache the rest?
Json measure_shared(const Options& options, const std::string& program,
                    const runtime::Recording& recording) {
  std::printf("\nMillions of warp-instructions per second, %s, by shared memory for states\n",
              program.c_str());
  std::printf("%-14s %14s %14s\n", "KiB per block", "one system", "a full device");
  Json rows = Json::array();
  for (const uint32_t kib : {0u, 32u, 64u, 96u, 128u, 160u, 200u}) {
    const auto device = kernels::open_cuda_device(0, {.shared_bytes = kib << 10});
    if (device->info().shared_bytes != kib << 10) break;  // it has no more
    const Bench bench(*device, options);
    const Rates one = bench.rates(recording, 1);
    const Rates full = bench.rates(recording, device->info().blocks_at_once);
    std::printf("%-14u %14.2f %14.2f\n", kib, one.instructions / 1e6, full.instructions / 1e6);
    rows.push_back({{"bytes", kib << 10}, {"one_system", json_of(one)}, {"full", json_of(full)}});
  }
  return rows;
}

int run(const Options& options, const std::string& json_path) {
  std::unique_ptr<kernels::Device> device = open(options);
  const kernels::DeviceInfo& info = device->info();
  std::printf(
      "%s (%s), %u registers per thread, %u bytes of local memory, occupancy %u of 64 "
      "warps\n\n",
      info.name.c_str(), info.architecture.c_str(), info.registers, info.local_bytes,
      info.blocks_at_once / std::max(1u, info.multiprocessors) * info.warps_per_block);
  Json document = {{"schema", "nearwarp.gpu_bench/1"},
                   {"device", device_json(info)},
                   {"cpu_threads", std::thread::hardware_concurrency()}};
  document["barrier"] = measure_barrier(*device);
  Bench bench(*device, options);
  document["one_system"] = Json::array();
  document["batches"] = Json::array();
  std::vector<runtime::Recording> recordings;
  for (const std::string& name : options.programs) recordings.push_back(record(name, options.size));
  std::printf("Millions of warp-instructions per second; one system\n");
  std::printf("%-11s %-9s %10s %10s %10s %9s %9s\n", "workload", "policy", "1 core", "all cores",
              "GPU", "x 1 core", "Mcycles/s");
  for (size_t i = 0; i < recordings.size(); ++i)
    for (Json& row : bench.one_system(options.programs[i], recordings[i]))
      document["one_system"].push_back(std::move(row));
  std::printf("\nMillions of warp-instructions per second; batches\n");
  std::printf("%-11s %8s %10s %10s %10s %9s\n", "workload", "systems", "1 core", "all cores", "GPU",
              "x 1 core");
  for (size_t i = 0; i < recordings.size(); ++i)
    for (Json& row : bench.batches(options.programs[i], recordings[i]))
      document["batches"].push_back(std::move(row));
  if (!options.emulated) {
    device.reset();  // its memory
    document["shared_memory"] = measure_shared(options, options.programs[1], recordings[1]);
  }
  if (json_path.empty()) return 0;
  std::ofstream file(json_path);
  file << document.dump(2) << '\n';
  if (!file) throw Error("cannot write '" + json_path + "'");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options line("gpu_bench", "What a GPU gives, against the CPU of the same machine");
  line.add_options()("json", "write every figure to this file",
                     cxxopts::value<std::string>()->default_value(""))(
      "size", "size of the workloads", cxxopts::value<std::string>()->default_value("medium"))(
      "emulated", "a small run on the emulated device")("h,help", "print this text");
  try {
    const auto given = line.parse(argc, argv);
    if (given.count("help") != 0) {
      std::printf("%s", line.help().c_str());
      return 0;
    }
    Options options;
    options.emulated = given.count("emulated") != 0;
    options.size = workloads::parse_size(given["size"].as<std::string>());
    if (options.emulated) {
      options.size = workloads::Size::kSmall;
      options.batches = {1, 3};
      options.programs = {"vector-add"};
    }
    return run(options, given["json"].as<std::string>());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
    return 1;
  }
}
