#include "host/cli/wrong_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "host/api/nearwarp.h"
#include "host/cli/expected.h"

namespace nearwarp::cli {
namespace {

namespace fs = std::filesystem;

bool is_program(const std::string& path) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (failed || !fs::is_regular_file(status)) return false;
  constexpr fs::perms kExecute =
      fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  return (status.permissions() & kExecute) != fs::perms::none;
}

}  // namespace

std::string wrong_file(const std::string& word, const std::string& command) {
  std::error_code failed;
  if (!fs::exists(word, failed)) return "";
  if (word.ends_with(".ptx"))
    return fmt::format(
        "'{0}' is PTX, without a program that launches its kernels - 'nearwarp analyze {0}' lists "
        "what could be offloaded; to {1} it, build an application of it: 'nearwarp {1} -- ./app', "
        "or "
        "describe its launches in an experiment's file (docs/experiments.md)",
        word, command == "experiment" ? "run" : command);
  if (taken(program_names(word)).front().kind != ProgramName::Kind::kWorkload)
    return fmt::format("'{0}' is a recording - 'nearwarp run {0}' simulates it", word);
  if (!is_program(word))
    return fmt::format("'{}' is a file that 'nearwarp {}' does not take - see its --help", word,
                       command);
  const std::string path = word.find('/') == std::string::npos ? "./" + word : word;
  if (command == "run" || command == "check")
    return fmt::format("'{0}' is a program: put -- before it - 'nearwarp {1} -- {2} ARG...'", word,
                       command, path);
  if (command == "experiment")
    return fmt::format(
        "'{0}' is a program - 'nearwarp experiment --new FILE.toml -- {1} ARG...' writes its "
        "experiment",
        word, path);
  return fmt::format(
      "'{0}' is a program - 'nearwarp record -- {1} ARG...' keeps what it does, for "
      "run and sweep",
      word, path);
}

}  // namespace nearwarp::cli
