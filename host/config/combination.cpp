// Checks by their declarations whether mechanisms can be combined, and whether a machine suits
// them.
#include <fmt/format.h>

#include <vector>

#include "host/config/mechanism.h"
#include "host/core/error.h"

namespace nearwarp::config {
namespace {

/// The declarations of a policy's mechanisms, in their order. Undeclared mechanisms, which tests
/// use, are left out.
std::vector<const MechanismDeclaration*> declarations_of(const PolicyConfig& policy) {
  std::vector<const MechanismDeclaration*> of;
  for (const std::string_view name : mechanisms_of(policy))
    for (const MechanismDeclaration* d : declared_mechanisms())
      if (d->name == name) of.push_back(d);
  return of;
}

/// Calls f(x) for the elements of `list` of the mechanism on which `d` runs, if any, and of `d`.
template <class T, class F>
void each(const MechanismDeclaration& d, std::span<const T> MechanismDeclaration::*list, F&& f) {
  for (const MechanismDeclaration* other : declared_mechanisms())
    if (other->name == d.runs_on)
      for (const T& x : other->*list) f(x);
  for (const T& x : d.*list) f(x);
}

/// Calls f(claim) for the claims that the mechanism makes under the policy.
template <class F>
void each_claim(const MechanismDeclaration& d, const PolicyConfig& policy, F&& f) {
  each(d, &MechanismDeclaration::claims, [&](const Claim& claim) {
    if (claim.made == nullptr || claim.made(policy)) f(claim);
  });
}

/// The needs of all mechanisms but `one`, as in "; 'NAME' needs memory stacks, ...".
std::string others_need(const std::vector<const MechanismDeclaration*>& all,
                        const MechanismDeclaration* one) {
  std::string text;
  for (const MechanismDeclaration* d : all) {
    if (d == one) continue;
    std::string needs;
    each(*d, &MechanismDeclaration::needs,
         [&](const Need& need) { needs += (needs.empty() ? "" : ", ") + std::string(need.what); });
    if (!needs.empty()) text += fmt::format("; '{}' needs {}", d->name, needs);
  }
  return text;
}

}  // namespace

void check_claims(const PolicyConfig& policy, const Rules& rules) {
  const std::vector<const MechanismDeclaration*> all = declarations_of(policy);
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      each_claim(*all[k], policy, [&](const Claim& a) {
        each_claim(*all[i], policy, [&](const Claim& b) {
          rules.require(a.what != b.what, "policy.mechanism",
                        fmt::format("is \"{}\"", policy.mechanism),
                        fmt::format("'{}' claims {}, which it {}, and so does '{}', which it {}: "
                                    "name one of the two",
                                    all[k]->name, a.what, a.why, all[i]->name, b.why));
        });
      });
}

std::string lack_of_shape(const MachineConfig& machine, bool (*has)(const Shape&)) {
  if (has(shape_of(machine))) return "";
  return fmt::format("machine.shape is \"{}\" - it must be {}", machine.shape, shapes_with(has));
}

void check_needs(const PolicyConfig& policy, const MachineConfig& machine) {
  const std::vector<const MechanismDeclaration*> all = declarations_of(policy);
  for (const MechanismDeclaration* d : all)
    each(*d, &MechanismDeclaration::needs, [&](const Need& need) {
      const std::string lack = need.lack(machine, policy);
      if (!lack.empty())
        throw Error(fmt::format("policy '{}' on machine '{}': '{}' needs {}, and {}{}", policy.name,
                                machine.name, d->name, need.what, lack, others_need(all, d)));
    });
}

}  // namespace nearwarp::config
