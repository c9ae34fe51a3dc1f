// Rules between the keys of a policy.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "host/config/config.h"
#include "host/config/mechanism.h"
#include "host/config/rules.h"

namespace nearwarp::config {
namespace {

/// Throws unless the mapping is "bmap" or one of the policy's mechanisms. Some mechanisms require
/// one of their own.
void check_mapping(const PolicyConfig& policy, const Rules& rules) {
  std::vector<std::string> owners, own;
  bool is_own = policy.mapping == "bmap";
  const MechanismDeclaration* wants = nullptr;
  for (const MechanismDeclaration* d : declared_mechanisms()) {
    const auto runs_on_it = [&](const MechanismDeclaration* on) {
      return (on == d || on->runs_on == d->name) && has_mechanism(policy, on->name);
    };
    const auto all = declared_mechanisms();
    const bool named = std::any_of(all.begin(), all.end(), runs_on_it);
    for (const MappingChoice& m : d->mappings) {
      const bool is = m.name == policy.mapping;
      if (is) owners.push_back(fmt::format("\"{}\"", d->name));
      if (named) own.push_back(fmt::format("\"{}\"", m.name));
      is_own = is_own || (is && named);
    }
    if (named && d->own_mapping) wants = d;
  }
  const auto one_of = [](const std::vector<std::string>& names) {
    std::string text;
    for (size_t i = 0; i < names.size(); ++i)
      text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
    return text;
  };
  const std::string wrong = fmt::format("is \"{}\"", policy.mapping);
  rules.require(
      wants == nullptr || policy.mapping != "bmap", "policy.mapping", wrong,
      fmt::format("with policy.mechanism = \"{}\" it must be {}", policy.mechanism, one_of(own)));
  rules.require(policy.mechanism != "none" || is_own, "policy.mapping", wrong,
                "without a mechanism (policy.mechanism = \"none\") it must be \"bmap\"");
  rules.require(is_own, "policy.mapping", wrong,
                fmt::format("this is a mapping of policy.mechanism = {}", one_of(owners)));
}

}  // namespace

void check_rules(const PolicyConfig& policy, const PlaceOf& place_of) {
  const Rules rules(place_of);
  check_claims(policy, rules);
  check_mapping(policy, rules);
  for (const MechanismDeclaration* d : declared_mechanisms())
    if (d->check != nullptr && has_mechanism(policy, d->name)) d->check(policy, rules);
}

}  // namespace nearwarp::config
