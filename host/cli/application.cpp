// Runs a CUDA application on the simulated GPU.
#include "host/cli/application.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <regex>
#include <thread>

#include "host/cli/executable.h"
#include "host/cli/interrupt.h"
#include "host/config/config.h"
#include "host/config/find.h"
#include "host/core/error.h"
#include "host/core/temporary_folder.h"
#include "host/functional/cudart/device_spec.h"
#include "host/functional/cudart/execution_watch.h"
#include "host/functional/racecheck/report.h"

extern char** environ;

namespace nearwarp::cli {
namespace {

namespace fs = std::filesystem;
using cudart::DeviceSpec;

/// The library lies in ../lib/nearwarp beside the program's folder, built or installed.
fs::path library_folder() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  const fs::path folder = program.parent_path().parent_path() / "lib" / "nearwarp";
  if (failed || !fs::exists(folder / kRuntimeName, failed))
    throw Error(fmt::format("there is no {} in {} - build nearwarp's target 'cudart'", kRuntimeName,
                            folder.string()));
  return folder;
}

/// The driver's API lies in a folder of its own, built or installed: this program alone puts it on
/// a library path. Empty where there is none.
fs::path driver_folder(const fs::path& library) {
  std::error_code failed;
  const fs::path folder = library / "driver";
  return fs::exists(folder / kDriverName, failed) ? folder : fs::path();
}

DeviceSpec spec_of(const config::MachineConfig& m) {
  DeviceSpec s;
  s.name = m.name;
  std::replace(s.name.begin(), s.name.end(), ',', '_');
  s.sms = m.gpu.sms;
  s.clock_mhz = m.clocks.core_mhz;
  s.memory_clock_mhz = m.clocks.dram_mhz;
  s.memory_mbps = static_cast<decltype(s.memory_mbps)>(config::memory_mbps(m));
  s.sm_warps = m.sm.warps;
  s.sm_threads = m.sm.threads;
  s.sm_blocks = m.sm.blocks;
  s.sm_registers = m.sm.registers;
  s.register_unit = m.sm.register_unit;
  s.sm_shared_bytes = m.sm.shared_memory_bytes;
  s.l2_bytes = m.l2.bytes;
  s.capability = m.gpu.compute_capability;
  return s;
}

/// Of variables of the environment.
using Changes = std::vector<std::pair<std::string, std::string>>;

/// This process's environment with some variables changed; an empty value removes one.
Words environment_with(const Changes& changes) {
  Words result;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string entry = *e;
    const std::string name = entry.substr(0, entry.find('='));
    const auto same = [&](const auto& change) { return change.first == name; };
    if (std::none_of(changes.begin(), changes.end(), same)) result.push_back(entry);
  }
  for (const auto& [name, value] : changes)
    if (!value.empty()) result.push_back(name + "=" + value);
  return result;
}

/// `paths` in front of the list that the variable has.
std::string prepended(const Words& paths, const char* variable) {
  const char* old = std::getenv(variable);
  const std::string all = fmt::format("{}", fmt::join(paths, ":"));
  return old == nullptr || *old == '\0' ? all : all + ":" + old;
}

/// Where the application finds the libraries.
Changes libraries_of(const ExecutableFacts& facts, const fs::path& library,
                     const fs::path& driver) {
  Words folders = {library.string()}, preloaded;
  if (facts.overrides_search) {  // its own folders come before LD_LIBRARY_PATH
    preloaded.push_back(
        (library / (facts.runtime.empty() ? kRuntimeName : facts.runtime)).string());
    for (const std::string& own : facts.own_libraries)
      preloaded.push_back((library / own).string());
  }
  if (!driver.empty()) {
    folders.push_back(driver.string());
    if (facts.overrides_search) preloaded.push_back((driver / kDriverName).string());
  }
  Changes changes = {
      {"LD_LIBRARY_PATH", prepended(folders, "LD_LIBRARY_PATH")},
      {cudart::kDriverVariable, driver.empty() ? "" : (driver / kDriverName).string()}};
  if (!preloaded.empty()) changes.emplace_back("LD_PRELOAD", prepended(preloaded, "LD_PRELOAD"));
  return changes;
}

