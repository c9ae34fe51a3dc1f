// Measures a GPU's speed: one system and many, stepped by teams and as a batch, against the CPU
// backend of the same machine, the cost of a window's barrier, the effect of sizes of teams and of
// shared memory, and how full the GPU is. Prints tables and writes JSON.
//
//   gpu_bench [--parts PARTS] [--seconds S] [--json FILE] [--emulated] ...
//
// --emulated runs a few small systems on the emulated device instead: it measures nothing, but
// exercises this program where there is no GPU.
#include <fmt/format.h>

#include <algorithm>
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
  std::vector<std::string> parts = {"barrier", "one", "batches", "teams", "shared"};
  workloads::Size size = workloads::Size::kSmall;
  uint64_t instructions = 100'000;  ///< warp-instructions of a program, at most; 0: all
  double seconds = 60;              ///< seconds after which a measurement is stopped
  uint32_t team_warps = 0;          ///< 0: as fits the number of systems
  std::string machine = "tom";
  std::vector<uint32_t> batches = {1, 8, 32, 128, 512, 2048};
  std::vector<std::string> programs = {"vector-add", "kmeans", "bfs-rmat", "libor"};
  std::vector<std::string> policies = {"baseline", "tom"};

  bool wants(const std::string& part) const {
    return std::ranges::find(parts, part) != parts.end();
  }
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Rates of a batch.
struct Rates {
  double seconds = 0, cycles = 0, instructions = 0;  ///< the latter per second
  double on_device = 0;         ///< instructions per second of launches alone; 0: on the CPU
  double all_instructions = 0;  ///< instructions per second, the first launch included
};

constexpr double kLongEnough = 0.2;  ///< seconds: some launches

/// Adds up what a batch has simulated, and stops it in time. Where that is long enough, time counts
/// from when the first launch is over: laying out systems is not stepping them.
class Sum final : public sim::BatchObserver {
 public:
  explicit Sum(double seconds) : allowed_(seconds) {}
  void finished(size_t, sim::BatchOutcome outcome) override {
    if (outcome.error != nullptr) std::rethrow_exception(outcome.error);
    cycles_ += outcome.result->cycles;
    instructions_ += outcome.result->warp_instructions;
  }
  bool progress(uint64_t instructions) override {
    if (instructions != 0 && at_first_ == 0) {
      at_first_ = instructions;
      first_ = std::chrono::steady_clock::now();
    }
    return at_first_ == 0 || seconds_since(first_) < allowed_;
  }
  Rates rates() const {
    Rates r;
    const bool long_enough = at_first_ != 0 && seconds_since(first_) > kLongEnough;
    r.seconds = seconds_since(long_enough ? first_ : begin_);
    const double part = long_enough ? 1 - static_cast<double>(at_first_) / instructions_ : 1;
    r.cycles = part * static_cast<double>(cycles_) / r.seconds;
    r.instructions = part * static_cast<double>(instructions_) / r.seconds;
    r.all_instructions = static_cast<double>(instructions_);
    return r;
  }

 private:
  double allowed_;
  uint64_t cycles_ = 0, instructions_ = 0, at_first_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), first_;
};

Rates measure(sim::BatchRunner& runner, const std::vector<sim::ReplayJob>& systems,
              double seconds) {
  Sum sum(seconds);
  runner.run(systems, sum);
  return sum.rates();
}

