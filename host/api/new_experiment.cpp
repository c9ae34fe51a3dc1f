// Writes an experiment's file for a program of the user's own.
#include <fmt/format.h>

#include <filesystem>

#include "host/api/failure.h"
#include "host/api/programs.h"
#include "host/programs/executable.h"
#include "host/programs/recordings.h"
#include "host/recording/accel_sim/trace_list.h"
#include "host/timing/report/file.h"

namespace nearwarp {
namespace {

namespace fs = std::filesystem;

/// In quotation marks, as TOML has it.
std::string toml_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04X}", c);
    else
      result += c;
  }
  return result + "\"";
}

/// As the experiment's file has it: from its folder, if it lies in or below that.
std::string path_from(const fs::path& experiment, const std::string& program) {
  const fs::path folder = fs::absolute(experiment).lexically_normal().parent_path();
  const fs::path absolute = fs::absolute(program).lexically_normal();
  const fs::path relative = absolute.lexically_relative(folder);
  if (relative.empty() || *relative.begin() == "..") return absolute.string();
  return "./" + relative.string();
}

/// Letters, digits, '-' and '_' of a file's name.
std::string plain_name(const std::string& path) {
  std::string name;
  for (const char c : fs::path(path).stem().string())
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ? c : '-';
  return name.empty() ? "program" : name;
}

/// The study of the policies. A machine with stacks that compute is one that all of these run
/// on; traces of machine instructions have no code to offload, and are asked of two machines.
constexpr const char* kCodeStudy = R"(machines = ["tom"]
policies = ["baseline", "ndp-controlled-bmap", "tom"]
)";
constexpr const char* kTraceStudy = R"(machines = ["tom", "v100"]
policies = ["baseline"]
)";

constexpr const char* kFigures = R"(
[[figure]]
name = "speedup"
title = "Speed-up over the baseline"
studies = ["main"]
x = "workload"
series = @SERIES@
value = "cycles"
as = "speedup"@REFERENCE@

[[figure]]
name = "ipc"
title = "Thread-instructions per core cycle"
studies = ["main"]
x = "workload"
series = @SERIES@
value = "ipc"

[[figure]]
name = "cycles"
title = "Where cycles of the main SMs go"
about = "A share of all cycles; docs/json.md says what each part is."
studies = ["main"]
kind = "stacked"
x = "workload"
series = @SERIES@
unit = "of cycles"
parts = [
  {label = "issue", value = "sm.cycles.issued / sm.powered_cycles"},
  {label = "load-store unit full", value = "sm.cycles.lsu / sm.powered_cycles"},
  {label = "misses full", value = "sm.cycles.misses / sm.powered_cycles"},
  {label = "network full", value = "sm.cycles.network / sm.powered_cycles"},
  {label = "ports busy", value = "sm.cycles.ports / sm.powered_cycles"},
  {label = "memory", value = "sm.cycles.memory / sm.powered_cycles"},
  {label = "results", value = "sm.cycles.dependency / sm.powered_cycles"},
  {label = "barriers", value = "sm.cycles.barrier / sm.powered_cycles"},
  {label = "offloaded work", value = "sm.cycles.offload / sm.powered_cycles"},
  {label = "mechanism", value = "sm.cycles.mechanism / sm.powered_cycles"},
  {label = "no warp", value = "sm.cycles.no_warp / sm.powered_cycles"},
]

[[figure]]
name = "traffic"
title = "Traffic between chips"
about = "From GPU to memory, back, and between stacks."
studies = ["main"]
kind = "stacked"
x = "workload"
series = @SERIES@
parts = [
  {label = "GPU to memory", value = "tx"},
  {label = "memory to GPU", value = "rx"},
  {label = "between stacks", value = "cross"},
]

[[figure]]
name = "energy"
title = "Energy by part"
studies = ["main"]
kind = "stacked"
x = "workload"
series = @SERIES@
parts = [
  {label = "SMs", value = "sm_energy"},
  {label = "L2", value = "l2_energy"},
  {label = "networks", value = "network_energy"},
  {label = "links", value = "link_energy"},
  {label = "DRAM", value = "dram_energy"},
  {label = "leakage", value = "leakage"},
]
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// `path` is where it is to be, for paths in it.
std::string text_for(const std::string& path, std::span<const std::string> program,
                     bool application) {
  const std::string& first = program.front();
  std::string name = first, table;
  bool traces = false;
  if (application) {
    programs::find_executable(first);
    name = plain_name(first);
    std::string arguments;
    for (size_t i = 1; i < program.size(); ++i)
      arguments += (i == 1 ? "" : ", ") + toml_text(program[i]);
    table = fmt::format(
        "# Paths begin in this file's folder; the arguments are given as they are.\n"
        "[program.{}]\napp = {}\nargs = [{}]\n\n",
        toml_text(name),
        toml_text(first.find('/') == std::string::npos ? first : path_from(path, first)),
        arguments);
  } else if (programs::names_recording(first)) {
    traces = sass::names_trace(first);
    programs::recorded_key(first);
    name = traces ? plain_name(fs::absolute(first).parent_path().parent_path().filename().string())
                  : plain_name(first);
    table = fmt::format("[program.{}]\nrecording = {}\n\n", toml_text(name),
                        toml_text(path_from(path, first)));
  } else {
    workload_named(first);
  }
  const std::string series = traces ? "\"machine\"" : "\"policy\"";
  return fmt::format(
             "title = {}\n"
             "description = \"What policies change of {}, and where its cycles go.\"\n"
             "size = \"small\"  # of workloads, if there are any\n\n{}"
             "[study.main]\nworkloads = [{}]\n{}",
             toml_text(name), name, table, toml_text(name), traces ? kTraceStudy : kCodeStudy) +
         replaced(replaced(kFigures, "@SERIES@", series), "@REFERENCE@",
                  traces ? "\nreference_machine = \"tom\"" : "");
}

Done write_new(const std::string& path, std::span<const std::string> program, bool application) {
  if (!path.ends_with(".toml"))
    throw UsageError(
        fmt::format("'{}' does not name an experiment - its name ends with .toml", path));
  std::error_code failed;
  if (fs::exists(path, failed))
    throw UsageError(fmt::format("'{}' is there already - take another name", path));
  if (program.empty()) throw UsageError("no application is named - give its path and arguments");
  report::write_file(path, text_for(path, program, application));
  return {};
}

}  // namespace

Expected<Done> new_experiment(const std::string& path, const std::string& program) {
  return guarded([&] { return write_new(path, {&program, 1}, false); });
}

Expected<Done> new_experiment(const std::string& path, Texts application) {
  return guarded([&] { return write_new(path, application, true); });
}

}  // namespace nearwarp
