// Gets a workload's recording: executed now, or from the trace cache.
#include "host/cli/program_recording.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "bench/workloads/execution.h"
#include "host/cli/interrupt.h"
#include "host/cli/progress_bar.h"
#include "host/cli/trace_program.h"
#include "host/cli/unknown_workload.h"
#include "host/cli/wrong_file.h"
#include "host/core/error.h"
#include "host/core/file_hash.h"
#include "host/recording/accel_sim/trace_list.h"
#include "host/recording/combine.h"
#include "host/recording/recording_file.h"
#include "host/recording/recording_journal.h"
#include "host/recording/repeats.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::cli {
namespace {

namespace fs = std::filesystem;

bool on_progress(uint64_t warp_instructions, void* context) {
  static_cast<ProgressBar*>(context)->update(warp_instructions, 0);
  return !interrupted();
}

}  // namespace

runtime::Recording execute_workload(const workloads::Workload& workload, workloads::Size size,
                                    runtime::VirtualDevice::Options options) {
  ProgressBar bar("executing " + workload.name());
  options.progress = on_progress;
  options.progress_context = &bar;
  try {
    return workloads::execute(workload, size, std::move(options));
  } catch (const Interrupted&) {
    throw Error(
        "interrupted while the program was executed, before its first simulated cycle - "
        "there are no results");
  }
}

void declare_repeats(CommandLine& line) {
  line.value("max-repeats",
             "of launches that are the same, simulate the first N (docs/applications.md)", "N");
}

uint32_t max_repeats_option(const CommandLine& line) {
  return line.given("max-repeats")
             ? static_cast<uint32_t>(line.number("max-repeats", 1, 0xffffffffu))
             : 0;
}

void make_folder(const std::string& folder, const std::string& option) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    throw Error(fmt::format("cannot make the folder '{}': {} - choose another {}", folder,
                            failed.message(), option));
  }
}

runtime::Recording cached_recording(const std::string& cache, const std::string& key,
                                    const std::string& again,
                                    const std::function<runtime::Recording()>& make) {
  if (cache.empty()) return make();
  make_folder(cache, "--trace-cache");
  const fs::path file = fs::path(cache) / (key + ".nwtrace");
  if (fs::exists(file)) {
    try {
      return runtime::load_recording(file.string());
    } catch (const Error& error) {
      std::fprintf(stderr, "nearwarp: %s; %s\n", error.what(), again.c_str());
    }
  }
  runtime::Recording recording = make();
  runtime::save_recording(recording, file.string());
  return recording;
}

std::vector<std::string> programs_joined(const std::string& programs) {
  if (fs::exists(programs)) return {programs};
  std::vector<std::string> names(1);
  for (const char c : programs) {
    if (c == '+')
      names.emplace_back();
    else
      names.back() += c;
  }
  return names;
}

runtime::BoundName bound_program(const std::string& program) {
  if (fs::exists(program)) return {program, 0};
  try {
    return runtime::bound_name(program);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

namespace {

/// Of a process, as the runtime library writes it while that runs.
bool names_journal(const std::string& program) { return program.ends_with(".journal"); }

}  // namespace

bool names_recording(const std::string& program) {
  return program.ends_with(".nwtrace") || names_journal(program) || sass::names_trace(program);
}

void check_stacks(const std::string& programs, const config::MachineConfig& machine) {
  for (const std::string& program : programs_joined(programs)) {
    const uint32_t stacks = bound_program(program).stacks;
    try {
      sim::check_binding(program, stacks, machine);
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
  }
}

std::optional<runtime::BoundName> one_recording(const std::string& word) {
  if (programs_joined(word).size() != 1) return std::nullopt;
  runtime::BoundName one = bound_program(word);
  if (!names_recording(one.name)) return std::nullopt;
  return one;
}

runtime::Recording load_recorded(const std::string& path, const std::string& cache) {
  if (sass::names_trace(path)) return read_traces(path, cache);
  if (!fs::exists(path))
    throw UsageError(fmt::format("there is no recording '{}' - 'nearwarp record' makes one", path));
  if (!names_journal(path)) return runtime::load_recording(path);
  runtime::Journal journal = runtime::load_journal(path);
  if (!journal.ended || journal.damaged)
    std::fprintf(stderr, "nearwarp: '%s' ends before its program did: what it has is taken\n",
                 path.c_str());
  return std::move(journal.recording);
}

std::string recorded_key(const std::string& path) {
  if (sass::names_trace(path)) return trace_key(path);
  if (!fs::is_regular_file(path))
    throw UsageError(fmt::format("cannot read the recording '{}' - check the path", path));
  return runtime::recording_key(file_hash(path), fs::path(path).filename().string(), "",
                                "recording");
}

const workloads::Workload& workload_named(const std::string& name, const std::string& command) {
  if (const workloads::Workload* workload = workloads::find(name)) return *workload;
  if (name.ends_with("kernelslist") || name.ends_with(".trace"))
    throw UsageError(fmt::format(
        "'{}' is what Accel-Sim's tracer writes first - give the kernelslist.g that its "
        "post-traces-processing makes of it",
        name));
  if (const std::string advice = wrong_file(name, command); !advice.empty())
    throw UsageError(advice);
  throw unknown_workload(name);
}

std::string recording_key_of(const workloads::Workload& workload, const std::string& size) {
  const std::string detail =
      fmt::format("limit={} drivers={}", workloads::instruction_limit(workloads::parse_size(size)),
                  workloads::drivers_hash());
  return runtime::recording_key(workload.ptx(), workload.name(), size, detail);
}

runtime::Recording recording_of(const workloads::Workload& workload, const std::string& size,
                                const std::string& cache) {
  const workloads::Size parsed = workloads::parse_size(size);
  const std::string key = cache.empty() ? "" : recording_key_of(workload, size);
  runtime::Recording recording = cached_recording(cache, key, "executing the program again", [&] {
    return execute_workload(workload, parsed, {});
  });
  workloads::limit_runs(parsed, recording);
  return recording;
}

std::string mix_key_of(const std::string& names, const std::string& size,
                       const std::string& command) {
  const std::vector<std::string> programs = programs_joined(names);
  if (programs.size() > runtime::kMaxPrograms)
    throw UsageError(fmt::format("'{}' are {} programs at the same time - {} are possible", names,
                                 programs.size(), runtime::kMaxPrograms));
  std::string key;
  for (const std::string& program : programs) {
    const runtime::BoundName bound = bound_program(program);
    key += (key.empty() ? "" : " beside ") +
           recording_key_of(workload_named(bound.name, command), size) +
           runtime::binding_text(bound.stacks);
  }
  return key;
}

runtime::Recording mix_recording_of(const std::string& names, const std::string& size,
                                    const std::string& cache, uint32_t max_repeats) {
  std::vector<runtime::Recording> recordings;
  for (const std::string& program : programs_joined(names)) {
    const runtime::BoundName bound = bound_program(program);
    recordings.push_back(recording_of(workload_named(bound.name), size, cache));
    if (max_repeats != 0) runtime::limit_repeats(recordings.back(), max_repeats);
    runtime::bind(recordings.back(), bound.stacks);
  }
  if (recordings.size() == 1) return std::move(recordings.front());
  return runtime::combine(std::move(recordings));
}

}  // namespace nearwarp::cli
