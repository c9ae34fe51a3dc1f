// nearwarp analyze: which code would be offloaded, and why the rest would not.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/workloads/workload.h"
#include "host/cli/analysis_json.h"
#include "host/cli/backend.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/interrupt.h"
#include "host/cli/program_recording.h"
#include "host/cli/terminal.h"
#include "host/cli/trace_program.h"
#include "host/cli/unknown_workload.h"
#include "host/cli/wrong_file.h"
#include "host/config/config.h"
#include "host/config/nearest.h"
#include "host/core/error.h"
#include "host/mechanisms/coda/pass/strides.h"
#include "host/mechanisms/mpu/pass/locations.h"
#include "host/mechanisms/mpu/readings.h"
#include "host/mechanisms/mpu/settings.h"
#include "host/mechanisms/opportunistic/pass/chains.h"
#include "host/mechanisms/tom/offload_tables.h"
#include "host/mechanisms/tom/pass/print.h"
#include "host/recording/accel_sim/trace_list.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {
namespace {

compiler::Program compile(const std::string& name) {
  if (const workloads::Workload* workload = workloads::find(name)) {
    return compiler::compile_ptx(workload->ptx(), workload->ptx_name());
  }
  if (name.ends_with(".ptx")) return compiler::compile_ptx_file(name);
  const std::string advice = wrong_file(name, "analyze");
  if (names_recording(name))
    throw UsageError(advice.empty() ? fmt::format("there is no file '{}'", name) : advice);
  if (advice.find("is a program") != std::string::npos) throw UsageError(advice);
  if (name.find('/') != std::string::npos) return compiler::compile_ptx_file(name);
  throw unknown_workload(name, ", or give a .ptx file");
}

CommandLine declare_analyze() {
  CommandLine line("analyze", "WORKLOAD|FILE.ptx|kernelslist.g",
                   "Print the offloading candidates, and why other code was refused");
  line.value("kernel", "only this kernel", "NAME");
  line.value("machine", "machine whose line size and table are assumed", "NAME", "tom");
  line.value("policy", "policy whose assumptions on misses are taken", "NAME",
             "ndp-controlled-bmap");
  line.list("set", "override a key", "KEY=VALUE");
  line.flag("mappings",
            "run the workload and compare mappings of its data to memory stacks by its traces");
  line.flag("strides",
            "print how far thread blocks lie apart in each memory object, by the kernels' code");
  line.flag("chains",
            "print the chains of loads, arithmetic and stores that opportunistic computing "
            "offloads, and why other loads are in none");
  line.flag("locations",
            "print where MPU's compiler has registers and instructions: near the banks (N), far "
            "from them on the logic die (F), or both (B)");
  line.flag("sharing",
            "run the workload and count its pages by the thread blocks and stacks that touch them");
  line.flag("objects",
            "run the workload and say of each memory object where CODA puts it, by the distance of "
            "thread blocks alone and by what is then local");
  line.value("size", "with --mappings, --sharing, --objects: small, medium, large, or paper",
             "SIZE", "small");
  line.value("trace-cache", "with these: keep executed programs in this folder", "FOLDER");
  declare_backend(line);
  line.value("json",
             "write candidates and refusals to this file, or with these all counts (docs/json.md)",
             "FILE");
  line.offer("", workload_values);
  offer_usual(line);
  return line;
}

int run_analyze(const CommandLine& line, const Words& /*application*/) {
  if (line.given("mappings") + line.given("sharing") + line.given("objects") +
          line.given("strides") + line.given("chains") + line.given("locations") >
      1)
    throw UsageError(
        "--mappings, --sharing, --objects, --strides, --chains and --locations are different "
        "analyses - ask for one at a time");
  if (line.given("mappings")) return analyze_mappings_command(line);
  if (line.given("sharing")) return analyze_sharing_command(line);
  if (line.given("objects")) return analyze_objects_command(line);
  if (line.given("json") && (line.given("strides") || line.given("chains") ||
                             line.given("locations") || sass::names_trace(line.positional()[0])))
    throw UsageError(
        "--json is of offloading candidates, and of --mappings, --sharing, --objects - leave it "
        "out");
  for (const char* option : {"size", "trace-cache"}) {
    if (line.given(option))
      throw UsageError(fmt::format(
          "--{} is for 'nearwarp analyze WORKLOAD --mappings', --sharing or --objects", option));
  }
  const bool strides = line.given("strides"), chains = line.given("chains"),
             locations = line.given("locations");
  for (const char* analysis : {"strides", "chains"})
    for (const char* option : {"machine", "policy", "set"})
      if (line.given(analysis) && line.given(option))
        throw UsageError(
            fmt::format("--{} looks at the code alone - leave --{} out", analysis, option));
  const Words changes = line.texts("set");
  const config::MachineConfig machine = config::load_machine(line.text("machine"), changes);
  const config::PolicyConfig policy = config::load_policy(line.text("policy"), changes);
  if (sass::names_trace(line.positional()[0])) {
    catch_interrupts();
    print(fitted_lines(trace_analysis(line.positional()[0], line.text("kernel")), output_width()));
    return 0;
  }
  if (locations && config::has_mechanism(policy, "mpu") &&
      policy.table<mpu::Settings>().locations != "annotated")
    throw UsageError(
        fmt::format("policy '{}' does without the compiler's locations (mpu.locations = \"{}\") - "
                    "take one that has them, such as mpu",
                    policy.name, policy.table<mpu::Settings>().locations));
  const mpu::Readings readings = mpu::readings_of(policy);
  compiler::OffloadModel model = tom::offload_model(machine, policy);
  const compiler::Program program = compile(line.positional()[0]);
  const std::string wanted = line.text("kernel");
  std::string text;
  std::vector<std::string> names;
  nlohmann::ordered_json document = {
      {"schema", "nearwarp.analysis/1"}, {"nearwarp_version", version()},
      {"program", line.positional()[0]}, {"machine", machine.name},
      {"policy", policy.name},           {"kernels", nlohmann::ordered_json::array()}};
  for (const compiler::Kernel& kernel : program.kernels) {
    names.push_back(kernel.name);
    if (!wanted.empty() && kernel.name != wanted) continue;
    if (!text.empty()) text += '\n';
    if (!kernel.unsupported.empty()) {
      text += fmt::format("kernel {}: cannot be run: {}\n", kernel.name, kernel.unsupported);
      document["kernels"].push_back({{"kernel", kernel.name}, {"unsupported", kernel.unsupported}});
      continue;
    }
    model.shared.flat_blocks = compiler::reads_x_alone(kernel);
    if (line.given("json"))
      document["kernels"].push_back(analysis_json(
          compiler::report_analysis(kernel, compiler::analyze_offloading(kernel, model))));
    text += strides     ? compiler::format_strides(kernel)
            : locations ? mpu::format_locations(kernel, readings, output_width())
            : chains    ? opportunistic::format_chains(kernel)
                        : compiler::format_analysis(
                              kernel, compiler::analyze_offloading(kernel, model), output_width());
  }
  if (text.empty()) {
    if (names.empty()) throw Error(fmt::format("'{}' has no kernel", line.positional()[0]));
    throw Error(fmt::format("'{}' has no kernel '{}'{}", line.positional()[0], wanted,
                            config::suggestion(wanted, names)));
  }
  if (line.given("json")) report::write_file(line.text("json"), document.dump(1) + "\n");
  print(fitted_lines(text, output_width()));
  return 0;
}

}  // namespace

Command analyze_command() {
  return {.name = "analyze",
          .uses = {{"WORKLOAD|FILE.ptx", "what would be offloaded, and why"},
                   {"WORKLOAD --mappings", "which data mapping would suit it"}},
          .declare = declare_analyze,
          .least = 1,
          .most = 1,
          .run = run_analyze};
}

}  // namespace nearwarp::cli
