// The public interface of nearwarp, a cycle-level simulator of GPUs with near-data processing.
//
//   using namespace nearwarp;
//   auto machine = Machine::load("tom");
//   auto policy = Policy::load("tom");
//   auto program = Program::workload("kmeans", "small");
//   auto run = Simulation::begin(*program, *machine, *policy);
//   if (auto done = run->run(); !done) std::cerr << done.failure().message << '\n';
//   std::cout << run->result().cycles << '\n';
//
// Nothing here prints, exits, reads standard input or throws (but std::bad_alloc, and
// std::logic_error by who asks a failure for its value, or an object that nothing has made for
// anything); what can go wrong comes back as a Failure, as does what the caller's functions throw.
// Objects share what they are made of and are cheap to copy, but for Simulation and Device, which
// can be moved. Two of them know nothing of each other, and may be used by two threads; one may
// not. Results are those of the command line, to the bit. Units stand in names and comments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define NEARWARP_API __attribute__((visibility("default")))

namespace nearwarp {

// ---- What went wrong ----------------------------------------------------------------------------

/// What a user can get wrong, or the simulator.
struct Failure {
  enum class Kind : uint8_t {
    kError,    ///< something did not work out
    kUsage,    ///< what was asked for is wrong
    kStopped,  ///< one of the caller's functions wanted it
  };
  std::string message;  ///< all of it: what is wrong (where) - what would be right
  std::string what;     ///< the first part
  std::string file;     ///< where, if it is in a file; else empty
  uint32_t line = 0;    ///< in it, from 1 on; 0: no line
  std::string right;    ///< what would be right; may be empty
  Kind kind = Kind::kError;
};

/// A value, or why there is none.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : value_(std::move(value)) {}              // NOLINT: a value is one
  Expected(Failure failure) : failure_(std::move(failure)) {}  // NOLINT: so is a failure
  explicit operator bool() const { return value_.has_value(); }
  bool ok() const { return value_.has_value(); }
  /// Throws std::logic_error with the failure's message if there is no value.
  T& value() & {
    if (!value_.has_value()) throw std::logic_error(failure_.message);
    return *value_;
  }
  const T& value() const& { return const_cast<Expected*>(this)->value(); }
  /// By value, so that it outlives what a function has just returned.
  T value() && { return std::move(value()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Failure& failure() const { return failure_; }

 private:
  std::optional<T> value_;
  Failure failure_;
};

/// Of what has no value but that it went well.
struct Done {};

// ---- What there is ------------------------------------------------------------------------------

NEARWARP_API std::string version();
/// Machines and policies that have names: those of the installation, and of $NEARWARP_CONFIG_PATH.
NEARWARP_API std::vector<std::string> machine_names();
NEARWARP_API std::vector<std::string> policy_names();

/// A program that comes with nearwarp.
struct WorkloadName {
  std::string name, description;
};
NEARWARP_API std::vector<WorkloadName> workload_names();

/// Of changes, those that are keys of the other kind of configuration.
enum class Foreign : uint8_t {
  kRefused,
  kPassedOver,  ///< they are meant for a machine's policies, or the policies' machine (`--set`)
};

/// A key of a machine or a policy.
struct Key {
  std::string name;   ///< dotted, e.g. "links.gpu_to_memory_mbps"
  std::string value;  ///< as TOML has it
  std::string unit;   ///< empty for counts, names and texts
  std::string doc;    ///< one sentence
  std::string range;  ///< what is allowed
  /// Where the value comes from: what its file says beside it ("TOM, Table 1", "estimated"), the
  /// standard that a timing is of, "changed", or "default". Empty where the file says nothing, and
  /// in texts.
  std::string source;
};

/// A machine's description.
class NEARWARP_API Machine {
 public:
  /// By name ("tom"), or by the path of a .toml file; `changes`: "key=value", the last one wins.
  static Expected<Machine> load(const std::string& name_or_path,
                                std::span<const std::string> changes = {},
                                Foreign foreign = Foreign::kRefused);
  /// Of the text of such a file; `name` stands in results and messages.
  static Expected<Machine> parse(const std::string& toml, const std::string& name = "machine",
                                 std::span<const std::string> changes = {});
  /// The same with more changes, all of them or none; this one stays as it is.
  Expected<Machine> with(std::span<const std::string> changes) const;

  const std::string& name() const;
  std::vector<Key> keys() const;
  /// A key's value as TOML has it.
  Expected<std::string> get(std::string_view key) const;
  /// What is worth knowing of it and no failure, such as clocks that were rounded; may be empty.
  std::string note() const;
  /// Has it stacks behind links that compute, which policies that offload need?
  bool computes_in_stacks() const;
  /// Keys of machines of all shapes, without values and sources.
  static std::vector<Key> all_keys();

  struct State;

 private:
  friend struct Access;
  std::shared_ptr<const State> state_;
};

/// What computes near memory, and how.
class NEARWARP_API Policy {
 public:
  /// As those of Machine.
  static Expected<Policy> load(const std::string& name_or_path,
                               std::span<const std::string> changes = {});
  static Expected<Policy> parse(const std::string& toml, const std::string& name = "policy",
                                std::span<const std::string> changes = {});
  /// Several that are to be compared. Each change is of those that have the key; a failure if none
  /// has.
  static Expected<std::vector<Policy>> load_all(std::span<const std::string> names_or_paths,
                                                std::span<const std::string> changes = {},
                                                Foreign foreign = Foreign::kRefused);
  Expected<Policy> with(std::span<const std::string> changes) const;

  const std::string& name() const;
  std::vector<Key> keys() const;
  Expected<std::string> get(std::string_view key) const;
  /// Why programs cannot be simulated in parts under it (BatchOptions::launches); empty: they can.
  std::string why_no_parts() const;
  static std::vector<Key> all_keys();  ///< with those of all mechanisms

  struct State;

 private:
  friend struct Access;
  std::shared_ptr<const State> state_;
};

// ---- Programs -----------------------------------------------------------------------------------

/// A launch of a program's kernel.
struct Launch {
  std::string kernel;
  uint64_t warp_instructions = 0, thread_instructions = 0;
};

/// What is being done before a program can be simulated.
struct Activity {
  const std::string& what;  ///< e.g. "executing kmeans"
  uint64_t done, total;     ///< warp-instructions, or bytes of traces; 0: it is not known
  const char* unit;         ///< of the speed, for a million a second: "Mwi/s", "MB/s"
};

struct ProgramOptions {
  /// Of launches that are the same, the first so many, which stand for the others; 0: all.
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
  uint64_t max_thread_instructions = 0;          ///< to keep; 0: all
  uint64_t max_trace_bytes = uint64_t{2} << 30;  ///< of traces of thread blocks that run together
  std::string registers = "auto";                ///< who counts them: "auto", "own", "ptxas"
  uint32_t interleave = 0;           ///< warps take turns every so many instructions; 0: not
  uint64_t execute_most = 0;         ///< it is ended after so many thread-instructions; 0: never
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

/// What is wrong with the options, before anything is run.
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
  static Expected<Program> application(std::span<const std::string> command,
                                       const ApplicationOptions& options = {});
  static Expected<std::vector<Program>> processes(std::span<const std::string> command,
                                                  const ApplicationOptions& options = {});
  /// The same, with how the application ended.
  static Expected<ApplicationRun> run_application(std::span<const std::string> command,
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

/// x, y, z of a grid (thread blocks) or a block (threads).
struct Extent {
  uint32_t x = 1, y = 1, z = 1;
};

/// A simulated GPU's functional part: runs kernels of PTX, and keeps what they did as a program.
class NEARWARP_API Device {
 public:
  Device();
  ~Device();
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;

  /// Loads PTX text; `name` stands in messages. Returns a number for launch().
  Expected<uint32_t> load(const std::string& ptx, const std::string& name = "text");
  /// Device memory: addresses are those that a kernel gets as its arguments.
  Expected<uint64_t> allocate(uint64_t bytes, const std::string& name = {});
  Expected<Done> free(uint64_t address);
  Expected<Done> write(uint64_t address, std::span<const std::byte> bytes);
  Expected<Done> read(uint64_t address, std::span<std::byte> bytes) const;
  /// Runs a kernel to its end. `arguments`: its parameters' bytes, each aligned to its own size.
  Expected<Done> launch(uint32_t module, const std::string& kernel, Extent grid, Extent block,
                        std::span<const std::byte> arguments, uint32_t dynamic_shared_bytes = 0);
  /// All that has been launched. The device begins anew: what it has loaded and allocated is gone.
  Expected<Program> take_program(const std::string& name);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

// ---- Simulations --------------------------------------------------------------------------------

/// A counter, summed over the components of its kind.
struct Counter {
  std::string name;  ///< dotted, e.g. "sm.l1.read_hits"
  uint64_t value = 0;
  std::string unit, description;
};

/// A launch in a run.
struct LaunchResult {
  std::string kernel;
  uint64_t begin_cycle = 0, cycles = 0;
  uint64_t warp_instructions = 0, thread_instructions = 0;
};

/// What a run found; docs/json.md explains the rest.
struct NEARWARP_API Result {
  std::string program, size, machine, policy;
  bool partial = false;  ///< it stopped before the program's end
  std::string partial_reason;
  uint64_t cycles = 0;  ///< of the core clock
  double seconds = 0;   ///< simulated
  uint64_t warp_instructions = 0, thread_instructions = 0, offloaded_thread_instructions = 0;
  double ipc = 0;  ///< thread-instructions a cycle
  uint64_t gpu_to_memory_bytes = 0, memory_to_gpu_bytes = 0, memory_to_memory_bytes = 0;
  double energy_joules = 0;  ///< an estimate (docs/energy.md)
  bool exact = true;         ///< false: of a sample, or of parts some of which began on a machine
                             ///< that was not simulated up to there
  /// Of a sample: how far `cycles` may be off, relative to it, at 95 % confidence.
  std::optional<double> cycles_error = {};
  double host_seconds =
      0;  ///< that the simulation took; the only member that differs from run to run
  std::vector<Counter> counters;
  std::vector<LaunchResult> launches;
  std::string json;           ///< all of it, a member of `runs` in docs/json.md
  std::string followed = {};  ///< BatchOptions::follow's way through the machine, in lines

  struct Whole;
  std::shared_ptr<const Whole> whole = {};  ///< what table() is made of

  /// A counter's value, or a failure that names the nearest one.
  Expected<uint64_t> counter(std::string_view name) const;
};

struct TableOptions {
  size_t width = 80;     ///< columns
  bool legend = false;   ///< what the rows are
  bool explain = false;  ///< more: what takes energy, why candidates were offloaded or not
};
/// The tables of `nearwarp run`: runs of one program side by side, the first being what others are
/// compared with.
NEARWARP_API Expected<std::string> table(std::span<const Result> results,
                                         const TableOptions& options = {});
/// The document of `nearwarp run --json` (docs/json.md).
NEARWARP_API Expected<std::string> document(std::span<const Result> results,
                                            const Machine& machine);

struct Progress {
  uint64_t cycles = 0, warp_instructions = 0;
  uint64_t warp_instructions_total = 0;
  /// Of a batch: warp-instructions done, and to be done, by point; there during the call.
  std::span<const uint64_t> of_each = {}, total_of_each = {};
  /// Of a batch with BatchOptions::time_left: once it can be said.
  std::optional<double> seconds_left = {};
};

struct SimulationOptions {
  unsigned threads = 1;
  /// A file for the run's state. If it is there, the run goes on from it (of the same program,
  /// machine, policy and build); save() and the end of run() write it.
  std::string checkpoint = {};
  /// Asked some times a second; returns false to stop.
  std::function<bool(const Progress&)> progress = {};
};

/// One program on one machine under one policy. It can be stopped anywhere, which changes nothing
/// of its result.
class NEARWARP_API Simulation {
 public:
  static Expected<Simulation> begin(const Program& program, const Machine& machine,
                                    const Policy& policy, SimulationOptions options = {});
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;

  /// To the end of the program or until progress() stops it; it can be gone on with then.
  Expected<Done> run();
  /// Until all before that core cycle has been simulated, or as run().
  Expected<Done> run_to_cycle(uint64_t cycle);
  /// Until so many launches have ended (one window of the machine later at most), or as run().
  Expected<Done> run_to_launch(uint64_t launches);

  bool ended() const;
  uint64_t cycles() const;
  uint64_t launches_ended() const;
  /// A counter, as of now.
  Expected<uint64_t> counter(std::string_view name) const;
  /// All of them and the rest; Result::partial unless the program has ended.
  Result result() const;
  Expected<Done> save();

  struct State;

 private:
  explicit Simulation(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// ---- Many of them -------------------------------------------------------------------------------

struct Point {
  Program program;
  Machine machine;
  Policy policy;
};

/// What happened when, in a file for ui.perfetto.dev (docs/timeline.md).
struct TimelineOptions {
  std::string path;
  uint64_t from = 0, to = ~uint64_t{0};  ///< core cycles that are shown
  uint64_t interval = 0;  ///< core cycles from sample to sample; 0: 1000, longer as the file grows
};

/// GPUs that backend "cuda" finds; a failure says why there are none.
NEARWARP_API Expected<int> cuda_devices();

struct BatchOptions {
  unsigned threads = 0;         ///< 0: one for each processor
  std::string backend = "cpu";  ///< or "cuda"
  int device = 0;               ///< with "cuda"
  bool locate_fault = false;    ///< with "cuda": a GPU's failure is looked for (slow)
  /// A folder for the points' states, from which those that were stopped go on; it is empty again
  /// when all have ended. Empty: none.
  std::string checkpoints = {};
  /// What of each program is simulated, as with the options of that name of `nearwarp run`
  /// (docs/launches.md): launches "I..J[:K]", or "parallel[:K[:PARTS]]"; a sample
  /// "ERROR[:[K][:SEED]]" in percent. One of them, on the CPU; empty: all of it, in one go, as
  /// always under policies whose parts cannot be simulated by themselves.
  std::string launches = {}, sample = {};
  bool cold_caches = false;  ///< with these: parts begin with empty caches
  // Of one point, on the CPU and from its beginning:
  std::optional<TimelineOptions> timeline = {};
  std::string follow = {};  ///< a warp, "KERNEL:WARP" or "KERNEL#LAUNCH:WARP", its N-th request,
                            ///< "KERNEL:WARP/N", or all for a line, "0xADDRESS": Result::followed
  bool time_left = false;   ///< Progress::seconds_left is wanted; reads all traces once
  /// Told of each point that has ended, by its place, and asked some times a second
  /// (Progress::cycles is 0) whether to go on; both one at a time, from any thread.
  std::function<void(size_t, const Expected<Result>&)> finished = {};
  std::function<bool(const Progress&)> progress = {};
  /// On the CPU: shown each point some times a second, and when it is over, by the thread that
  /// steps it; without Result::json.
  std::function<void(size_t, const Result&, bool over)> look = {};
  /// Told what is worth knowing and no failure: what was not sampled, and why.
  std::function<void(const std::string&)> tell = {};
};

/// What is wrong with the options, as far as can be said before there are points.
NEARWARP_API Expected<Done> check(const BatchOptions& options);

/// Simulates all of them side by side. Results in their order: of a point that was not begun,
/// because progress() stopped the batch, a failure that says so.
NEARWARP_API std::vector<Expected<Result>> run_all(std::span<const Point> points,
                                                   const BatchOptions& options = {});

// ---- All combinations of what is named, resumable -----------------------------------------------

struct SweepDefinition {
  std::vector<std::string> programs;       ///< as Program::load() takes them
  std::string size = "small";              ///< of workloads
  std::vector<std::string> machines;       ///< names or paths
  std::vector<std::string> policies;       ///< the same; speed-ups are over the first one
  std::vector<std::string> values = {};    ///< of keys of machines or policies, "KEY=A,B,..."
  uint32_t max_repeats = 0;                ///< as ProgramOptions
  std::string launches = {}, sample = {};  ///< as BatchOptions
  bool cold_caches = false;
};

/// How far a sweep is, counting only what is to be run now.
struct SweepProgress {
  size_t points_done = 0, points = 0;
  /// Programs that have not been executed yet are taken to be as long as the mean of the others.
  uint64_t warp_instructions_done = 0, warp_instructions = 0;
  /// The same in the host's seconds, of one thread: points that are done as they took, others as
  /// those that have most in common with them.
  double cost_done = 0, cost = 0;
};

struct SweepOptions {
  /// A file to which results are appended, a line of JSON as each point ends, or a folder (with a
  /// "/" at its end, unless it is there) for such a file. Points that are in it are not run again.
  std::string out;
  std::string csv = {};     ///< a file for a row per point; empty: none
  std::string part = {};    ///< "i/n": part i of n, which are joined when a whole in a folder runs
  bool retry = false;       ///< points that failed run again
  bool only_count = false;  ///< nothing is run
  unsigned threads = 0;     ///< from here on as BatchOptions
  std::string backend = "cpu";
  int device = 0;
  bool locate_fault = false;
  std::string checkpoints = {};
  std::string cache = {};  ///< as ProgramOptions
  /// Asked some times a second; returns false to stop.
  std::function<bool(const SweepProgress&)> progress = {};
  /// The same while a program is executed or read.
  std::function<bool(const Activity&)> program = {};
  std::function<void(const std::string&)> tell = {};  ///< as BatchOptions
};

struct SweepOutcome {
  size_t points = 0;          ///< of the part
  size_t already_there = 0;   ///< were in the file before
  size_t finished = 0;        ///< came to an end now
  size_t failed = 0;          ///< of all in the file
  std::string first_failure;  ///< which, and why; empty: none failed
  bool stopped = false;       ///< progress() said so: points are left
  std::string file;           ///< results are in
  std::string table;          ///< speed-ups, for people
};

class NEARWARP_API Sweep {
 public:
  /// Checks the values of each key with the first ones of the others, and more points where that
  /// does not do; with launches or sample, all. `progress` is told how many of those have been
  /// checked, and stops by returning false. A combination of keys that a rule forbids is the
  /// failure of its points alone.
  static Expected<Sweep> plan(const SweepDefinition& definition,
                              const std::function<bool(uint64_t, uint64_t)>& progress = {});
  size_t points() const;
  /// Runs what is not in the file yet. The failure of a point is its result.
  Expected<SweepOutcome> run(const SweepOptions& options) const;

  struct State;

 private:
  friend struct Access;
  std::shared_ptr<const State> state_;
};
/// What is wrong with the options, before anything is run.
NEARWARP_API Expected<Done> check(const SweepOptions& options);

}  // namespace nearwarp