Json json_of(const Rates& r) {
  Json json = {{"seconds", r.seconds},
               {"cycles_per_second", r.cycles},
               {"warp_instructions_per_second", r.instructions}};
  if (r.on_device != 0) json["warp_instructions_per_second_of_launches"] = r.on_device;
  return json;
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

/// The nanoseconds that a meeting of a team takes, by its size.
Json measure_barrier(kernels::Device& device) {
  constexpr uint32_t kTimes = 100'000;
  std::printf("%-28s %14s\n", "barrier of a team [blocks]", "nanoseconds");
  Json rows = Json::array();
  for (uint32_t blocks = 1; blocks <= device.info().largest_team; blocks *= 2) {
    device.meet({1, blocks, device.info().warps_per_block}, kTimes);
    const double ns =
        device.meet({1, blocks, device.info().warps_per_block}, kTimes).seconds * 1e9 / kTimes;
    std::printf("%-28u %14.0f\n", blocks, ns);
    rows.push_back({{"blocks", blocks}, {"nanoseconds", ns}});
  }
  std::printf("\n");
  return rows;
}

class Bench {
 public:
  Bench(kernels::Device& device, const Options& options)
      : device_(device), options_(options), machine_(config::load_machine(options.machine)) {
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
      std::string by_blocks;
      for (uint32_t blocks = 1; blocks <= device_.info().largest_team; blocks *= 2) {
        const Rates rates = measure_gpu(one, blocks);
        row["gpu_" + std::to_string(blocks) + "_blocks"] = json_of(rates);
        by_blocks += fmt::format("{:10.3f}", rates.instructions / 1e6);
      }
      const Rates gpu = measure_gpu(one, 0);
      row["gpu"] = json_of(gpu);
      std::printf("%-11s %-9s %10.2f %10.2f %10.3f %9.3f %9.3f%s\n", program.c_str(),
                  policy.name.c_str(), cpu.instructions / 1e6, cpus.instructions / 1e6,
                  gpu.instructions / 1e6, gpu.instructions / cpu.instructions, gpu.cycles / 1e6,
                  by_blocks.c_str());
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
      const Rates teams = measure_gpu(systems(recording, n), 0);
      const Rates batch = measure_batch(systems(recording, n));
      std::printf("%-11s %8u %10.2f %10.2f %10.2f %10.2f %9.1f %10.2f %10.2f %9.1f\n",
                  program.c_str(), n, core.instructions / 1e6, cores.instructions / 1e6,
                  teams.instructions / 1e6, teams.on_device / 1e6,
                  teams.instructions / core.instructions, batch.instructions / 1e6,
                  batch.on_device / 1e6, batch.instructions / core.instructions);
      rows.push_back({{"workload", program},
                      {"systems", n},
                      {"cpu_1_thread", json_of(core)},
                      {"cpu_all_threads", json_of(cores)},
                      {"teams", json_of(teams)},
                      {"batch", json_of(batch)},
                      {"teams_times_one_core", teams.instructions / core.instructions},
                      {"batch_times_one_core", batch.instructions / core.instructions}});
    }
    return rows;
  }

  /// The rates of `n` systems on the device.
  Rates rates(const runtime::Recording& recording, uint32_t n, uint32_t warps = 0) const {
    return measure_gpu(systems(recording, n), 0, warps);
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
    return measure(cpu, systems, options_.seconds);
  }
  Rates measure_gpu(const std::vector<sim::ReplayJob>& systems, uint32_t blocks,
                    uint32_t warps = 0) const {
    sim::AcceleratorBatchOptions options;
    options.way = sim::DeviceWay::kTeams;
    options.team_warps = warps != 0 || blocks != 0 ? warps : options_.team_warps;
    options.blocks_per_team = blocks;
    return measure_device(systems, options);
  }
  Rates measure_batch(const std::vector<sim::ReplayJob>& systems) const {
    sim::AcceleratorBatchOptions options;
    options.way = sim::DeviceWay::kBatch;
    return measure_device(systems, options);
  }
  Rates measure_device(const std::vector<sim::ReplayJob>& systems,
                       const sim::AcceleratorBatchOptions& options) const {
    sim::AcceleratorBatch gpu(device_, options);
    Rates rates = measure(gpu, systems, options_.seconds);
    rates.on_device = rates.all_instructions / gpu.device_seconds();
    return rates;
  }

  kernels::Device& device_;
  const Options& options_;
  config::MachineConfig machine_;
  std::vector<config::PolicyConfig> policies_;
};

