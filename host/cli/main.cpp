// The program's main(): runs the command that is named, and turns errors into a message and an exit
// code.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/with_options.h"
#include "host/config/nearest.h"
#include "host/core/error.h"
#include "host/functional/exec/cpu_check.h"

namespace nearwarp::cli {
namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;

constexpr const char* kTitle =
    "nearwarp: a cycle-level simulator of GPUs with near-data processing\n\n";
constexpr const char* kMore =
    "  nearwarp --help | --version\n"
    "\n"
    "'nearwarp help COMMAND' lists a command's options. For example:\n"
    "  nearwarp run libor --policy baseline,ndp-controlled-bmap\n";

int dispatch(const Words& words) {
  if (words.empty()) throw UsageError("a command is missing - see 'nearwarp --help'");
  const std::string& name = words.front();
  const Words rest(words.begin() + 1, words.end());
  if (const Command* command = find_command(name)) return execute(*command, rest);
  if (name == "--help" || name == "-h" || name == "help") {
    if (!rest.empty() && !rest[0].starts_with("-")) return dispatch({rest[0], "--help"});
    print(kTitle + command_list() + kMore);
    return 0;
  }
  if (name == "--version") {
    print("nearwarp " + version() + "\n");
    return 0;
  }
  Words names = {"--help", "--version"};
  for (const Command& command : commands()) names.push_back(command.name);
  throw UsageError(fmt::format("unknown command '{}'{}", name, config::suggestion(name, names)));
}

int report(const char* message, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "nearwarp: %s\n", with_options(message).c_str());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    // With the signal ignored, a write beyond `ulimit -f` fails with an error, which is reported,
    // instead of ending the process silently.
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
