// Starts an application with nearwarp's libraries, waits for its end, and reads its journals.
#include "host/programs/application.h"

#include <dlfcn.h>
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
#include <cstring>
#include <filesystem>
#include <thread>

#include "host/config/config.h"
#include "host/config/find.h"
#include "host/core/error_parts.h"
#include "host/core/temporary_folder.h"
#include "host/functional/cudart/device_spec.h"
#include "host/functional/cudart/launches/execution_watch.h"
#include "host/functional/racecheck/report.h"

extern char** environ;

namespace nearwarp::programs {
namespace {

namespace fs = std::filesystem;
using cudart::DeviceSpec;

/// The folders of the library that contains this code, and of the program.
std::vector<fs::path> own_folders() {
  std::vector<fs::path> folders;
  std::error_code failed;
  Dl_info here = {};  // if this code is in the program itself, its name may lack the folder
  if (dladdr(reinterpret_cast<const void*>(&own_folders), &here) != 0 &&
      here.dli_fname != nullptr && std::strchr(here.dli_fname, '/') != nullptr)
    if (const fs::path library = fs::canonical(here.dli_fname, failed); !failed)
      folders.push_back(library.parent_path());
  if (const fs::path program = fs::read_symlink("/proc/self/exe", failed); !failed)
    folders.push_back(program.parent_path());
  return folders;
}

/// The folder of nearwarp's CUDA libraries: lib/nearwarp in the tree, built or installed, that this
/// code belongs to. That is below own_folders() (in a Python package) or a folder above them (for
/// bin, lib, lib/x86_64-linux-gnu).
fs::path library_folder() {
  constexpr int kFoldersUp = 4;
  std::error_code failed;
  std::string looked;
  for (fs::path folder : own_folders()) {
    looked += (looked.empty() ? "" : " or above ") + folder.string();
    for (int i = 0; i < kFoldersUp; ++i, folder = folder.parent_path()) {
      fs::path libraries = folder / "lib" / "nearwarp";
      if (fs::exists(libraries / kRuntimeName, failed)) return libraries;
    }
  }
  throw Error(fmt::format(
      "there is no lib/nearwarp/{} in {} - build nearwarp's target 'cudart', or install it",
      kRuntimeName, looked));
}

/// The folder of nearwarp's driver library; empty if it is not installed. It is separate, so that
/// only this program puts it on a library path.
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

/// Changed variables of the application's environment, with their values; empty: it is removed.
using Changes = std::vector<std::pair<std::string, std::string>>;

/// This process's environment with some variables changed; an empty value removes one.
std::vector<std::string> environment_with(const Changes& changes) {
  std::vector<std::string> result;
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

/// `paths` in front of the variable's present list.
std::string prepended(const std::vector<std::string>& paths, const char* variable) {
  const char* old = std::getenv(variable);
  const std::string all = fmt::format("{}", fmt::join(paths, ":"));
  return old == nullptr || *old == '\0' ? all : all + ":" + old;
}

/// The variables by which the application finds nearwarp's libraries.
Changes libraries_of(const ExecutableFacts& facts, const fs::path& library,
                     const fs::path& driver) {
  std::vector<std::string> folders = {library.string()}, preloaded;
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

/// The variables of Execution's options; those with the default value are removed.
Changes variables_of(const Execution& e) {
  const auto number = [](uint64_t value, uint64_t usual) {
    return value == usual ? std::string() : std::to_string(value);
  };
  return {{cudart::kInterleaveVariable, number(e.interleave, 0)},
          {cudart::kExecuteMostVariable, number(e.most_thread_instructions, 0)},
          {cudart::kTimeLimitVariable, number(e.most_seconds, 0)},
          {cudart::kDevicesVariable, number(e.devices, 1)},
          {cudart::kStrictBoundsVariable, e.strict_bounds ? "1" : ""}};
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

/// The file for an application's output; none for an empty path.
struct OpenFile {
  explicit OpenFile(const std::string& path) {
    if (path.empty()) return;
    number = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (number < 0)
      throw file_error(path, fmt::format("cannot write '{}': {}", path, std::strerror(errno)),
                       "name a file that can be written");
  }
  ~OpenFile() {
    if (number >= 0) close(number);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int number = -1;
};

/// Starts the application, with its output to the file `output` unless that is empty; returns its
/// process id.
pid_t start(const std::string& path, std::vector<std::string> arguments,
            std::vector<std::string> environment, const std::string& output) {
  std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  const OpenFile file(output);
  int ends[2];  // carry errno if exec fails; its success closes them
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // in an endless kernel it may ignore other signals
    if (getppid() != parent) _exit(127);
    std::signal(SIGXFSZ, SIG_DFL);  // main() ignores it
    // Without randomised addresses, runs are alike and nothing lies where the GPU's memory belongs.
    const int persona = personality(0xffffffff);
    if (persona != -1) personality(static_cast<unsigned long>(persona) | ADDR_NO_RANDOMIZE);
    if (file.number >= 0 &&
        (dup2(file.number, STDOUT_FILENO) < 0 || dup2(file.number, STDERR_FILENO) < 0))
      _exit(126);
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

/// Waits for the child's end and returns its status. After an interrupt the child may end by itself
/// for two seconds, then it receives SIGTERM, and after five seconds SIGKILL.
int wait_for(pid_t child, Observer& observer, bool& interrupted) {
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
    interrupted = interrupted || !observer.go_on();
    if (!interrupted) continue;
    if (since_interrupt == 0ms)
      observer.tell(
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

/// Reads the journals and findings that processes have left in the folder, by their process ids.
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
  // Findings of processes that only made queries are left out beside those of processes that
  // launched.
  const auto idle = [](const racecheck::Findings& f) { return f.launches == 0 && f.clean(); };
  if (!std::all_of(run.findings.begin(), run.findings.end(), idle))
    std::erase_if(run.findings, idle);
}

}  // namespace

void tell_ending(const ApplicationRun& run, Observer& observer) {
  if (!run.ending.empty()) observer.tell("the application " + run.ending);
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

/// The reason why no process's journal has a launch.
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
        "no kernel that was launched has a name that contains a match of `kernels` '{}' - without "
        "it, the table has all names",
        run.kernels);
  if (launched != 0)
    return "no kernel of the application was recorded - there is nothing to simulate";
  if (failed)
    return "no kernel of the application was executed: calls failed, as told above - there is "
           "nothing to simulate";
  return why_not_launched(run);
}

/// Tells the user of failed calls, since applications may not check for errors.
void tell_failed_calls(const ApplicationRun& run, Observer& observer) {
  for (const runtime::Journal& process : run.processes) {
    const std::string whose =
        run.processes.size() > 1 ? fmt::format("{}: ", process.recording.name) : std::string();
    for (const auto* calls : {&process.calls.unseen, &process.calls.seen})
      for (const std::string& text : *calls) observer.tell(whose + text);
  }
}

}  // namespace

std::vector<runtime::Journal> take_processes(ApplicationRun& run, Observer& observer) {
  tell_ending(run, observer);
  tell_failed_calls(run, observer);
  const auto launched = [](const runtime::Journal& p) { return !p.recording.launches.empty(); };
  const bool any_launched = std::any_of(run.processes.begin(), run.processes.end(), launched);
  if (any_launched && run.exit_status > 0 && run.exit_status < 128 &&
      run.exit_status != cudart::kStoppedStatus)
    observer.tell(
        "if that tells of wrong results: 'nearwarp check -- ...' finds races and memory errors, "
        "and "
        "`interleave` 16 executes warps in another order");
  if (!any_launched) {
    const std::string why = why_not_recorded(run);
    if (run.interrupted) throw Interrupted(fmt::format("{}: {}", kApplicationInterrupted, why));
    throw Error(why);
  }
  std::vector<runtime::Journal> processes;
  for (runtime::Journal& process : run.processes)
    if (launched(process)) processes.push_back(std::move(process));
  for (size_t i = 0; i < processes.size(); ++i) {
    runtime::Recording& recording = processes[i].recording;
    if (processes[i].damaged)
      observer.tell(fmt::format(
          "the recording of {} ends early; what was recorded before is simulated", recording.name));
    recording.truncated = recording.truncated || run.interrupted;
    if (processes.size() > 1)
      recording.name += fmt::format(" (process {} of {})", i + 1, processes.size());
  }
  return processes;
}

ApplicationRun run_application(const std::vector<std::string>& command,
                               const config::MachineConfig& machine,
                               const ApplicationOptions& options, Observer& observer) {
  if (command.empty()) throw UsageError("no application is named - its path comes first");
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
  for (const Changes& more :
       {libraries_of(facts, library, driver), variables_of(options.execution)})
    changes.insert(changes.end(), more.begin(), more.end());
  if (!options.event_times.empty()) {
    // The library must search the same folders for configurations as this program.
    std::string folders;
    for (const fs::path& folder : config::config_folders(""))
      folders += (folders.empty() ? "" : ":") + fs::absolute(folder).string();
    changes.emplace_back("NEARWARP_CONFIG_PATH", folders);
  }
  ApplicationRun run;
  const int status = wait_for(start(path, command, environment_with(changes), options.output),
                              observer, run.interrupted);
  run.kernels = options.kernels;
  run.facts = facts;
  run.offers_driver = !driver.empty();
  describe_ending(status, run);
  if (run.exit_status != 0 && !facts.without_ptx.empty())
    observer.tell(fmt::format(
        "the application uses {}, whose kernels are machine code without PTX: its calls "
        "fail on the simulated GPU, mostly as 'not initialised'",
        fmt::join(facts.without_ptx, ", ")));
  read_spool(spool.path(), run);
  return run;
}

}  // namespace nearwarp::programs
