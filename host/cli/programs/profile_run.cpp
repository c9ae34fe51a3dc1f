// nearwarp run --profile: what a program executed, in place of a simulation of its time.
#include "host/cli/programs/profile_run.h"

#include <fmt/format.h>

#include <csignal>

#include "host/api/nearwarp/traces.h"
#include "host/cli/commands.h"
#include "host/cli/expected.h"
#include "host/cli/progress/notes.h"
#include "host/cli/with_options.h"
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

void present_profiles(const std::vector<Program>& programs, const ProfileRequest& request) {
  std::vector<ProgramProfile> profiles;
  for (const Program& program : programs) {
    Notes notes;
    profiles.push_back(taken(
        profile_program(program, request.machine,
                        {.threads = request.threads, .progress = notes.progress_function()})));
  }
  // A reader of the tables who leaves early must not end the program before the file is written.
  if (!request.json.empty()) {
    std::signal(SIGPIPE, SIG_IGN);
    report::write_file(request.json,
                       taken(profile_document(profiles, request.machine, request.overrides)));
  }
  for (const ProgramProfile& profile : profiles) {
    if (&profile != profiles.data()) print("\n");
    print(with_options(taken(profile.text(request.lines)), "profile-lines"));
  }
}

}  // namespace nearwarp::cli
