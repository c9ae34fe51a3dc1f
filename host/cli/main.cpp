// The program: finds the command, turns errors into one sentence and an exit code.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "host/cli/commands.h"
#include "host/config/nearest.h"
#include "host/core/error.h"
#include "host/functional/exec/cpu_check.h"

namespace nearwarp::cli {
namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;

constexpr const char* kHelp =
    "nearwarp: a cycle-level simulator of GPUs with near-data processing\n"
    "\n"
    "  nearwarp run WORKLOAD [OPTION...]          simulate under several policies\n"
    "  nearwarp run [OPTION...] -- APPLICATION    the same for any CUDA application\n"
    "  nearwarp record [OPTION...] -- APPLICATION keep it for later runs and sweeps\n"
    "  nearwarp check WORKLOAD | -- APPLICATION   find races, misuse, memory errors\n"
    "  nearwarp sweep WORKLOAD... [OPTION...]     many configurations, resumable\n"
    "  nearwarp experiment NAME [OPTION...]       sweeps, figures, report of a study\n"
    "  nearwarp compare A B                       what differs between two results\n"
    "  nearwarp merge OUT IN...                   join the files of a sweep's parts\n"
    "  nearwarp analyze WORKLOAD|FILE.ptx         what would be offloaded, and why\n"
    "  nearwarp run|sweep|analyze kernelslist.g   the same for Accel-Sim's traces\n"
    "  nearwarp analyze WORKLOAD --mappings       which data mapping would suit it\n"
    "  nearwarp restructure FILE.ptx              consecutive elements for each warp\n"
    "  nearwarp noc [OPTION...]                   measure a network by itself\n"
    "  nearwarp dram [OPTION...]                  measure a memory channel by itself\n"
    "  nearwarp probe [OPTION...]                 latencies, bandwidths of a machine\n"
    "  nearwarp area [OPTION...]                  what MPU's parts take of its dies\n"
    "  nearwarp devices                           what can be simulated on here\n"
    "  nearwarp list KIND                         workloads, machines, policies, ...\n"
    "  nearwarp show KIND NAME                    all keys, values and meanings\n"
    "  nearwarp --help | --version\n"
    "\n"
    "'nearwarp help COMMAND' lists a command's options. For example:\n"
    "  nearwarp run libor --policy baseline,ndp-controlled-bmap\n";

int dispatch(const Words& words) {
  if (words.empty()) throw UsageError("a command is missing - see 'nearwarp --help'");
  const std::string& name = words.front();
  const Words rest(words.begin() + 1, words.end());
  if (name == "run") return run_command(rest);
  if (name == "check") return check_command(rest);
  if (name == "record") return record_command(rest);
  if (name == "sweep") return sweep_command(rest);
  if (name == "experiment") return experiment_command(rest);
  if (name == "compare") return compare_command(rest);
  if (name == "merge") return merge_command(rest);
  if (name == "analyze") return analyze_command(rest);
  if (name == "noc") return noc_command(rest);
  if (name == "dram") return dram_command(rest);
  if (name == "probe") return probe_command(rest);
  if (name == "area") return area_command(rest);
  if (name == "devices") return devices_command(rest);
  if (name == "list") return list_command(rest);
  if (name == "show") return show_command(rest);
  if (name == "restructure") return restructure_command(rest);
  if (name == "--help" || name == "-h" || name == "help") {
    if (!rest.empty() && !rest[0].starts_with("-")) return dispatch({rest[0], "--help"});
    print(kHelp);
    return 0;
  }
  if (name == "--version") {
    print("nearwarp " + version() + "\n");
    return 0;
  }
  throw UsageError(fmt::format(
      "unknown command '{}'{}", name,
      config::suggestion(name, {"run", "record", "check", "sweep", "experiment", "compare", "merge",
                                "analyze", "restructure", "noc", "dram", "probe", "area", "devices",
                                "list", "show", "--help", "--version"})));
}

int report(const char* message, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "nearwarp: %s\n", message);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    // Writing beyond `ulimit -f` is an error of the write then, which is told, and not a silent
    // end.
    std::signal(SIGXFSZ, SIG_IGN);
    if (!runtime::cpu_supports_build()) throw Error(runtime::cpu_requirement());
    return dispatch(Words(argv + 1, argv + argc));
  } catch (const UsageError& error) {
    return report(error.what(), kUsage);
  } catch (const Error& error) {
    return report(error.what(), kFailure);
  } catch (const std::bad_alloc&) {
    return report("out of memory - use a smaller size or fewer threads", kFailure);
  } catch (const std::exception& error) {
    return report(fmt::format("internal error: {}", error.what()).c_str(), kFailure);
  }
}

}  // namespace nearwarp::cli

int main(int argc, char** argv) { return argc < 1 ? 2 : nearwarp::cli::main(argc, argv); }
