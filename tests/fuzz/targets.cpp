// What is given damaged inputs.
#include "tests/fuzz/targets.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "host/config/config.h"
#include "host/functional/compiler/kernel.h"
#include "host/functional/cudart/fat_binary.h"
#include "host/functional/device/virtual_device.h"
#include "host/functional/racecheck/report.h"
#include "host/recording/accel_sim/program_reader.h"
#include "host/recording/recording_file.h"
#include "host/recording/recording_journal.h"
#include "host/recording/trace_replay.h"
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

std::string journal(const std::string& folder) {
  const std::string path = folder + "/right.journal";
  {
    runtime::JournalWriter writer(path, "column_sums");
    executed(&writer);
    writer.end();
  }
  return contents(path);
}

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
                    file = folder + "/damaged.nwtrace", log = folder + "/damaged.journal",
                    check = folder + "/damaged.check";
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
       {"l2.bytes=524288", "clocks.core_mhz=1410", "dram.standard=hbm2", "sm.charge_moves=true",
        "l1.write_policy=\"through\"", "offload.busy_threshold_percent=80"},
       [](const std::string& text) {
         config::load_machine("tom", std::vector<std::string>{text});
       }},
      {"sweep",
       {R"({"schema":"nearwarp.sweep/2","id":"df9b","sweep":"a61c","index":0,"points":2,)"
        R"("nearwarp_version":"0.1.0+01c237fc","workload":"gather","size":"small","machine":"tom",)"
        R"("policy":"baseline","overrides":{"l2.bytes":524288},"status":"failed","error":"x"})"},
       [](const std::string& text) { sweep::read_line(text, "damaged.jsonl:1"); }},
      {"findings",
       {racecheck::to_json(racecheck::Findings{}).dump()},
       [check](const std::string& text) { racecheck::load_findings(written(check, text)); }},
  };
}

}  // namespace nearwarp::fuzz
