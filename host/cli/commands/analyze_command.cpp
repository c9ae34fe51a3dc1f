// nearwarp analyze: which code would be offloaded, and why the rest would not.
#include <fmt/format.h>

#include <utility>

#include "host/api/nearwarp/analysis.h"
#include "host/api/nearwarp/traces.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/expected.h"
#include "host/cli/interrupt.h"
#include "host/cli/options/backend.h"
#include "host/cli/options/chosen.h"
#include "host/cli/programs/trace_analysis.h"
#include "host/cli/programs/traced_workload.h"
#include "host/cli/programs/unknown_workload.h"
#include "host/cli/terminal.h"
#include "host/cli/wrong_file.h"
#include "host/core/error.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {
namespace {

/// Throws UsageError, with advice, for a name that is neither a workload's nor a PTX file's.
void check_code(const std::string& name) {
  if (taken(is_workload(name)) || name.ends_with(".ptx")) return;
  const std::string advice = wrong_file(name, "analyze");
  const Expected<std::vector<ProgramName>> names = program_names(name);
  if (names && names->front().kind != ProgramName::Kind::kWorkload)
    throw UsageError(advice.empty() ? fmt::format("there is no file '{}'", name) : advice);
  if (advice.find("is a program") != std::string::npos) throw UsageError(advice);
  if (name.find('/') == std::string::npos) throw unknown_workload(name, ", or give a .ptx file");
}

std::string text_of(const std::vector<CodeView>& views) {
  std::string text;
  for (const CodeView& view : views) text += (text.empty() ? "" : "\n") + view.text;
  return text;
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
                             line.given("locations") || names_traces(line.positional()[0])))
    throw UsageError(
        "--json is of offloading candidates, and of --mappings, --sharing, --objects - leave it "
        "out");
  for (const char* option : {"size", "trace-cache"}) {
    if (line.given(option))
      throw UsageError(fmt::format(
          "--{} is for 'nearwarp analyze WORKLOAD --mappings', --sharing or --objects", option));
  }
  for (const char* option : {"backend", "device"})
    if (line.given(option))
      throw UsageError(
          fmt::format("--{} is for 'nearwarp analyze WORKLOAD --mappings' - leave it out", option));
  for (const char* analysis : {"strides", "chains"})
    for (const char* option : {"machine", "policy", "set"})
      if (line.given(analysis) && line.given(option))
        throw UsageError(
            fmt::format("--{} looks at the code alone - leave --{} out", analysis, option));
  const std::string& name = line.positional()[0];
  for (const char* analysis : {"strides", "chains", "locations"})
    if (line.given(analysis) && names_traces(name))
      throw UsageError(fmt::format("--{} analyzes a program's code, but {}", analysis,
                                   why_traces_do_without_code()));
  const CodeOptions options{.kernel = line.text("kernel"), .width = output_width()};
  std::string text;
  if (names_traces(name)) {
    catch_interrupts();
    text = trace_analysis(name, options.kernel);
  } else if (line.given("strides") || line.given("chains")) {
    check_code(name);
    text = text_of(taken(line.given("strides") ? analyze_strides(name, options)
                                               : analyze_chains(name, options)));
  } else {
    const Machine machine = chosen_machine(line);
    const Policy policy = chosen_policy(line);
    check_code(name);
    if (line.given("locations")) {
      text = text_of(taken(analyze_locations(name, policy, options)));
    } else {
      CodeAnalysis analysis = taken(analyze_code(name, machine, policy, options));
      if (line.given("json")) report::write_file(line.text("json"), analysis.document);
      text = std::move(analysis.text);
    }
  }
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
