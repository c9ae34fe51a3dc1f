// Checks and describes all keys of a configuration with their values.
#include <fmt/format.h>

#include <iterator>

#include "host/config/config.h"
#include "host/config/rules.h"
#include "host/config/schema.h"
#include "host/config/store.h"

namespace nearwarp::config {
namespace {

template <class Config>
void validate_all(Config config, const std::string& where) {  // a copy, see values_of()
  for (const Key<Config>& key : keys<Config>()) {
    if (applies(key, config) && !obeys(key, config)) {
      throw bad_value(key, "cannot be " + value_text(member_of(key, config)), where);
    }
  }
  check_rules(config, [&](std::string_view) { return where; });
}

template <class Config>
std::string values_of(Config config) {  // a copy, since reading may add tables to it
  std::string text;
  for (const Key<Config>& key : keys<Config>())
    if (applies(key, config))
      fmt::format_to(std::back_inserter(text), "{} = {}\n", key.path,
                     value_text(member_of(key, config)));
  return text;
}

template <class Config>
std::vector<KeyDescription> describe_all(Config config) {  // a copy, see values_of()
  std::vector<KeyDescription> rows;
  for (const Key<Config>& key : keys<Config>()) {
    if (!applies(key, config)) continue;
    rows.push_back({std::string(key.path), value_text(member_of(key, config)),
                    std::string(key.unit), std::string(key.doc), allowed(key)});
  }
  return rows;
}

}  // namespace

void validate(const MachineConfig& machine, const std::string& where) {
  validate_all(machine, where);
  validate_all(machine.energy, where);
}
void validate(const PolicyConfig& policy, const std::string& where) { validate_all(policy, where); }
std::string values_text(const MachineConfig& machine) {
  return values_of(machine) + values_of(machine.energy);
}
std::string values_text(const PolicyConfig& policy) { return values_of(policy); }
std::vector<KeyDescription> describe(const MachineConfig& machine) { return describe_all(machine); }
std::vector<KeyDescription> describe(const PolicyConfig& policy) { return describe_all(policy); }
std::vector<KeyDescription> describe(const EnergyConfig& energy) { return describe_all(energy); }
std::vector<KeyDescription> describe_whole(const MachineConfig& machine) {
  std::vector<KeyDescription> rows = describe_all(machine);
  for (KeyDescription& row : describe_all(machine.energy)) rows.push_back(std::move(row));
  return rows;
}
std::vector<KeyDescription> describe(const DramConfig& dram) { return describe_all(dram); }
std::vector<KeyDescription> describe(const AreaConfig& area) { return describe_all(area); }

}  // namespace nearwarp::config
