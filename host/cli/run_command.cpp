// nearwarp run: a workload on a machine under one or several policies, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <thread>

#include "bench/workloads/workload.h"
#include "host/cli/backend.h"
#include "host/cli/commands.h"
#include "host/cli/interrupt.h"
#include "host/cli/policy_runs.h"
#include "host/cli/program_recording.h"
#include "host/config/config.h"
#include "host/core/error.h"
#include "host/report/energy_text.h"
#include "host/report/explain.h"
#include "host/report/file.h"
#include "host/report/json.h"
#include "host/report/mapping.h"
#include "host/report/table.h"

namespace nearwarp::cli {
namespace {

struct Request {
  const workloads::Workload* workload = nullptr;
  std::string size;
  Words overrides;
  config::MachineConfig machine;
  std::vector<config::PolicyConfig> policies;
  unsigned threads = 1;
  Backend backend;
  bool explain = false;
  std::string json, cache, checkpoints;
};

CommandLine declare() {
  CommandLine line("run", "WORKLOAD",
                   "Simulate a workload on a machine under one or several policies, side by side");
  line.value("machine", "name, or path of a .toml file", "NAME", "tom");
  line.value("policy",
             "names or paths, separated by commas; the first one is what speed-ups are over",
             "A,B,...", "baseline,ndp-uncontrolled-bmap,ndp-controlled-bmap");
  line.value("size", "small, medium, large, or paper (2 billion thread-instructions)", "SIZE",
             "small");
  line.list("set", "override a key of the machine or of all policies; repeatable", "KEY=VALUE");
  declare_backend(line);
  line.value(
      "threads",
      "on the CPU: at most so many at a time; default: one per policy, at most one per processor",
      "N");
  line.flag("explain",
            "also say which events took most energy, and for each candidate block "
            "why it was offloaded or not");
  line.value("json", "write every counter to this file (docs/json.md)", "FILE");
  line.value("checkpoint", "keep the state of runs in this folder; stopped, they go on from there",
             "FOLDER");
  line.value("trace-cache", "keep executed programs in this folder and use them again", "FOLDER");
  return line;
}

/// Everything that can be wrong with the request is found here, before anything runs.
Request understand(const CommandLine& line) {
  Request request;
  request.workload = &workload_named(line.positional()[0]);
  request.size = line.text("size");
  workloads::parse_size(request.size);
  request.overrides = line.texts("set");
  request.machine = config::load_machine(line.text("machine"), request.overrides);
  for (const std::string& name : split_commas(line.text("policy"))) {
    request.policies.push_back(config::load_policy(name, request.overrides));
  }
  if (request.policies.empty()) throw UsageError("--policy names no policy - e.g. baseline");
  if (line.given("threads")) {
    request.threads = static_cast<unsigned>(line.number("threads", 1, 1024));
  } else {
    const unsigned processors = std::max(1u, std::thread::hardware_concurrency());
    request.threads = std::min(processors, static_cast<unsigned>(request.policies.size()));
  }
  request.backend = chosen_backend(line);
  request.explain = line.given("explain");
  request.json = line.text("json");
  if (!request.json.empty()) report::check_writable(request.json);
  request.cache = line.text("trace-cache");
  request.checkpoints = line.text("checkpoint");
  if (!request.checkpoints.empty()) make_folder(request.checkpoints, "--checkpoint");
  return request;
}

std::string json_text(const Request& request, const std::vector<report::RunResult>& results) {
  report::RunContext context;
  context.version = version();
  for (const config::KeyDescription& key : config::describe_whole(request.machine)) {
    context.machine.emplace_back(key.key, key.value);
  }
  return report::format_json(results, context);
}

std::string tables(const Request& request, const std::vector<report::RunResult>& results) {
  std::string text = report::format_table(results);
  const std::string mapping = report::format_mapping(results);
  if (!mapping.empty()) text += "\n" + mapping;
  if (!request.explain) return text;
  const std::string energy = report::format_energy(results);
  if (!energy.empty()) text += "\n" + energy;
  for (const report::RunResult& result : results) {
    const std::string part = report::format_explanation(result);
    if (!part.empty()) text += "\n" + part;
  }
  return text;
}

/// Table and file; neither is lost because the other cannot be written.
void present(const Request& request, const std::vector<report::RunResult>& results) {
  std::exception_ptr failure;
  // A reader of the table who leaves early must not end the program before the file is written.
  if (!request.json.empty()) std::signal(SIGPIPE, SIG_IGN);
  try {
    print(tables(request, results));
  } catch (const Error&) {
    failure = std::current_exception();
  }
  if (!request.json.empty()) report::write_file(request.json, json_text(request, results));
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace

int run_command(const Words& words) {
  CommandLine line = declare();
  line.parse(words, 1, 1);
  if (line.help_wanted()) {
    print(line.help());
    return 0;
  }
  const Request request = understand(line);
  catch_interrupts();
  const auto runner = make_runner(request.backend, request.threads);
  const runtime::Recording recording = recording_of(*request.workload, request.size, request.cache);
  std::vector<report::RunResult> results =
      run_policies(recording, request.machine, request.policies, *runner, request.checkpoints);
  for (report::RunResult& result : results) {
    result.workload = request.workload->name();
    result.size = request.size;
    result.overrides = request.overrides;
  }
  present(request, results);
  if (!interrupted()) return 0;
  throw Error(results.size() < request.policies.size()
                  ? fmt::format("interrupted: results are partial, and {} of {} policies were not "
                                "begun",
                                request.policies.size() - results.size(), request.policies.size())
                  : std::string("interrupted: results are partial"));
}

}  // namespace nearwarp::cli
