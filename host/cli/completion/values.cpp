// Values that options and words of several commands can have, for completion.
#include "host/cli/completion/values.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/api/nearwarp/catalogue.h"
#include "host/api/nearwarp/experiment.h"
#include "host/api/nearwarp/program.h"
#include "host/cli/command.h"

namespace nearwarp::cli {
namespace {

/// Keys with "=" behind them, and with each of their values where these are words. Nothing is said
/// of a file that cannot be loaded.
void append_keys(const std::string& kind, const std::string& name, std::vector<Candidate>& all) {
  const Expected<std::vector<KeyWords>> keys = key_words(kind, name);
  if (!keys) return;
  for (const KeyWords& key : *keys) {
    const std::string begin = key.name + "=";
    const std::string unit = key.unit.empty() ? "" : fmt::format(" [{}]", key.unit);
    all.push_back({begin, key.doc + unit});
    for (const std::string& word : key.words) all.push_back({begin + word});
  }
}

/// Appends keys of the machine that is typed, or of all if there is none such.
void append_machine_keys(const Typed& typed, std::vector<Candidate>& all) {
  const size_t before = all.size();
  append_keys("machine", typed.text("machine"), all);
  if (all.size() == before) append_keys("machine", "", all);
}

}  // namespace

std::vector<Candidate> candidates(const Words& names) {
  std::vector<Candidate> all;
  for (const std::string& name : names) all.push_back({name});
  return all;
}

std::vector<Candidate> machine_values(const Typed&) { return candidates(machine_names()); }
std::vector<Candidate> policy_values(const Typed&) { return candidates(policy_names()); }
std::vector<Candidate> dram_values(const Typed&) { return candidates(file_names("dram")); }
std::vector<Candidate> area_values(const Typed&) { return candidates(file_names("area")); }
std::vector<Candidate> experiment_values(const Typed&) {
  return candidates(file_names("experiment"));
}

std::vector<Candidate> workload_values(const Typed&) {
  std::vector<Candidate> all;
  for (const WorkloadName& workload : workload_names())
    all.push_back({workload.name, workload.description});
  return all;
}

std::vector<Candidate> size_values(const Typed&) {
  return {{"small"}, {"medium"}, {"large"}, {"paper", "2 billion thread-instructions"}};
}

std::vector<Candidate> command_values(const Typed&) {
  std::vector<Candidate> all;
  for (const Command& command : commands())
    all.push_back({command.name, command.uses.front().purpose});
  return all;
}

std::vector<Candidate> figure_values(const Typed& typed) {
  std::vector<Candidate> all;
  if (typed.positional().empty()) return all;
  const Expected<ExperimentFile> file = ExperimentFile::load(typed.positional()[0]);
  if (!file) return all;
  for (const Figure& figure : file->figures()) all.push_back({figure.name, figure.title});
  return all;
}

std::vector<Candidate> machine_key_values(const Typed& typed) {
  std::vector<Candidate> all;
  append_machine_keys(typed, all);
  return all;
}

std::vector<Candidate> key_values(const Typed& typed) {
  std::vector<Candidate> all;
  append_machine_keys(typed, all);
  // Policies have keys in common.
  std::vector<Candidate> of_policies;
  for (const std::string& name : split_commas(typed.text("policy")))
    append_keys("policy", name, of_policies);
  for (Candidate& one : of_policies)
    if (std::ranges::find(all, one.word, &Candidate::word) == all.end())
      all.push_back(std::move(one));
  return all;
}

std::vector<Candidate> dram_key_values(const Typed&) {
  std::vector<Candidate> all;
  append_keys("dram", "", all);
  return all;
}

std::vector<Candidate> area_key_values(const Typed& typed) {
  std::vector<Candidate> all = key_values(typed);
  append_keys("area", "", all);
  return all;
}

std::vector<Candidate> shown_key_values(const Typed& typed) {
  std::vector<Candidate> all;
  if (typed.positional().size() >= 2 && !typed.positional()[1].empty())
    append_keys(typed.positional()[0], typed.positional()[1], all);
  return all;
}

void offer_usual(CommandLine& line) {
  line.offer("machine", machine_values);
  line.offer("policy", policy_values);
  line.offer("size", size_values);
  line.offer("set", key_values);
}

}  // namespace nearwarp::cli
