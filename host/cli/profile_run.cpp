// nearwarp run --profile: what a program executed, in place of a simulation of its time.
#include "host/cli/profile_run.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "host/cli/commands.h"
#include "host/cli/interrupt.h"
#include "host/cli/progress_bar.h"
#include "host/core/error.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {

void declare_profile(CommandLine& line) {
  line.flag("profile",
            "instead of simulating time, say what was executed: instructions, active lanes and "
            "memory accesses of each kernel and source line (docs/profile.md)");
  line.value("profile-lines",
             "with --profile: print so many source lines, the most expensive first", "N", "20");
}

size_t profile_lines_option(const CommandLine& line) {
  if (!line.given("profile")) {
    if (line.given("profile-lines"))
      throw UsageError("--profile-lines is for --profile - give that, too");
    return 0;
  }
  for (const char* other : {"policy", "explain", "checkpoint", "backend", "device", "locate-fault",
                            "max-repeats", "event-times"})
    if (line.given(other))
      throw UsageError(
          fmt::format("--{} does not go with --profile, which simulates no time - leave one of the "
                      "two out",
                      other));
  return line.number("profile-lines", 1, 1'000'000);
}

report::Profile profile_of(const runtime::Recording& recording, const std::string& name,
                           const std::string& size, profile::Options options) {
  ProgressBar bar("profiling " + name);
  options.progress = [&](uint64_t done, uint64_t total) {
    bar.update(done, total);
    return !interrupted();
  };
  report::Profile profile = profile::count(recording, options);
  profile.workload = name;
  profile.size = size;
  return profile;
}

void present_profiles(const std::vector<report::Profile>& profiles, size_t most_lines,
                      const std::string& json, const report::ProfileContext& context) {
  // The file is not lost because nobody reads the tables.
  if (!json.empty()) {
    std::signal(SIGPIPE, SIG_IGN);
    report::write_file(json, report::profile_json(profiles, context));
  }
  for (const report::Profile& profile : profiles) {
    if (&profile != profiles.data()) print("\n");
    print(report::format_profile(profile, most_lines));
  }
}

}  // namespace nearwarp::cli
