// What options and words of several commands can be, for completion.
#include "host/cli/completion/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "bench/workloads/workload.h"
#include "host/cli/command.h"
#include "host/config/area.h"
#include "host/config/config.h"
#include "host/config/schema.h"
#include "host/core/error.h"
#include "host/timing/experiment/definition.h"

namespace nearwarp::cli {
namespace {

/// Keys with "=" behind them, and with each of their values where these are words.
template <class Config>
void append_keys(const Config* config, std::vector<Candidate>& all) {
  static Config any;
  for (const config::Key<Config>& key : config::keys<Config>()) {
    if (config != nullptr && !config::applies(key, *config)) continue;
    const std::string begin = fmt::format("{}=", key.path);
    const std::string unit = key.unit.empty() ? "" : fmt::format(" [{}]", key.unit);
    all.push_back({begin, fmt::format("{}{}", key.doc, unit)});
    if (std::holds_alternative<bool*>(key.member(any)))
      for (const char* value : {"false", "true"}) all.push_back({begin + value});
    std::istringstream choices{std::string(key.choices)};
    for (std::string value; choices >> value;) all.push_back({begin + value});
  }
}

/// The configuration of that name, if it can be loaded: completion says nothing of what is wrong.
template <class Load>
auto loaded(Load load, const std::string& name) -> std::optional<decltype(load(name))> {
  try {
    return load(name);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void append_machine_keys(const Typed& typed, std::vector<Candidate>& all) {
  const auto machine = loaded([](const std::string& name) { return config::load_machine(name); },
                              typed.text("machine"));
  append_keys<config::MachineConfig>(machine.has_value() ? &*machine : nullptr, all);
}

}  // namespace

std::vector<Candidate> candidates(const Words& names) {
  std::vector<Candidate> all;
  for (const std::string& name : names) all.push_back({name});
  return all;
}

std::vector<Candidate> machine_values(const Typed&) { return candidates(config::machine_names()); }
std::vector<Candidate> policy_values(const Typed&) { return candidates(config::policy_names()); }
std::vector<Candidate> dram_values(const Typed&) { return candidates(config::dram_names()); }
std::vector<Candidate> experiment_values(const Typed&) {
  return candidates(experiment::experiment_names());
}

std::vector<Candidate> workload_values(const Typed&) {
  std::vector<Candidate> all;
  for (const auto& workload : workloads::all())
    all.push_back({workload->name(), workload->description()});
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
  for (const std::string& name : split_commas(typed.text("policy"))) {
    const auto policy = loaded([](const std::string& n) { return config::load_policy(n); }, name);
    if (policy.has_value()) append_keys(&*policy, of_policies);
  }
  for (Candidate& one : of_policies)
    if (std::ranges::find(all, one.word, &Candidate::word) == all.end())
      all.push_back(std::move(one));
  return all;
}

std::vector<Candidate> dram_key_values(const Typed&) {
  std::vector<Candidate> all;
  append_keys<config::DramConfig>(nullptr, all);
  return all;
}

std::vector<Candidate> area_key_values(const Typed& typed) {
  std::vector<Candidate> all = key_values(typed);
  append_keys<config::AreaConfig>(nullptr, all);
  return all;
}

std::vector<Candidate> shown_key_values(const Typed& typed) {
  std::vector<Candidate> all;
  if (typed.positional().size() < 2) return all;
  const std::string &kind = typed.positional()[0], &name = typed.positional()[1];
  const auto append = [&](auto load) {
    if (const auto config = loaded(load, name); config.has_value()) append_keys(&*config, all);
  };
  if (kind == "machine")
    append([](const std::string& n) { return config::load_machine(n); });
  else if (kind == "policy")
    append([](const std::string& n) { return config::load_policy(n); });
  else if (kind == "energy")
    append([](const std::string& n) { return config::load_energy(n); });
  else if (kind == "area")
    append([](const std::string& n) { return config::load_area(n); });
  else if (kind == "dram")
    append([](const std::string& n) { return config::load_dram(n); });
  return all;
}

void offer_usual(CommandLine& line) {
  line.offer("machine", machine_values);
  line.offer("policy", policy_values);
  line.offer("size", size_values);
  line.offer("set", key_values);
}

}  // namespace nearwarp::cli
