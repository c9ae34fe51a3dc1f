// Executes workloads and reads recordings and traces, with a cache folder.
#include "host/programs/recordings.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "bench/workloads/execution.h"
#include "host/core/error_parts.h"
#include "host/core/file_hash.h"
#include "host/core/folder.h"
#include "host/recording/accel_sim/trace_list.h"
#include "host/recording/recording_file.h"
#include "host/recording/recording_journal.h"

namespace nearwarp::programs {
namespace {

namespace fs = std::filesystem;

/// The context of on_progress(): the name of an execution, and its observer.
struct Executed {
  std::string name;
  Observer& observer;
};

bool on_progress(uint64_t warp_instructions, void* context) {
  const auto& executed = *static_cast<const Executed*>(context);
  return executed.observer.progress(executed.name, warp_instructions, 0, "Mwi/s");
}

/// A hash of the traces' files, as 32 hexadecimal digits.
std::string trace_key(const std::string& path) {
  return runtime::recording_key(sass::fingerprint(path), fs::path(path).filename().string(), "",
                                "accel-sim");
}

}  // namespace

runtime::Recording execute_workload(const workloads::Workload& workload, workloads::Size size,
                                    runtime::VirtualDevice::Options options, Observer& observer) {
  Executed executed{"executing " + workload.name(), observer};
  options.progress = on_progress;
  options.progress_context = &executed;
  try {
    return workloads::execute(workload, size, std::move(options));
  } catch (const Interrupted&) {
    throw Interrupted(
        "interrupted while the program was executed, before its first simulated cycle - "
        "there are no results");
  }
}

runtime::Recording cached_recording(const std::string& cache, const std::string& key,
                                    const std::string& again,
                                    const std::function<runtime::Recording()>& make,
                                    Observer& observer) {
  if (cache.empty()) return make();
  make_folder(cache, "folder for executed programs");
  const fs::path file = fs::path(cache) / (key + ".nwtrace");
  if (fs::exists(file)) {
    try {
      return runtime::load_recording(file.string());
    } catch (const Error& error) {
      observer.tell(fmt::format("{}; {}", error.what(), again));
    }
  }
  runtime::Recording recording = make();
  runtime::save_recording(recording, file.string());
  return recording;
}

namespace {

/// Is `program` a process's journal, as the runtime library writes it while the process runs?
bool names_journal(const std::string& program) { return program.ends_with(".journal"); }

}  // namespace

bool names_recording(const std::string& program) {
  return program.ends_with(".nwtrace") || names_journal(program) || sass::names_trace(program);
}

sass::TraceProgram read_traces(const std::string& path, Observer& observer) {
  const std::string what = "reading " + fs::path(path).filename().string();
  sass::ReadOptions options;
  options.progress = [&](uint64_t done, uint64_t total) {
    return observer.progress(what, done, total, "MB/s");
  };
  try {
    return sass::read_program(path, options);
  } catch (const Interrupted& stopped) {
    throw Interrupted(fmt::format("{} - there are no results", stopped.what()));
  }
}

runtime::Recording load_recorded(const std::string& path, const std::string& cache,
                                 Observer& observer) {
  if (sass::names_trace(path)) {
    const auto read = [&] {
      sass::TraceProgram program = read_traces(path, observer);
      for (const std::string& warning : program.warnings) observer.tell("warning: " + warning);
      return std::move(program.recording);
    };
    return cached_recording(cache, cache.empty() ? "" : trace_key(path), "reading the traces again",
                            read, observer);
  }
  std::error_code failed;
  if (!fs::exists(path, failed))
    throw ErrorWithParts<UsageError>({.what = fmt::format("there is no recording '{}'", path),
                                      .right = "'nearwarp record' makes one",
                                      .file = path});
  if (!names_journal(path)) return runtime::load_recording(path);
  runtime::Journal journal = runtime::load_journal(path);
  if (!journal.ended || journal.damaged)
    observer.tell(fmt::format("'{}' ends before its program did: what it has is taken", path));
  return std::move(journal.recording);
}

std::string recorded_key(const std::string& path) {
  if (sass::names_trace(path)) return trace_key(path);
  std::error_code failed;
  if (!fs::is_regular_file(path, failed))
    throw ErrorWithParts<UsageError>({.what = fmt::format("cannot read the recording '{}'", path),
                                      .right = "check the path",
                                      .file = path});
  return runtime::recording_key(file_hash(path), fs::path(path).filename().string(), "",
                                "recording");
}

std::string recording_key_of(const workloads::Workload& workload, const std::string& size) {
  const std::string detail =
      fmt::format("limit={} drivers={}", workloads::instruction_limit(workloads::parse_size(size)),
                  workloads::drivers_hash());
  return runtime::recording_key(workload.ptx(), workload.name(), size, detail);
}

runtime::Recording recording_of(const workloads::Workload& workload, const std::string& size,
                                const std::string& cache, Observer& observer) {
  const workloads::Size parsed = workloads::parse_size(size);
  const std::string key = cache.empty() ? "" : recording_key_of(workload, size);
  runtime::Recording recording = cached_recording(
      cache, key, "executing the program again",
      [&] { return execute_workload(workload, parsed, {}, observer); }, observer);
  workloads::limit_runs(parsed, recording);
  return recording;
}

}  // namespace nearwarp::programs