/// Programs are cut short, rather than measurements: what a kernel does at its begin is another
/// thing than what it does later, and however fast it is, all do the same.
runtime::Recording record(const std::string& name, const Options& options) {
  runtime::VirtualDevice::Options recording;
  recording.max_thread_instructions = options.instructions * 32;
  runtime::VirtualDevice device(recording);
  const workloads::Workload* workload = workloads::find(name);
  if (workload == nullptr) throw Error("there is no workload '" + name + "'");
  workload->run(device, options.size);
  return device.take_recording(name);
}

std::unique_ptr<kernels::Device> open(const Options& options) {
  if (options.emulated)
    return std::make_unique<kernels::EmulatedDevice>(kernels::EmulationOptions{});
  std::string why;
  if (kernels::cuda_devices(why).empty()) throw Error("there is no CUDA device: " + why);
  return kernels::open_cuda_device(0);
}

/// How large should teams be? Of smaller ones there are more at a time, and systems.
Json measure_teams(const Options& options, kernels::Device& device, const Bench& bench,
                   const std::vector<runtime::Recording>& recordings) {
  std::printf("\nMillions of warp-instructions per second, a full device, by warps of a team\n");
  std::printf("%-11s %8s %8s %10s %10s\n", "workload", "warps", "systems", "GPU", "launches");
  Json rows = Json::array();
  for (size_t i = 0; i < recordings.size(); ++i) {
    for (uint32_t warps = device.info().warps_per_block; warps > 0; warps /= 2) {
      const uint32_t systems = kernels::teams_at_once(device.info(), {1, 1, warps});
      const Rates full = bench.rates(recordings[i], systems, warps);
      std::printf("%-11s %8u %8u %10.2f %10.2f\n", options.programs[i].c_str(), warps, systems,
                  full.instructions / 1e6, full.on_device / 1e6);
      rows.push_back({{"workload", options.programs[i]},
                      {"team_warps", warps},
                      {"systems", systems},
                      {"gpu", json_of(full)}});
    }
  }
  return rows;
}

