// What of their programs sweeps simulate.
#include "host/cli/launches_option.h"

#include "host/cli/launches_words.h"

namespace nearwarp::cli {

sim::LaunchChoice launches_option(const CommandLine& line) {
  BatchOptions given;
  set_launches(line, given);
  sim::LaunchChoice choice;
  if (!given.sample.empty()) choice = sim::parse_sample(given.sample, "--sample");
  if (!given.launches.empty()) choice = sim::parse_launches(given.launches, "--launches");
  choice.warm = !given.cold_caches;
  return choice;
}

sweep::Divide divide_option(const CommandLine& line, const std::string& size, bool on_device) {
  const sim::LaunchChoice choice = launches_option(line);
  if (!choice.given) return {};
  check_beside_launches(line, {"checkpoint"}, on_device);
  if (size == "paper") sim::refuse_paper_size();
  return [choice](const runtime::Recording& recording, const runtime::DivisionNeeds& needs) {
    return sim::division_of(choice, recording, needs);
  };
}

}  // namespace nearwarp::cli