std::vector<char*> pointers(Words& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

/// Starts the child; returns its process id.
pid_t start(const std::string& path, Words arguments, Words environment) {
  std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  int ends[2];  // tells why exec failed; closed by its success
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // it may ignore all others, in an endless kernel
    if (getppid() != parent) _exit(127);
    std::signal(SIGXFSZ, SIG_DFL);  // main() ignores it
    // The same addresses on every run, and none where the simulated GPU's memory belongs.
    const int persona = personality(0xffffffff);
    if (persona != -1) personality(static_cast<unsigned long>(persona) | ADDR_NO_RANDOMIZE);
    execve(path.c_str(), argv.data(), envp.data());
    const int code = errno;
    if (write(ends[1], &code, sizeof(code)) < 0) _exit(126);
    _exit(127);
  }
  const int fork_error = errno;
  close(ends[1]);
  int code = 0;
  const bool failed = child > 0 && read(ends[0], &code, sizeof(code)) == sizeof(code);
  close(ends[0]);
  if (child < 0) throw Error(fmt::format("cannot start a process: {}", std::strerror(fork_error)));
  if (!failed) return child;
  waitpid(child, nullptr, 0);
  throw UsageError(fmt::format(
      "cannot run '{}': {} - name an application for this machine, or a script that begins with #!",
      path, std::strerror(code)));
}

void tell(const std::string& message) { std::fprintf(stderr, "nearwarp: %s\n", message.c_str()); }

/// Waits for the child's end. After an interrupt it gets some time, then it is asked to end, then
/// it is killed.
int wait_for(pid_t child) {
  using namespace std::chrono_literals;
  auto pause = 1ms;
  auto since_interrupt = 0ms;
  bool asked = false, killed = false;
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR)
      throw Error(fmt::format("lost the application: {}", std::strerror(errno)));
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(16));
    if (!interrupted()) continue;
    if (since_interrupt == 0ms)
      tell(
          "interrupted: the application has 5 seconds to end, then what it has executed is taken - "
          "interrupt again to end at once, without results");
    since_interrupt += pause;
    if (since_interrupt >= 2000ms && !asked) {
      asked = true;
      kill(child, SIGTERM);
    }
    if (since_interrupt >= 5000ms && !killed) {
      killed = true;
      kill(child, SIGKILL);
    }
  }
}

void describe_ending(int status, ApplicationRun& run) {
  if (WIFEXITED(status)) {
    run.exit_status = WEXITSTATUS(status);
    if (run.exit_status != 0) run.ending = fmt::format("ended with status {}", run.exit_status);
  } else if (WIFSIGNALED(status)) {
    run.exit_status = 128 + WTERMSIG(status);
    run.ending =
        fmt::format("was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
}

/// What the processes left in the folder, in the order of their numbers.
void read_spool(const fs::path& folder, ApplicationRun& run) {
  std::vector<std::pair<long, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(folder))
    files.emplace_back(std::strtol(entry.path().filename().c_str(), nullptr, 10), entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& [process, path] : files) {
    if (path.extension() == ".journal")
      run.processes.push_back(runtime::load_journal(path.string()));
    else if (path.extension() == ".check")
      run.findings.push_back(racecheck::load_findings(path.string()));
  }
  // A process that only asked what there is has nothing to say beside those that launched.
  const auto idle = [](const racecheck::Findings& f) { return f.launches == 0 && f.clean(); };
  if (!std::all_of(run.findings.begin(), run.findings.end(), idle))
    std::erase_if(run.findings, idle);
}

/// The machine as EventTimes::begin() has it, for a process with another working directory.
std::string event_times_option(const CommandLine& line) {
  const std::string kind = line.text("event-times");
  if (kind == "estimated") return "";
  if (kind != "simulated")
    throw UsageError(
        fmt::format("--event-times cannot be '{}' - 'estimated' or 'simulated'", kind));
  std::string text = fs::absolute(config::find_config("machines", line.text("machine"))).string();
  for (const std::string& change : line.texts("set")) text += ';' + change;
  return text;
}

std::string registers_option(const CommandLine& line) {
  const std::string text = line.text("registers");
  cudart::RegisterChoice choice;
  try {
    choice = cudart::parse_registers(text);
  } catch (const Error& error) {
    throw UsageError(fmt::format("--registers {}: {}", text, error.what()));
  }
  if (choice.from == cudart::RegisterChoice::From::kPtxas && cudart::find_ptxas().empty())
    throw UsageError(fmt::format(
        "--registers {}: there is no ptxas on $PATH - install the CUDA toolkit, or use 'auto'",
        text));
  return text;
}

}  // namespace

