// Finds and executes the workload for an analysis of traces.
#include "host/cli/programs/traced_workload.h"

#include <fmt/format.h>

#include "host/api/nearwarp/traces.h"
#include "host/cli/expected.h"
#include "host/cli/programs/unknown_workload.h"
#include "host/core/error.h"

namespace nearwarp::cli {

bool names_traces(const std::string& name) {
  const Expected<std::vector<ProgramName>> names = program_names(name);
  return names && names->front().kind == ProgramName::Kind::kTraces;
}

void check_traced_workload(const std::string& name, const std::string& option) {
  if (taken(is_workload(name))) return;
  if (names_traces(name)) {
    throw UsageError(fmt::format("--{} analyzes the accesses of a program's code, but {}", option,
                                 why_traces_do_without_code()));
  }
  if (name.find('/') != std::string::npos || name.ends_with(".ptx")) {
    throw UsageError(
        fmt::format("--{} cannot analyze '{}': it needs the traces of a program that runs - "
                    "name a workload (nearwarp list workloads)",
                    option, name));
  }
  throw unknown_workload(name);
}

Program traced_workload(const CommandLine& line, Notes& notes) {
  ProgramOptions options = notes.program_options();
  options.cache = line.text("trace-cache");
  return taken(Program::workload(line.positional()[0], line.text("size"), options));
}

}  // namespace nearwarp::cli
