// Programs that can be simulated: workloads, recordings, traces, applications.
#pragma once

#include <nearwarp/configuration.h>
#include <nearwarp/failure.h>
#include <nearwarp/texts.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nearwarp {

/// A program that comes with nearwarp.
struct WorkloadName {
  std::string name, description;
};
NEARWARP_API std::vector<WorkloadName> workload_names();

/// A launch of a program's kernel.
struct Launch {
  std::string kernel;
  uint64_t warp_instructions = 0, thread_instructions = 0;
};

/// Work that is done before a program can be simulated.
struct Activity {
  const std::string& what;  ///< e.g. "executing kmeans"
  uint64_t done, total;     ///< warp-instructions, or bytes of traces; 0: it is not known
  /// The unit of a million a second: "Mwi/s", "MB/s"; empty: an application runs, and how much of
  /// it is done is not known.
  const char* unit;
};

struct ProgramOptions {
  /// How many of the launches that are the same are kept, for the others, too; 0: all.
  uint32_t max_repeats = 0;
  /// A folder where programs that have been executed or read are kept and used again; empty: none.
  std::string cache = {};
  /// Asked some times a second while a workload is executed or traces are read; returns false to
  /// stop.
  std::function<bool(const Activity&)> progress = {};
  /// Told what is worth knowing and no failure: what traces lack, how an application ended.
  std::function<void(const std::string&)> tell = {};
};

/// How a CUDA application is run on the simulated GPU (docs/applications.md).
struct ApplicationOptions {
  static constexpr uint32_t kMostInterleave = 1 << 15, kMostDevices = 16;
  std::optional<Machine> machine = {};  ///< what it takes the GPU for; default: "tom"
  std::string kernels = {};  ///< regular expression: only kernels with a match are kept; all run
  uint64_t max_thread_instructions = 0;  ///< thread-instructions to keep; 0: all
  uint64_t max_trace_bytes = uint64_t{2}
                             << 30;  ///< memory for the traces of thread blocks that run together
  std::string registers = "auto";    ///< who counts them: "auto", "own", "ptxas"
  uint32_t interleave = 0;           ///< warps take turns every so many instructions; 0: not
  uint64_t execute_most =
      0;  ///< the application is ended after so many thread-instructions; 0: never
  uint64_t time_limit_seconds = 0;   ///< or after its kernels ran for so long; 0: never
  uint32_t devices = 1;              ///< GPUs that it sees
  bool strict_bounds = false;        ///< accesses beside allocations always end a kernel
  std::string output = {};           ///< file for what it prints; empty: where this process prints
  uint32_t max_repeats = 0;          ///< as ProgramOptions
  std::string cache = {};            ///< folder for what ptxas answers; empty: none
  bool simulated_events = false;     ///< cudaEventElapsedTime() tells times simulated on `machine`
                                     ///< under policy baseline; else estimates
  std::function<bool()> go_on = {};  ///< asked some times a second; false: the application is ended
  std::function<void(const std::string&)> tell = {};  ///< as ProgramOptions
};

/// Says what is wrong with the options, before anything is run.
NEARWARP_API Expected<Done> check(const ApplicationOptions& options);

/// A program that a name names, as Program::load() takes it.
struct ProgramName {
  enum class Kind : uint8_t { kWorkload, kRecording, kTraces };
  std::string name;
  Kind kind = Kind::kWorkload;
  uint32_t stacks = 0;  ///< memory stacks that it keeps to, as bits; 0: all
};
/// Takes "kmeans@0+libor@1-3" apart. What is no file of a recording or of traces is a workload,
/// whether there is one of that name or not.
NEARWARP_API Expected<std::vector<ProgramName>> program_names(const std::string& names);
/// Is there one of that name, its parameters included ("decode-step:batch=8")?
NEARWARP_API Expected<bool> is_workload(const std::string& name);

/// Is it a size of workloads?
NEARWARP_API Expected<Done> check_size(const std::string& size);

struct ApplicationRun;

/// A program that has been executed and can be simulated.
class NEARWARP_API Program {
 public:
  /// By name as `nearwarp run` takes it: a workload (executed at that size), a recording or traces;
  /// "@0" or "@1-3" keep it to memory stacks; several, joined by "+", run at the same time.
  static Expected<Program> load(const std::string& names, const std::string& size = "small",
                                const ProgramOptions& options = {});
  /// Why such a program cannot be simulated on that machine under that policy, as far as can be
  /// said before it is executed.
  static Expected<Done> check(const std::string& names, const Machine& machine,
                              const Policy& policy);
  /// Executes one of workload_names() and compares its result with the CPU's; `size`: "small",
  /// "medium", "large", "paper".
  static Expected<Program> workload(const std::string& name, const std::string& size = "small",
                                    const ProgramOptions& options = {});
  /// A recording, as `nearwarp record` writes it (.nwtrace), or Accel-Sim's traces (kernelslist.g).
  static Expected<Program> recording(const std::string& path, const ProgramOptions& options = {});
  /// Runs a CUDA application, {"./app", "its", "arguments"}, to its end, and keeps what its kernels
  /// did. It is a process of its own, with this one's input. A failure if it used no GPU, or if
  /// several of its processes did: processes() has each.
  static Expected<Program> application(Texts command, const ApplicationOptions& options = {});
  static Expected<std::vector<Program>> processes(Texts command,
                                                  const ApplicationOptions& options = {});
  /// Runs it as application() does, and says how it ended.
  static Expected<ApplicationRun> run_application(Texts command,
                                                  const ApplicationOptions& options = {});
  /// Writes it as a recording.
  Expected<Done> save(const std::string& path) const;

  const std::string& name() const;
  const std::string& size() const;  ///< empty: it is as large as it was
  uint64_t warp_instructions() const;
  uint64_t thread_instructions() const;
  std::vector<Launch> launches() const;
  bool truncated() const;  ///< not all of it was kept

  struct State;

 private:
  friend struct Access;
  std::shared_ptr<const State> state_;
};

struct ApplicationRun {
  std::vector<Program> processes;  ///< those that used the GPU
  int exit_status = 0;             ///< 128 + signal if a signal ended it
  /// ApplicationOptions::go_on said so: results are partial, and say so.
  bool interrupted = false;
};

}  // namespace nearwarp
