// Finds and prepares the mechanisms of a policy.
#include "host/mechanisms/mechanism.h"

#include <fmt/format.h>

#include "host/config/mechanism.h"
#include "host/core/error.h"

namespace nearwarp::sim {

namespace {

const Mechanism& find(MechanismSet known, std::string_view name, const std::string& policy) {
  std::string names = "none";
  for (const Mechanism* m : known) {
    if (m->name() == name) return *m;
    names += fmt::format(", {}", m->name());
  }
  throw Error(
      fmt::format("policy {}: there is no mechanism '{}' - these are: {}", policy, name, names));
}

/// The number of a mechanism's device code in the family; a mechanism that is another one set
/// differently has that one's number.
uint32_t number_of(MechanismSet known, const Mechanism& mechanism) {
  const std::string_view name =
      mechanism.runs_on().empty() ? mechanism.name() : mechanism.runs_on();
  uint32_t number = 0;
  for (const Mechanism* m : known) {
    if (m->name() == name) break;
    if (m->runs_on().empty()) ++number;
  }
  return number;
}

}  // namespace

MechanismRuns prepare_mechanisms(MechanismSet known, const RunSubject& subject,
                                 ImageTables& image) {
  config::check_needs(subject.policy, subject.machine);
  std::vector<std::pair<const Mechanism*, uint32_t>> named;
  uint32_t taken = 0;
  for (const std::string_view name : config::mechanisms_of(subject.policy)) {
    const Mechanism& mechanism = find(known, name, subject.policy.name);
    const uint32_t number = number_of(known, mechanism);
    if ((taken >> number & 1) != 0)
      throw Error(
          fmt::format("policy {}: mechanism '{}' runs on the same parts as another of "
                      "'{}' - name one of them",
                      subject.policy.name, name, subject.policy.mechanism));
    taken |= 1u << number;
    named.emplace_back(&mechanism, number);
  }
  // Mechanisms that move instructions are prepared first: the others make tables by instruction.
  MechanismRuns runs(named.size());
  for (const bool moving : {true, false})
    for (size_t i = 0; i < named.size(); ++i)
      if (const auto& [mechanism, number] = named[i]; mechanism->moves_instructions() == moving)
        runs[i] = mechanism->prepare(subject, number, image);
  return runs;
}

void require_whole_lines(System& system, uint32_t endpoint, const L2SliceState& slice) {
  if (slice.sectors.count == 0) return;
  throw Error(
      fmt::format("{} looks lines up by sectors, and mechanisms at L2 slices look up whole lines - "
                  "set l1.sectors=false and l2.sectors=false",
                  system.nodes[endpoint].name));
}

}  // namespace nearwarp::sim
