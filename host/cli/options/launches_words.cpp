#include "host/cli/options/launches_words.h"

#include <fmt/format.h>

#include "host/cli/expected.h"
#include "host/core/error.h"

namespace nearwarp::cli {

void declare_launches(CommandLine& line) {
  line.value("launches",
             "simulate launches I to J (from 1 on) by themselves, after K before them "
             "(docs/launches.md); or 'parallel[@CORES|:K[:PARTS]]': all, in parts side by side, "
             "for two cores or CORES",
             "I..J[:K]");
  line.value("sample",
             "simulate so many launches that cycles of all are known within ERROR percent, each "
             "after K before it; another SEED takes others (docs/launches.md)",
             "ERROR[:[K][:SEED]]");
  line.flag("cold-caches", "with --launches and --sample: parts begin with empty caches");
}

void set_launches(const CommandLine& line, BatchOptions& options) {
  const BatchOptions own{.launches = line.filled("launches"),
                         .sample = line.filled("sample"),
                         .cold_caches = line.given("cold-caches")};
  const bool launches = line.given("launches"), sample = line.given("sample");
  if (launches && sample)
    throw UsageError("--launches and --sample are two ways of one thing - give one of them");
  if (own.cold_caches && !launches && !sample)
    throw UsageError("--cold-caches is for --launches and --sample - leave it out");
  // check_beside_launches() checks them together with other options.
  if (launches || sample) taken_of_options(check(own));
  options.launches = own.launches;
  options.sample = own.sample;
  options.cold_caches = own.cold_caches;
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

void check_policy_for_parts(const Policy& policy) {
  if (const std::string why = policy.why_no_parts(); !why.empty())
    throw UsageError(
        fmt::format("--launches and --sample do not go with policy {}: {}", policy.name(), why));
}

}  // namespace nearwarp::cli
