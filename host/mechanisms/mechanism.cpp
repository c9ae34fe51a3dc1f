// The mechanisms of a policy.
#include "host/mechanisms/mechanism.h"

#include <fmt/format.h>

#include "host/core/error.h"

namespace nearwarp::sim {

MechanismRuns prepare_mechanisms(MechanismSet known, const RunSubject& subject,
                                 ImageTables& image) {
  MechanismRuns runs;
  std::string_view left = subject.policy.mechanism;
  if (left == "none") return runs;
  while (!left.empty()) {
    const std::string_view name = left.substr(0, left.find('+'));
    left.remove_prefix(std::min(left.size(), name.size() + 1));
    uint32_t number = 0;
    while (number < known.size() && known[number]->name() != name) ++number;
    if (number == known.size()) {
      std::string names = "none";
      for (const Mechanism* m : known) names += fmt::format(", {}", m->name());
      throw Error(fmt::format("policy {}: there is no mechanism '{}' - these are: {}",
                              subject.policy.name, name, names));
    }
    runs.push_back(known[number]->prepare(subject, number, image));
  }
  return runs;
}

}  // namespace nearwarp::sim
