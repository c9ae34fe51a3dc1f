// nearwarp restructure: PTX whose warps take consecutive elements of an array.
#include <fmt/format.h>

#include "host/api/nearwarp/analysis.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/expected.h"
#include "host/core/error.h"
#include "host/core/limited_file.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {
namespace {

CommandLine declare_restructure() {
  CommandLine line("restructure", "FILE.ptx",
                   "Have each warp take consecutive elements of an array, where that is proved to\n"
                   "change no result");
  line.value("array",
             "the parameter that holds its address, by name or number, and who shares it: all "
             "threads, or those of a block",
             "PARAMETER:all|block");
  line.value("kernel", "of this kernel", "NAME");
  line.flag("no-alias", "different parameters point to different memory");
  line.flag("any-thread", "it does not matter which thread gathers which elements");
  line.value("out", "write the PTX to this file; else it is printed", "FILE");
  return line;
}

int run_restructure(const CommandLine& line, const Words& /*application*/) {
  const std::string array = line.text("array");
  const size_t colon = array.rfind(':');
  const std::string who = colon == std::string::npos ? "" : array.substr(colon + 1);
  if (who != "all" && who != "block")
    throw UsageError(
        fmt::format("--array '{}' does not say which array, and who shares it - right "
                    "is PARAMETER:all or PARAMETER:block",
                    array));
  RestructureOptions what;
  what.kernel = line.text("kernel");
  what.parameter = array.substr(0, colon);
  what.of_block = who == "block";
  what.no_alias = line.given("no-alias");
  what.any_thread = line.given("any-thread");
  const std::string& path = line.positional()[0];
  const std::string result = taken(restructure(read_limited_file(path, "PTX"), path, what));
  if (line.given("out"))
    report::write_file(line.text("out"), result);
  else
    print(result);
  return 0;
}

}  // namespace

Command restructure_command() {
  return {.name = "restructure",
          .uses = {{"FILE.ptx", "consecutive elements for each warp"}},
          .declare = declare_restructure,
          .least = 1,
          .most = 1,
          .run = run_restructure};
}

}  // namespace nearwarp::cli
