// nearwarp run --profile: what a program executed, in place of a simulation of its time.
#include "host/cli/profile_run.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "host/api/inside.h"
#include "host/cli/commands.h"
#include "host/cli/interrupt.h"
#include "host/cli/progress_bar.h"
#include "host/core/error.h"
#include "host/timing/profile/count.h"
#include "host/timing/report/file.h"
#include "host/timing/report/profile.h"

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

namespace {

/// Counts, with a progress bar.
report::Profile profile_of(const Program& program, const ProfileRequest& request) {
  ProgressBar bar("profiling " + program.name());
  profile::Options options;
  options.line_bytes = config_of(request.machine).l1.line_bytes;
  options.threads = request.threads;
  options.progress = [&](uint64_t done, uint64_t total) {
    bar.update(done, total);
    return !interrupted();
  };
  report::Profile profile = profile::count(recording_of(program), options);
  profile.workload = program.name();
  profile.size = program.size();
  return profile;
}

}  // namespace

void present_profiles(const std::vector<Program>& programs, const ProfileRequest& request) {
  std::vector<report::Profile> profiles;
  for (const Program& program : programs) profiles.push_back(profile_of(program, request));
  // The file is not lost because nobody reads the tables.
  if (!request.json.empty()) {
    std::signal(SIGPIPE, SIG_IGN);
    report::write_file(
        request.json,
        report::profile_json(profiles, {version(), request.machine.name(), request.overrides}));
  }
  for (const report::Profile& profile : profiles) {
    if (&profile != profiles.data()) print("\n");
    print(report::format_profile(profile, request.lines));
  }
}

}  // namespace nearwarp::cli