void declare_application(CommandLine& line) {
  line.value("kernels",
             "of an application: simulate only kernels whose name contains a match of this regular "
             "expression; all are executed",
             "REGEX");
  line.value("max-instructions",
             "of an application: simulate the first N thread-instructions, to the end of their "
             "thread block or, where that is far, to equal shares of its warps; all are executed",
             "N");
  line.value("trace-memory",
             "of an application: memory for the traces of thread blocks that run together, in MiB; "
             "if they need more, what comes then is executed, but not simulated",
             "MIB", "2048");
  line.value("event-times",
             "of an application: what cudaEventElapsedTime() tells it, 'estimated', or 'simulated' "
             "under policy baseline while it runs",
             "KIND", "estimated");
  line.value(
      "registers",
      "of an application's kernels, who counts them: 'auto' (its machine code, else "
      "nearwarp's allocation), 'own' (nearwarp's allocation), 'ptxas' (its machine code, else "
      "ptxas), 'ptxas:sm_NN' (ptxas for sm_NN)",
      "WHO", "auto");
  declare_execution(line);
}

void declare_execution(CommandLine& line) {
  line.value("interleave",
             "of an application's kernels: warps of a thread block take turns every N "
             "warp-instructions; default: each runs until it waits or ends",
             "N");
  line.value("execute-most",
             "of an application: end it once its kernels have executed N thread-instructions", "N");
  line.value("time-limit",
             "of an application: end it once its kernels have been executed for so many seconds",
             "SECONDS");
  line.value(
      "devices",
      "of an application: it sees so many GPUs, all alike; they are executed and simulated as "
      "one",
      "N", "1");
  line.flag("strict-bounds",
            "of an application: accesses beside allocations end the kernel even where a GPU "
            "lets them pass, since their page is mapped");
}

std::vector<std::pair<std::string, std::string>> execution_options(const CommandLine& line,
                                                                   const Words& application,
                                                                   const std::string& command) {
  constexpr uint64_t kMostInterleave = 1 << 15, kMostSeconds = 1'000'000'000;
  const std::pair<const char*, const char*> all[] = {
      {"interleave", cudart::kInterleaveVariable},
      {"execute-most", cudart::kExecuteMostVariable},
      {"time-limit", cudart::kTimeLimitVariable},
      {"devices", cudart::kDevicesVariable},
      {"strict-bounds", cudart::kStrictBoundsVariable}};
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& [name, variable] : all) {
    std::string value;
    if (line.given(name)) {
      if (application.empty())
        throw UsageError(fmt::format(
            "--{} is for applications - e.g. nearwarp {} --{} ... -- ./app", name, command, name));
      const std::string_view option = name;
      value = option == "strict-bounds" ? "1"
              : option == "devices"     ? std::to_string(line.number(name, 1, cudart::kMostDevices))
              : option == "interleave"
                  ? std::to_string(line.number(name, 1, kMostInterleave))
                  : std::to_string(
                        line.number(name, 1, option == "time-limit" ? kMostSeconds : ~uint64_t{0}));
    }
    result.emplace_back(variable, value);  // an empty one keeps what stands in the environment out
  }
  return result;
}

std::string kernels_option(const CommandLine& line) {
  const std::string kernels = line.text("kernels");
  try {
    const std::regex check(kernels);
  } catch (const std::regex_error& error) {
    throw UsageError(fmt::format("--kernels cannot be '{}': {} - a regular expression is needed",
                                 kernels, error.what()));
  }
  return kernels;
}

