// The keys of a policy file: those of all policies, and those that mechanisms declare.
#include <algorithm>
#include <string>
#include <vector>

#include "host/config/mechanism.h"
#include "host/config/schema.h"

namespace nearwarp::config {
namespace {

using P = PolicyConfig;

constexpr bool kOptional = true;

#define NW_KEY(member_path) #member_path, [](P & p) -> Member { return &p.member_path; }

/// Choices and documentation of the keys policy.mechanism and policy.mapping.
struct Choices {
  std::string mechanisms = "none", mechanisms_doc = "none: everything runs on the main GPU",
              mappings = "bmap",
              mappings_doc =
                  "How memory is spread over stacks. bmap: the baseline's fine interleaving";

  Choices() {
    for (const MechanismDeclaration* d : declared_mechanisms()) {
      mechanisms += " " + std::string(d->name);
      mechanisms_doc += "; " + std::string(d->name) + ": " + std::string(d->doc);
      std::string of = d->mappings.empty() ? "" : ". Of " + std::string(d->name);
      for (const MappingChoice& m : d->mappings) {
        mappings += " " + std::string(m.name);
        mappings_doc +=
            of + (of.empty() ? "; " : ": ") + std::string(m.name) + ": " + std::string(m.doc);
        of.clear();
      }
    }
    mechanisms_doc += ".";
    mappings_doc += ".";
  }
};

std::vector<Key<P>> all_keys() {
  static const Choices choices;
  std::vector<Key<P>> all = {
      {NW_KEY(description), "", 0, 0, false, "", "One line on what the policy does."},
      {NW_KEY(mechanism), "", 0, 0, false, choices.mechanisms, choices.mechanisms_doc},
      {NW_KEY(mapping), "", 0, 0, false, choices.mappings, choices.mappings_doc},
  };
  all[0].path = "policy.description";
  all[1].path = "policy.mechanism";
  all[1].joined = true;
  all[2].path = "policy.mapping";
  const Key<P> dispatch[] = {
      {NW_KEY(dispatch.groups), "groups", 1, 256, false, "",
       "Groups of SMs with queues of thread blocks of their own: the SMs of a stack, if they lie "
       "in "
       "stacks, else as many SMs in a row to each.",
       kOptional},
      {NW_KEY(dispatch.row_blocks), "thread blocks", 0, 1000000, false, "",
       "Thread blocks in a row that go to the same group; 0: as many as its SMs hold at a time.",
       kOptional},
      {NW_KEY(dispatch.even_rows), "", 0, 0, false, "",
       "Where dispatch.row_blocks is 0: every group has one row of a launch's thread blocks, the "
       "launch's blocks by the groups, instead of rows of what its SMs hold at a time.",
       kOptional},
      {NW_KEY(dispatch.steal), "", 0, 0, false, "",
       "A group whose queue is empty takes thread blocks from the longest one.", kOptional},
      {NW_KEY(dispatch.sms), "", 0, 0, false, "in-turn fill",
       "Which SM gets the next thread block. in-turn: one after the other, each at most one a "
       "cycle; fill: the first one with room, one a cycle.",
       kOptional},
      {NW_KEY(dispatch.first_sm), "", 0, 0, false, "next first",
       "With dispatch.sms = in-turn: whose turn it is when a launch begins. next: of the SM behind "
       "the one that got the last thread block; first: of the first SM.",
       kOptional},
  };
  all.insert(all.end(), std::begin(dispatch), std::end(dispatch));
  for (const MechanismDeclaration* d : declared_mechanisms())
    for (Key<P> key : d->keys) {
      key.mechanism = d;
      all.push_back(key);
    }
  return all;
}

}  // namespace

std::span<const Key<PolicyConfig>> policy_keys() {
  static const std::vector<Key<P>> all = all_keys();
  return all;
}

std::vector<std::string_view> mechanisms_of(const PolicyConfig& policy) {
  if (policy.mechanism.empty() || policy.mechanism == "none") return {};
  return joined_words(policy.mechanism);
}

bool has_mechanism(const PolicyConfig& policy, std::string_view name) {
  for (const std::string_view own : mechanisms_of(policy))
    if (own == name) return true;
  return false;
}

bool policy_has(const Key<PolicyConfig>& key, const PolicyConfig& policy) {
  if (key.mechanism == nullptr || has_mechanism(policy, key.mechanism->name)) return true;
  if (key.alone) return false;
  for (const MechanismDeclaration* d : declared_mechanisms())
    if (d->runs_on == key.mechanism->name && has_mechanism(policy, d->name)) return true;
  return false;
}

/// The declaration of the policy's mapping; null if it is the machine's own ("bmap").
static const MappingChoice* mapping_of(const PolicyConfig& policy) {
  for (const MechanismDeclaration* d : declared_mechanisms())
    for (const MappingChoice& choice : d->mappings)
      if (choice.name == policy.mapping) return &choice;
  return nullptr;
}

bool learns_mapping(const PolicyConfig& policy) {
  const MappingChoice* choice = mapping_of(policy);
  return choice != nullptr && choice->learnt;
}

bool follows_sms(const PolicyConfig& policy) {
  const MappingChoice* choice = mapping_of(policy);
  return choice != nullptr && choice->follows_sms;
}

bool decides_by_load(const PolicyConfig& policy) {
  const auto is_in_use = [&](std::string_view name) {
    return std::ranges::any_of(declared_mechanisms(), [&](const MechanismDeclaration* d) {
      return (d->name == name || d->runs_on == name) && has_mechanism(policy, d->name);
    });
  };
  return std::ranges::any_of(declared_mechanisms(), [&](const MechanismDeclaration* d) {
    return d->decides_by_load != nullptr && is_in_use(d->name) && d->decides_by_load(policy);
  });
}

std::string_view why_no_parts(const PolicyConfig& policy) {
  const MappingChoice* choice = mapping_of(policy);
  return choice == nullptr ? std::string_view() : choice->no_parts;
}

std::string takers(const Key<PolicyConfig>& key) {
  std::vector<std::string_view> names;
  for (const MechanismDeclaration* d : declared_mechanisms()) {
    PolicyConfig policy;
    policy.mechanism = d->name;
    if (policy_has(key, policy)) names.push_back(d->name);
  }
  std::string text = names.size() == 1 ? "mechanism " : "mechanisms ";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace nearwarp::config
