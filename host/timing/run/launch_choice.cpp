// A choice of launches of a program: some of them, all of it in parts, or a sample of its
// launches.
#include "host/timing/run/launch_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "host/config/mechanism.h"
#include "host/config/shape.h"
#include "host/core/error.h"
#include "host/recording/divide.h"
#include "host/timing/run/launch_part.h"
#include "host/timing/run/learning.h"
#include "host/timing/run/resident_blocks.h"

namespace nearwarp::sim {
namespace {

/// In percent. Warming alone leaves some of the first; the second says nothing.
constexpr double kLeastSampleError = 1.5, kMostSampleError = 50;
/// Launches that are simulated before each part of a whole program: what is off there is little
/// beside the whole, whatever the machine and the policy (docs/launches-measured.md).
constexpr uint32_t kBeforeParts = 1;
constexpr const char* kForms =
    "I..J, I..J:K, parallel, parallel:K, parallel:K:PARTS, parallel@CORES or parallel@CORES:K";
/// Cores that a program may be divided for.
constexpr uint64_t kMostCores = 1024;

/// A text that is no choice; `option` is what users know it by.
struct Refused {
  std::string option, text;
  const char* forms;
  [[noreturn]] void operator()(const std::string& why) const {
    throw UsageError(fmt::format("{}={}: {} - it is {}", option, text, why, forms));
  }
};

/// The number that a word is.
uint64_t number_in(const Refused& refuse, const std::string& word, uint64_t least, uint64_t most) {
  uint64_t value = 0;
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failed != std::errc{} || end != word.data() + word.size() || word.empty())
    refuse(fmt::format("'{}' is not a number", word));
  if (value < least || value > most)
    refuse(fmt::format("{} is not between {} and {}", word, least, most));
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

LaunchChoice parse_launches(const std::string& text, const std::string& option) {
  const Refused refuse{option, text, kForms};
  LaunchChoice choice;
  choice.given = true;
  const std::vector<std::string> words = split(text, ":");
  const std::vector<std::string> whole = split(words[0], "@");
  choice.parallel = whole[0] == "parallel";
  if (choice.parallel && whole.size() > 2) refuse("that are too many numbers of cores");
  if (choice.parallel && whole.size() == 2)
    choice.cores = static_cast<uint32_t>(number_in(refuse, whole[1], 1, kMostCores));
  if (words.size() > (choice.parallel ? 3u : 2u)) refuse("that are too many numbers");
  if (!choice.parallel) {
    const std::vector<std::string> ends = split(words[0], "..");
    if (ends.size() != 2) refuse(fmt::format("'{}' is no range of launches", words[0]));
    choice.first = number_in(refuse, ends[0], 1, 0xffffffffu);
    choice.last = number_in(refuse, ends[1], 1, 0xffffffffu);
    if (choice.last < choice.first)
      refuse(fmt::format("launch {} is before launch {}", choice.last, choice.first));
  }
  if (words.size() > 1)
    choice.before = static_cast<uint32_t>(number_in(refuse, words[1], 0, 0xffffffffu));
  if (words.size() > 2)
    choice.parts = static_cast<uint32_t>(number_in(refuse, words[2], 1, 1u << 20));
  if (choice.parts != 0 && whole.size() == 2)
    refuse("for so many cores a number of parts is chosen, and one is given");
  return choice;
}

LaunchChoice parse_sample(const std::string& text, const std::string& option) {
  const Refused refuse{option, text,
                       "ERROR, ERROR:K, ERROR:K:SEED or ERROR::SEED, the error in percent, e.g. 2"};
  LaunchChoice choice;
  choice.given = true;
  const std::vector<std::string> words = split(text, ":");
  if (words.size() > 3) refuse("that are too many numbers");
  const char* end = words[0].data() + words[0].size();
  double percent = 0;
  const auto [at, failed] = std::from_chars(words[0].data(), end, percent);
  if (failed != std::errc{} || at != end) refuse(fmt::format("'{}' is not a number", words[0]));
  if (!(percent >= kLeastSampleError && percent <= kMostSampleError))
    refuse(
        fmt::format("{} is not between {} and {}", words[0], kLeastSampleError, kMostSampleError));
  choice.sample = percent / 100;
  if (words.size() == 2 || (words.size() == 3 && !words[1].empty()))
    choice.before = static_cast<uint32_t>(number_in(refuse, words[1], 0, 0xffffffffu));
  if (words.size() == 3) choice.seed = number_in(refuse, words[2], 0, ~uint64_t{0});
  return choice;
}

void refuse_paper_size() {
  throw UsageError(
      "`launches` and `sample` do not go with `size` paper, which ends in the middle of the "
      "program - large "
      "is the largest size that does not");
}

namespace {

std::vector<runtime::LaunchPart> all_parts(const LaunchChoice& choice,
                                           const runtime::Recording& recording,
                                           const runtime::DivisionNeeds& needs) {
  if (recording.measured_warp_instructions != 0) refuse_paper_size();
  if (choice.parallel)
    return runtime::divide(recording, choice.parts, choice.before.value_or(kBeforeParts),
                           needs.together, choice.cores);
  const auto n = static_cast<uint64_t>(recording.launches.size());
  if (choice.last > n)
    throw UsageError(fmt::format("`launches`: there is no launch {} - {} has {}, from 1 on",
                                 choice.last, recording.name, n));
  const std::vector<bool> cuts = runtime::launch_cuts(recording);
  for (const uint64_t at : {choice.first - 1, choice.last}) {
    if (cuts[at]) continue;
    uint64_t low = at, high = at;
    while (!cuts[low]) --low;
    while (!cuts[high]) ++high;
    throw UsageError(
        fmt::format("`launches`: launches {} to {} of {} may run at the same time and cannot be "
                    "divided before launch {} - a part has all of them or none",
                    low + 1, high, recording.name, at + 1));
  }
  return {runtime::part_of(cuts, static_cast<uint32_t>(choice.first - 1),
                           static_cast<uint32_t>(choice.last),
                           choice.before.value_or(needs.before))};
}

}  // namespace

runtime::Division division_of(const LaunchChoice& choice, const runtime::Recording& recording,
                              const runtime::DivisionNeeds& needs) {
  if (!choice.given) return {};
  runtime::Division division;
  if (choice.sample == 0) {
    division.parts = all_parts(choice, recording, needs);
  } else {
    if (recording.measured_warp_instructions != 0) refuse_paper_size();
    division =
        sample_launches(recording, choice.sample, choice.before.value_or(needs.before),
                        needs.together, needs.resident, choice.seed, needs.apart, needs.by_load);
  }
  for (runtime::LaunchPart& part : division.parts)
    part.warm =
        choice.warm && (part.begin != 0 || (part.blocks.has_value() && part.blocks->begin != 0));
  return division;
}

runtime::DivisionNeeds division_needs(std::span<const ReplayJob> jobs,
                                      const std::function<bool()>& go_on) {
  runtime::DivisionNeeds needs;
  for (const ReplayJob& job : jobs) {
    needs.before = std::max(needs.before, launches_before(*job.machine, *job.policy));
    needs.apart = needs.apart || !config::shape_of(*job.machine).one_gpu;
    needs.by_load = needs.by_load || config::decides_by_load(*job.policy);
  }
  needs.together = learning_launches(jobs, go_on);
  needs.resident = resident_blocks(jobs);
  return needs;
}

std::string key_of(const LaunchChoice& choice) {
  if (!choice.given) return "";
  const std::string before = choice.before.has_value() ? fmt::format("{}", *choice.before) : "some";
  return fmt::format(", launches {}, {} before{}",
                     choice.sample != 0 ? fmt::format("within {} by {}", choice.sample, choice.seed)
                     : choice.parts != 0 ? fmt::format("parallel in {} parts", choice.parts)
                     : choice.parallel   ? fmt::format("parallel for {} cores", choice.cores)
                                         : fmt::format("{}..{}", choice.first, choice.last),
                     before, choice.warm ? "" : ", cold");
}

}  // namespace nearwarp::sim