ApplicationOptions application_options(const CommandLine& line, const Words& application) {
  ApplicationOptions options;
  for (const char* name :
       {"kernels", "max-instructions", "trace-memory", "event-times", "registers"})
    if (line.given(name) && application.empty())
      throw UsageError(fmt::format("--{} is for applications - e.g. nearwarp run --{} ... -- ./app",
                                   name, name));
  options.kernels = kernels_option(line);
  if (line.given("max-instructions"))
    options.max_thread_instructions = line.number("max-instructions", 1, ~uint64_t{0});
  constexpr uint64_t kMostMib = uint64_t{1} << 30;
  options.max_trace_bytes = line.number("trace-memory", 1, kMostMib) << 20;
  options.execution = execution_options(line, application, "run");
  if (application.empty()) return options;
  options.event_times = event_times_option(line);
  options.registers = registers_option(line);
  return options;
}

void tell_ending(const ApplicationRun& run) {
  if (!run.ending.empty()) tell("the application " + run.ending);
}

std::string why_not_used(const ApplicationRun& run) {
  const std::string how =
      "build it with the shared CUDA runtime (NVCC_APPEND_FLAGS=\"-cudart=shared\")";
  const std::string start = "the application did not use the simulated GPU: ";
  const ExecutableFacts& facts = run.facts;
  if (facts.has_kernels && !facts.shared_runtime)
    return start +
           "it has the CUDA runtime built in (nvcc's default), which cannot be replaced - " + how;
  if (!facts.shared_runtime && !facts.needs_driver)
    return fmt::format(
        "{}it is {}, and neither it nor a program that it started called them{} - name a CUDA "
        "application, and {}",
        start,
        facts.is_program ? "linked neither with the CUDA runtime nor with the driver's library"
                         : "no program but a script, which has neither the CUDA runtime nor the "
                           "driver's library",
        run.ending.empty() ? "" : "; it " + run.ending, how);
  if (facts.needs_driver && !run.offers_driver)
    return start +
           "it is a program of the driver's API, and used this machine's driver, for nearwarp's "
           "own is not in ../lib/nearwarp/driver beside the program - build the target 'cudriver', "
           "or install nearwarp anew";
  if (!run.ending.empty())
    return fmt::format(
        "{}it {} before it used the device - what it printed says why (an argument or an input "
        "file that is missing, say)",
        start, run.ending);
  return fmt::format(
      "{}it is linked with the {} and called none of its functions - it must "
      "launch a kernel",
      start, facts.shared_runtime ? "shared CUDA runtime" : "driver's library");
}

std::string why_not_launched(const ApplicationRun& run) {
  if (!run.ending.empty())
    return fmt::format(
        "the application called CUDA, but {} before a kernel was executed - what it printed says "
        "why (an argument or an input file that is missing, say)",
        run.ending);
  return "the application called CUDA, but no kernel was executed - there is nothing to work on";
}

namespace {

/// Why there is no launch in any process's journal.
std::string why_not_recorded(const ApplicationRun& run) {
  if (run.processes.empty()) return why_not_used(run);
  uint64_t launched = 0;
  bool fault = false, failed = false;
  for (const runtime::Journal& process : run.processes) {
    launched += process.calls.launched;
    fault = fault || !process.faults.empty();
    failed = failed || !process.calls.unseen.empty() || !process.calls.seen.empty();
  }
  if (fault)
    return "the application's first launch ended with a fault, which was told above - there is "
           "nothing to simulate";
  if (launched != 0 && !run.kernels.empty())
    return fmt::format(
        "no kernel that was launched has a name that contains a match of --kernels '{}' - without "
        "it, the table has all names",
        run.kernels);
  if (launched != 0)
    return "no kernel of the application was recorded - there is nothing to simulate";
  if (failed)
    return "no kernel of the application was executed: calls failed, as told above - there is "
           "nothing to simulate";
  return why_not_launched(run);
}

/// Who does not ask for errors learns of them here.
void tell_failed_calls(const ApplicationRun& run) {
  for (const runtime::Journal& process : run.processes) {
    const std::string whose =
        run.processes.size() > 1 ? fmt::format("{}: ", process.recording.name) : std::string();
    for (const auto* calls : {&process.calls.unseen, &process.calls.seen})
      for (const std::string& text : *calls) tell(whose + text);
  }
}

}  // namespace

