// Readers that are given damaged inputs.
#include "tests/fuzz/targets.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "host/config/config.h"
#include "host/functional/compiler/kernel.h"
#include "host/functional/cudart/code/fat_binary.h"
#include "host/functional/device/virtual_device.h"
#include "host/functional/racecheck/report.h"
#include "host/recording/accel_sim/program_reader.h"
#include "host/recording/accel_sim/trace_writer.h"
#include "host/recording/recording_file.h"
#include "host/recording/recording_journal.h"
#include "host/recording/trace_replay.h"
#include "host/timing/compare/compare.h"
#include "host/timing/run/checkpoint.h"
#include "host/timing/sweep/format.h"

namespace nearwarp::fuzz {
namespace {

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string source(const std::string& path) {
  return contents(std::string(NW_SOURCE_DIR) + "/" + path);
}

std::string written(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

/// A program of one launch; `sink` gets it, or its recording is returned.
runtime::Recording executed(runtime::RecordingSink* sink) {
  runtime::VirtualDevice::Options options;
  options.sink = sink;
  runtime::VirtualDevice device(options);
  const uint32_t module = device.load_module(std::make_shared<const compiler::Program>(
      compiler::compile_ptx(source("bench/samples/column_sums.ptx"), "column_sums.ptx")));
  const runtime::DevicePtr matrix = device.allocate(64 * 8 * 4), sums = device.allocate(64 * 4);
  device.launch(module, "_Z11column_sumsPKfiiPf", {1}, {64}, 0,
                runtime::KernelArgs(matrix, 8, 64, sums));
  return device.take_recording("column_sums");
}

std::string recording(const std::string& folder) {
  const std::string path = folder + "/right.nwtrace";
  runtime::save_recording(executed(nullptr), path);
  return contents(path);
}

std::string indexed_trace(const std::string& folder) {
  sass::write_traces(executed(nullptr), folder + "/right");
  return contents(folder + "/right/kernel-1.tracez");
}

std::string journal(const std::string& folder) {
  const std::string path = folder + "/right.journal";
  {
    runtime::JournalWriter writer(path, "column_sums");
    executed(&writer);
    writer.end();
  }
  return contents(path);
}

/// Reads checkpoints of one run; the one that is right has a state of a few words.
class CheckpointReader {
 public:
  explicit CheckpointReader(const std::string& folder)
      : recording_(executed(nullptr)),
        machine_(config::load_machine("tom")),
        policy_(config::load_policy("baseline")),
        job_{.recording = &recording_, .machine = &machine_, .policy = &policy_} {
    job_.checkpoint = folder + "/damaged.checkpoint";
    sim::write_checkpoint(job_, std::string(4096, 's'));
  }
  CheckpointReader(const CheckpointReader&) = delete;
  CheckpointReader& operator=(const CheckpointReader&) = delete;

  std::string right() const { return contents(job_.checkpoint); }
  void read(const std::string& text) const {
    written(job_.checkpoint, text);
    sim::read_checkpoint(job_);
  }

 private:
  runtime::Recording recording_;
  config::MachineConfig machine_;
  config::PolicyConfig policy_;
  sim::ReplayJob job_;
};

/// A line of a sweep's results whose run is complete.
constexpr const char* kResult =
    R"({"schema":"nearwarp.sweep/2","id":"df9b","sweep":"a61c","index":0,"points":2,)"
    R"("nearwarp_version":"0.1.0+01c237fc","workload":"gather","size":"small","machine":"tom",)"
    R"("policy":"tom","overrides":{"l2.bytes":524288},"status":"complete","run":{)"
    R"("workload":"gather","size":"small","machine":"tom","policy":"tom","overrides":[],)"
    R"("status":"complete","core_mhz":1400,"cycles":100,"ipc":2.5,"offloaded_fraction":0.5,)"
    R"("traffic":{"gpu_to_memory_bytes":10,"memory_to_gpu_bytes":20,"memory_to_memory_bytes":0},)"
    R"("bandwidth_used":{"gpu_to_memory":0.5,"memory_to_gpu":0.25},)"
    R"("counters":{"sm.issued":{"value":100,"unit":"warp-instructions"}}}})";

/// A container with one plain PTX entry.
std::string fat_binary() {
  std::string text = source("bench/samples/column_sums.ptx");
  text.resize((text.size() + 8) / 8 * 8);
  std::string entry(64, '\0');
  const auto put = [](std::string& to, size_t at, auto value) {
    std::memcpy(to.data() + at, &value, sizeof(value));
  };
  put(entry, 0, uint16_t{1});
  put(entry, 2, uint16_t{0x101});
  put(entry, 4, uint32_t{64});
  put(entry, 8, uint64_t{text.size()});
  put(entry, 0x1c, uint32_t{75});
  put(entry, 0x28, uint64_t{1});
  std::string container(16, '\0');
  put(container, 0, uint32_t{0xBA55ED50});
  put(container, 4, uint16_t{1});
  put(container, 6, uint16_t{16});
  put(container, 8, uint64_t{entry.size() + text.size()});
  return container + entry + text;
}

}  // namespace

std::vector<Target> targets(const std::string& folder) {
  const std::string toml = folder + "/damaged.toml", trace = folder + "/kernel-1.traceg",
                    tracez = folder + "/kernel-1.tracez", file = folder + "/damaged.nwtrace",
                    log = folder + "/damaged.journal", check = folder + "/damaged.check",
                    results = folder + "/damaged.jsonl";
  const auto checkpoints = std::make_shared<const CheckpointReader>(folder);
  return {
      {"ptx",
       {source("bench/samples/column_sums.ptx"), source("tests/exec/kernels/warp.ptx"),
        source("tests/racecheck/kernels/races.ptx"), source("bench/workloads/kmeans/kmeans.ptx")},
       [](const std::string& text) { compiler::compile_ptx(text, "damaged.ptx"); }},
      {"fat-binary",
       {fat_binary()},
       [](const std::string& text) {
         for (const cudart::PtxImage& image :
              cudart::read_fat_container(text.data(), text.size(), 90).images)
           compiler::compile_ptx(image.text, "damaged.ptx");
       }},
      {"recording",
       {recording(folder)},
       [file](const std::string& text) {
         runtime::validate(runtime::load_recording(written(file, text)));
       }},
      {"journal",
       {journal(folder)},
       [log](const std::string& text) {
         runtime::validate(runtime::load_journal(written(log, text)).recording);
       }},
      {"tracez",
       {indexed_trace(folder)},
       [tracez](const std::string& text) {
         runtime::validate(sass::read_program(written(tracez, text)).recording);
       }},
      {"trace",
       {source("bench/samples/trace/kernel-1.traceg")},
       [trace](const std::string& text) {
         runtime::validate(sass::read_program(written(trace, text)).recording);
       }},
      {"toml",
       {source("configs/machines/tom.toml"), source("configs/machines/coda.toml"),
        source("configs/machines/qv100.toml")},
       [toml](const std::string& text) { config::load_machine(written(toml, text)); }},
      {"set",
       {"l2.bytes=524288", "clocks.core_mhz=1410", "dram.standard=ddr3-1600k",
        "sm.charge_moves=true", "l1.write_policy=\"through\"", "offload.busy_threshold_percent=80"},
       [](const std::string& text) {
         config::load_machine("tom", std::vector<std::string>{text});
       }},
      {"sweep",
       {R"({"schema":"nearwarp.sweep/2","id":"df9b","sweep":"a61c","index":0,"points":2,)"
        R"("nearwarp_version":"0.1.0+01c237fc","workload":"gather","size":"small","machine":"tom",)"
        R"("policy":"baseline","overrides":{"l2.bytes":524288},"status":"failed","error":"x"})",
        kResult},
       [](const std::string& text) { sweep::read_line(text, "damaged.jsonl:1"); }},
      {"results",
       {kResult},
       [results](const std::string& text) {
         const compare::Document document = compare::read_document(written(results, text));
         compare::format(compare::compare(document, document), 20);
       }},
      {"checkpoint",
       {checkpoints->right()},
       [checkpoints](const std::string& text) { checkpoints->read(text); }},
      {"findings",
       {racecheck::to_json(racecheck::Findings{}).dump()},
       [check](const std::string& text) { racecheck::load_findings(written(check, text)); }},
  };
}

}  // namespace nearwarp::fuzz
