// Simulates one program under several policies, side by side, with a progress bar.
#include "host/cli/commands/policy_runs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <utility>

#include "host/cli/expected.h"
#include "host/cli/interrupt.h"
#include "host/cli/live/page.h"
#include "host/cli/progress/progress_bar.h"
#include "host/cli/with_options.h"

namespace nearwarp::cli {

std::vector<Result> run_policies(const Program& program, const Machine& machine,
                                 const std::vector<Policy>& policies, BatchOptions how,
                                 LivePage* live) {
  ProgressBar bar(policies.size() == 1
                      ? fmt::format("{} under {}", program.name(), policies.front().name())
                      : fmt::format("{} under {} policies", program.name(), policies.size()));
  bool failed = false;  // everything stops at the first error
  how.finished = [&](size_t, const Expected<Result>& result) {
    failed |= !result && result.failure().kind != Failure::Kind::kStopped;
  };
  how.progress = [&](const Progress& p) {
    if (live != nullptr) live->view().progress(p);
    if (p.warp_instructions_total != 0)
      bar.update(p.warp_instructions, p.warp_instructions_total, p.seconds_left);
    return !failed && !interrupted();
  };
  how.tell = [&](const std::string& message) {
    bar.wipe();
    std::fprintf(stderr, "nearwarp: %s\n", with_options(message).c_str());
  };
  how.time_left = live != nullptr || isatty(STDERR_FILENO) != 0;
  if (live != nullptr) {
    live->view().begin(program);
    how.look = [&](size_t policy, const Result& result, bool over) {
      live->view().show(policy, result, over);
    };
  }
  std::vector<Point> points;
  for (const Policy& policy : policies) points.push_back({program, machine, policy});
  std::vector<Result> results;
  for (Expected<Result>& result : run_all(points, how)) {
    if (result)
      results.push_back(std::move(*result));
    else if (result.failure().kind != Failure::Kind::kStopped)
      end_with(result.failure());
  }
  return results;
}

}  // namespace nearwarp::cli