std::vector<runtime::Journal> take_processes(ApplicationRun& run) {
  tell_ending(run);
  tell_failed_calls(run);
  const auto launched = [](const runtime::Journal& p) { return !p.recording.launches.empty(); };
  const bool any_launched = std::any_of(run.processes.begin(), run.processes.end(), launched);
  if (any_launched && run.exit_status > 0 && run.exit_status < 128 &&
      run.exit_status != cudart::kStoppedStatus)
    tell(
        "if that tells of wrong results: 'nearwarp check -- ...' finds races and memory errors, "
        "and "
        "'--interleave 16' executes warps in another order");
  if (!any_launched) {
    const std::string why = why_not_recorded(run);
    throw Error(run.interrupted ? fmt::format("{}: {}", kApplicationInterrupted, why) : why);
  }
  std::vector<runtime::Journal> processes;
  for (runtime::Journal& process : run.processes)
    if (launched(process)) processes.push_back(std::move(process));
  for (size_t i = 0; i < processes.size(); ++i) {
    runtime::Recording& recording = processes[i].recording;
    if (processes[i].damaged)
      tell(fmt::format("the recording of {} ends early; what was recorded before is simulated",
                       recording.name));
    recording.truncated = recording.truncated || run.interrupted;
    if (processes.size() > 1)
      recording.name += fmt::format(" (process {} of {})", i + 1, processes.size());
  }
  return processes;
}

ApplicationRun run_application(const Words& command, const config::MachineConfig& machine,
                               const ApplicationOptions& options) {
  const std::string path = find_executable(command.front());
  const ExecutableFacts facts = inspect_executable(path);
  const fs::path library = library_folder();
  const fs::path driver = driver_folder(library);
  check_executable(path, facts, !driver.empty());
  const TemporaryFolder spool;
  const std::string most = options.max_thread_instructions == 0
                               ? std::string()
                               : std::to_string(options.max_thread_instructions);
  Changes changes = {{cudart::kSpoolVariable, options.check ? "" : spool.path().string()},
                     {cudart::kCheckVariable, options.check ? spool.path().string() : ""},
                     {cudart::kCheckWithoutVariable, options.check_without},
                     {cudart::kRecordVariable, ""},
                     {cudart::kKernelsVariable, options.kernels},
                     {cudart::kMaxInstructionsVariable, most},
                     {cudart::kTraceBytesVariable, std::to_string(options.max_trace_bytes)},
                     {cudart::kEventTimesVariable, options.event_times},
                     {cudart::kRegistersVariable, options.registers},
                     {cudart::kPtxasCacheVariable, options.ptxas_cache},
                     {cudart::kDeviceVariable, cudart::format_device(spec_of(machine))}};
  for (const Changes& more : {libraries_of(facts, library, driver), options.execution})
    changes.insert(changes.end(), more.begin(), more.end());
  if (!options.event_times.empty()) {
    // The library finds configurations where this program does.
    std::string folders;
    for (const fs::path& folder : config::config_folders(""))
      folders += (folders.empty() ? "" : ":") + fs::absolute(folder).string();
    changes.emplace_back("NEARWARP_CONFIG_PATH", folders);
  }
  const int status = wait_for(start(path, command, environment_with(changes)));
  ApplicationRun run;
  run.interrupted = interrupted();
  if (run.interrupted) forget_interrupt();
  run.kernels = options.kernels;
  run.facts = facts;
  run.offers_driver = !driver.empty();
  describe_ending(status, run);
  if (run.exit_status != 0 && !facts.without_ptx.empty())
    tell(fmt::format(
        "the application uses {}, whose kernels are machine code without PTX: its calls "
        "fail on the simulated GPU, mostly as 'not initialised'",
        fmt::join(facts.without_ptx, ", ")));
  read_spool(spool.path(), run);
  return run;
}

}  // namespace nearwarp::cli
