// --launches and --sample: a part of a program, all of it in parts, or a sample of its launches.
#include "host/cli/launches_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "host/core/error.h"
#include "host/timing/run/launch_part.h"

namespace nearwarp::cli {
namespace {

/// In percent. Warming alone leaves some of the first; the second says nothing.
constexpr double kLeastSampleError = 1.5, kMostSampleError = 50;
constexpr const char* kForms = "I..J, I..J:K, parallel, parallel:K or parallel:K:PARTS";

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw UsageError(fmt::format("--launches={}: {} - it is {}", text, why, kForms));
}

uint64_t number_in(const std::string& text, const std::string& word, uint64_t least,
                   uint64_t most) {
  uint64_t value = 0;
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failed != std::errc{} || end != word.data() + word.size() || word.empty())
    refuse(text, fmt::format("'{}' is not a number", word));
  if (value < least || value > most)
    refuse(text, fmt::format("{} is not between {} and {}", word, least, most));
  return value;
}

std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> words;
  size_t at = 0;
  for (size_t next; (next = text.find(by, at)) != text.npos; at = next + by.size())
    words.push_back(text.substr(at, next - at));
  words.push_back(text.substr(at));
  return words;
}

}  // namespace

void declare_launches(CommandLine& line) {
  line.value("launches",
             "simulate launches I to J (from 1 on) by themselves, after K before them "
             "(docs/launches.md); or 'parallel[:K[:PARTS]]': all, in parts side by side",
             "I..J[:K]");
  line.value("sample",
             "simulate so many launches that cycles of all are known within ERROR percent, each "
             "after K before it (docs/launches.md)",
             "ERROR[:K]");
  line.flag("cold-caches", "with --launches and --sample: parts begin with empty caches");
}

namespace {

/// ERROR[:K].
LaunchesOption sample_option(const std::string& text) {
  const auto refuse_sample = [&](const std::string& why) {
    throw UsageError(fmt::format(
        "--sample={}: {} - it is ERROR or ERROR:K, the error in percent, e.g. 2", text, why));
  };
  LaunchesOption option;
  option.given = true;
  const std::vector<std::string> words = split(text, ":");
  if (words.size() > 2) refuse_sample("that are too many numbers");
  const char* end = words[0].data() + words[0].size();
  double percent = 0;
  const auto [at, failed] = std::from_chars(words[0].data(), end, percent);
  if (failed != std::errc{} || at != end)
    refuse_sample(fmt::format("'{}' is not a number", words[0]));
  if (!(percent >= kLeastSampleError && percent <= kMostSampleError))
    refuse_sample(
        fmt::format("{} is not between {} and {}", words[0], kLeastSampleError, kMostSampleError));
  option.sample = percent / 100;
  if (words.size() == 2) {
    uint32_t before = 0;
    const char* last = words[1].data() + words[1].size();
    const auto [rest, wrong] = std::from_chars(words[1].data(), last, before);
    if (wrong != std::errc{} || rest != last)
      refuse_sample(fmt::format("'{}' is not a number of launches", words[1]));
    option.before = before;
  }
  return option;
}

}  // namespace

