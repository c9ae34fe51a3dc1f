// --launches and --sample: a part of a program, all of it in parts, or a sample of its launches.
#include "host/cli/launches_option.h"

#include <fmt/format.h>

#include "host/core/error.h"
#include "host/timing/run/launch_part.h"

namespace nearwarp::cli {

void declare_launches(CommandLine& line) {
  line.value("launches",
             "simulate launches I to J (from 1 on) by themselves, after K before them "
             "(docs/launches.md); or 'parallel[:K[:PARTS]]': all, in parts side by side",
             "I..J[:K]");
  line.value("sample",
             "simulate so many launches that cycles of all are known within ERROR percent, each "
             "after K before it; another SEED takes others (docs/launches.md)",
             "ERROR[:[K][:SEED]]");
  line.flag("cold-caches", "with --launches and --sample: parts begin with empty caches");
}

sim::LaunchChoice launches_option(const CommandLine& line) {
  sim::LaunchChoice choice;
  if (line.given("sample")) {
    if (line.given("launches"))
      throw UsageError("--launches and --sample are two ways of one thing - give one of them");
    choice = sim::parse_sample(line.text("sample"), "--sample");
  } else if (line.given("launches")) {
    choice = sim::parse_launches(line.text("launches"), "--launches");
  } else if (line.given("cold-caches")) {
    throw UsageError("--cold-caches is for --launches and --sample - leave it out");
  }
  choice.warm = !line.given("cold-caches");
  return choice;
}

void check_beside_launches(const CommandLine& line, const std::vector<std::string>& others,
                           bool on_device) {
  const char* own = line.given("sample") ? "sample" : "launches";
  for (const std::string& other : others)
    if (line.given(other))
      throw UsageError(fmt::format("--{} does not go with --{} - leave one out", own, other));
  if (line.given("max-repeats") && line.given("sample"))
    throw UsageError(
        "--sample finds launches that repeat each other by itself - leave --max-repeats out");
  if (line.given("max-repeats") && line.text("launches").find("..") != std::string::npos)
    throw UsageError(
        "--launches I..J counts all launches, and --max-repeats leaves some out - take "
        "one of them, or --launches parallel");
  if (on_device) throw UsageError(fmt::format("--{} works on the CPU - give --backend cpu", own));
}

void check_policy_for_parts(const config::PolicyConfig& policy) {
  if (const std::string why = sim::why_no_parts(policy); !why.empty())
    throw UsageError(
        fmt::format("--launches and --sample do not go with policy {}: {}", policy.name, why));
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