/// How much of shared memory should hold components' states, how much should cache the rest?
Json measure_shared(const Options& options, const std::vector<runtime::Recording>& recordings) {
  std::printf("\nMillions of warp-instructions per second, by shared memory for states\n");
  std::printf("%-11s %14s %14s %14s\n", "workload", "KiB per block", "one system",
              "a system per SM");
  Json rows = Json::array();
  for (size_t i = 0; i < recordings.size(); ++i) {
    for (const uint32_t kib : {0u, 48u, 96u, 160u, 200u}) {
      const auto device = kernels::open_cuda_device(0, {.shared_bytes = kib << 10});
      if (device->info().shared_bytes != kib << 10) break;  // it has no more
      const Bench bench(*device, options);
      const Rates one = bench.rates(recordings[i], 1);
      const Rates full = bench.rates(recordings[i], device->info().blocks_at_once);
      std::printf("%-11s %14u %14.2f %14.2f\n", options.programs[i].c_str(),
                  device->info().shared_bytes >> 10, one.instructions / 1e6,
                  full.instructions / 1e6);
      rows.push_back({{"workload", options.programs[i]},
                      {"bytes", device->info().shared_bytes},
                      {"one_system", json_of(one)},
                      {"full", json_of(full)}});
    }
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
  Json document = {{"schema", "nearwarp.gpu_bench/2"},
                   {"device", device_json(info)},
                   {"cpu_threads", std::thread::hardware_concurrency()}};
  if (options.wants("barrier")) document["barrier"] = measure_barrier(*device);
  Bench bench(*device, options);
  std::vector<runtime::Recording> recordings;
  for (const std::string& name : options.programs) recordings.push_back(record(name, options));
  const auto add_rows = [&](Json& rows, auto measured) {
    for (size_t i = 0; i < recordings.size(); ++i)
      for (Json& row : (bench.*measured)(options.programs[i], recordings[i]))
        rows.push_back(std::move(row));
  };
  if (options.wants("one")) {
    std::printf("Millions of warp-instructions per second; one system\n");
    std::printf("%-11s %-9s %10s %10s %10s %9s %9s\n", "workload", "policy", "1 core", "all cores",
                "GPU", "x 1 core", "Mcycles/s  teams of 1, 2, 4 ... blocks");
    add_rows(document["one_system"], &Bench::one_system);
  }
  if (options.wants("batches")) {
    std::printf("\nMillions of warp-instructions per second; many systems\n");
    std::printf("%-11s %8s %10s %10s %10s %10s %9s %10s %10s %9s\n", "workload", "systems",
                "1 core", "all cores", "teams", "launches", "x 1 core", "batch", "launches",
                "x 1 core");
    add_rows(document["batches"], &Bench::batches);
  }
  if (options.wants("teams"))
    document["teams"] = measure_teams(options, *device, bench, recordings);
  device.reset();  // its memory
  if (options.wants("shared") && !options.emulated)
    document["shared_memory"] = measure_shared(options, recordings);
  if (json_path.empty()) return 0;
  std::ofstream file(json_path);
  file << document.dump(2) << '\n';
  if (!file) throw Error("cannot write '" + json_path + "'");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options line("gpu_bench", "What a GPU gives, against the CPU of the same machine");
  const Options usual;
  const auto list = []<class T>(const std::vector<T>& values) {
    return cxxopts::value<std::vector<T>>()->default_value(
        fmt::format("{}", fmt::join(values, ",")));
  };
  line.add_options()("parts", "what to measure", list(usual.parts), "A,B,...")(
      "workloads", "built-in workloads", list(usual.programs), "A,B,...")(
      "policies", "policies of systems, in turn", list(usual.policies), "A,B,...")(
      "batches", "systems in a batch", list(usual.batches), "N,M,...")(
      "machine", "machine", cxxopts::value<std::string>()->default_value(usual.machine), "NAME")(
      "size", "size of the workloads", cxxopts::value<std::string>()->default_value("small"))(
      "instructions", "warp-instructions of a program, at most; 0: all",
      cxxopts::value<uint64_t>()->default_value(fmt::to_string(usual.instructions)),
      "N")("seconds", "after which a measurement is stopped",
           cxxopts::value<double>()->default_value(fmt::to_string(usual.seconds)),
           "S")("warps", "warps of a team; 0: as fits the number of systems",
                cxxopts::value<uint32_t>()->default_value("0"))(
      "json", "write every figure to this file", cxxopts::value<std::string>()->default_value(""))(
      "emulated", "a small run on the emulated device")("h,help", "print this text");
  try {
    const auto given = line.parse(argc, argv);
    if (given.count("help") != 0) {
      std::printf("%s", line.help().c_str());
      return 0;
    }
    Options options;
    options.emulated = given.count("emulated") != 0;
    using Names = std::vector<std::string>;
    options.parts = given["parts"].as<Names>();
    for (const std::string& part : options.parts)
      if (!usual.wants(part))
        throw UsageError(
            fmt::format("there is no part '{}' - {}", part, fmt::join(usual.parts, ", ")));
    options.programs = given["workloads"].as<Names>();
    options.policies = given["policies"].as<Names>();
    options.batches = given["batches"].as<std::vector<uint32_t>>();
    options.machine = given["machine"].as<std::string>();
    options.size = workloads::parse_size(given["size"].as<std::string>());
    options.instructions = given["instructions"].as<uint64_t>();
    options.seconds = given["seconds"].as<double>();
    options.team_warps = given["warps"].as<uint32_t>();
    if (options.emulated) {
      if (given.count("batches") == 0) options.batches = {1, 3};
      if (given.count("workloads") == 0) options.programs = {"vector-add"};
    }
    // A run that is ended from outside has said something.
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    return run(options, given["json"].as<std::string>());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
    return 1;
  }
}