LaunchesOption launches_option(const CommandLine& line) {
  LaunchesOption option;
  if (line.given("sample")) {
    if (line.given("launches"))
      throw UsageError("--launches and --sample are two ways of one thing - give one of them");
    option = sample_option(line.text("sample"));
    option.warm = !line.given("cold-caches");
    return option;
  }
  if (!line.given("launches")) {
    if (line.given("cold-caches"))
      throw UsageError("--cold-caches is for --launches and --sample - leave it out");
    return option;
  }
  option.warm = !line.given("cold-caches");
  const std::string text = line.text("launches");
  option.given = true;
  const std::vector<std::string> words = split(text, ":");
  option.parallel = words[0] == "parallel";
  if (words.size() > (option.parallel ? 3u : 2u)) refuse(text, "that are too many numbers");
  if (!option.parallel) {
    const std::vector<std::string> ends = split(words[0], "..");
    if (ends.size() != 2) refuse(text, fmt::format("'{}' is no range of launches", words[0]));
    option.first = number_in(text, ends[0], 1, 0xffffffffu);
    option.last = number_in(text, ends[1], 1, 0xffffffffu);
    if (option.last < option.first)
      refuse(text, fmt::format("launch {} is before launch {}", option.last, option.first));
  }
  if (words.size() > 1)
    option.before = static_cast<uint32_t>(number_in(text, words[1], 0, 0xffffffffu));
  if (words.size() > 2)
    option.parts = static_cast<uint32_t>(number_in(text, words[2], 1, 1u << 20));
  return option;
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

namespace {

[[noreturn]] void refuse_paper() {
  throw UsageError(
      "--launches and --sample do not go with --size paper, which ends in the middle of the "
      "program - large "
      "is the largest size that does not");
}

std::vector<runtime::LaunchPart> all_parts(const LaunchesOption& option,
                                           const runtime::Recording& recording,
                                           const runtime::DivisionNeeds& needs) {
  if (recording.measured_warp_instructions != 0) refuse_paper();
  const uint32_t before = option.before.value_or(needs.before);
  if (option.parallel) return runtime::divide(recording, option.parts, before, needs.together);
  const auto n = static_cast<uint64_t>(recording.launches.size());
  if (option.last > n)
    throw UsageError(fmt::format("--launches: there is no launch {} - {} has {}, from 1 on",
                                 option.last, recording.name, n));
  const std::vector<bool> cuts = runtime::launch_cuts(recording);
  for (const uint64_t at : {option.first - 1, option.last}) {
    if (cuts[at]) continue;
    uint64_t low = at, high = at;
    while (!cuts[low]) --low;
    while (!cuts[high]) ++high;
    throw UsageError(
        fmt::format("--launches: launches {} to {} of {} may run at the same time and cannot be "
                    "divided before launch {} - a part has all of them or none",
                    low + 1, high, recording.name, at + 1));
  }
  return {runtime::part_of(cuts, static_cast<uint32_t>(option.first - 1),
                           static_cast<uint32_t>(option.last), before)};
}

}  // namespace

runtime::Division division_of(const LaunchesOption& option, const runtime::Recording& recording,
                              const runtime::DivisionNeeds& needs) {
  if (!option.given) return {};
  runtime::Division division;
  if (option.sample == 0) {
    division.parts = all_parts(option, recording, needs);
  } else {
    if (recording.measured_warp_instructions != 0) refuse_paper();
    division = sample_launches(recording, option.sample, option.before.value_or(needs.before),
                               needs.together, needs.resident);
  }
  for (runtime::LaunchPart& part : division.parts)
    part.warm =
        option.warm && (part.begin != 0 || (part.blocks.has_value() && part.blocks->begin != 0));
  return division;
}

sweep::Divide divide_option(const CommandLine& line, const std::string& size, bool on_device) {
  const LaunchesOption option = launches_option(line);
  if (!option.given) return {};
  check_beside_launches(line, {"checkpoint"}, on_device);
  if (size == "paper") refuse_paper();
  return [option](const runtime::Recording& recording, const runtime::DivisionNeeds& needs) {
    return division_of(option, recording, needs);
  };
}

std::string key_of(const LaunchesOption& option) {
  if (!option.given) return "";
  const std::string before = option.before.has_value() ? fmt::format("{}", *option.before) : "some";
  return fmt::format(", launches {}, {} before{}",
                     option.sample != 0 ? fmt::format("within {}", option.sample)
                     : option.parallel  ? fmt::format("parallel in {} parts", option.parts)
                                        : fmt::format("{}..{}", option.first, option.last),
                     before, option.warm ? "" : ", cold");
}

}  // namespace nearwarp::cli
