// nearwarp show: a machine, policy or energy file with the values in effect, as a TOML file that
// can be loaded.
#include <fmt/format.h>

#include "host/cli/commands.h"
#include "host/config/area.h"
#include "host/config/config.h"
#include "host/config/nearest.h"
#include "host/config/schema.h"
#include "host/core/error.h"
#include "host/timing/experiment/definition.h"

namespace nearwarp::cli {
namespace {

/// `text` as comment lines of at most 80 columns.
std::string comment(const std::string& text) { return "# " + wrapped(text, 78, "# ") + "\n"; }

std::string file_text(const std::string& origin, const std::vector<config::KeyDescription>& keys) {
  std::string text = comment(origin);
  std::string section;
  for (const config::KeyDescription& key : keys) {
    const size_t dot = key.key.rfind('.');
    if (key.key.substr(0, dot) != section) {
      section = key.key.substr(0, dot);
      text += fmt::format("\n[{}]\n", section);
    }
    text += comment(
        fmt::format("{} ({}{}{})", key.doc, key.unit, key.unit.empty() ? "" : ": ", key.range));
    text += fmt::format("{} = {}\n", key.key.substr(dot + 1), key.value);
  }
  return text;
}

/// A machine's file names its energy file and has none of its keys: --set must not seem to work.
void refuse_energy_keys(const config::MachineConfig& machine, const Words& changes) {
  for (const std::string& change : changes) {
    const std::string key = change.substr(0, change.find('='));
    if (config::find_key<config::EnergyConfig>(key) == nullptr) continue;
    throw UsageError(
        fmt::format("{} is no key of a machine file (--set {}) - it is one of the energy file: "
                    "nearwarp show energy {} --set {}",
                    key, change, machine.energy_model, change));
  }
}

/// What is printed lists all timings, so it names no standard.
void list_timings(const config::MachineConfig& machine, std::vector<config::KeyDescription>& keys,
                  std::string& origin) {
  if (machine.dram.standard == "none") return;
  for (config::KeyDescription& key : keys)
    if (key.key == "dram.standard") key.value = "\"none\"";
  origin += fmt::format(", timings of {}", machine.dram.standard);
}

}  // namespace

int show_command(const Words& words) {
  CommandLine line("show", "KIND NAME|FILE.toml",
                   "Print all keys with the values in effect, as a file that can be loaded.\n"
                   "KIND: machine, policy, energy, area, dram, experiment");
  line.list("set", "override a key", "KEY=VALUE");
  line.parse(words, 2, 2);
  if (line.help_wanted()) {
    print(line.help());
    return 0;
  }
  const std::string& kind = line.positional()[0];
  const std::string& name = line.positional()[1];
  const Words changes = line.texts("set");
  if (kind == "experiment") {
    if (!changes.empty())
      throw UsageError("an experiment has no keys (--set) - copy the file and change that");
    print(experiment::load_experiment(name).text);
    return 0;
  }
  std::string origin;
  std::vector<config::KeyDescription> keys;
  if (kind == "machine") {
    const config::MachineConfig machine = config::load_machine(name, changes);
    refuse_energy_keys(machine, changes);
    origin = machine.path;
    keys = config::describe(machine);
    list_timings(machine, keys, origin);
  } else if (kind == "policy") {
    const config::PolicyConfig policy = config::load_policy(name, changes);
    origin = policy.path;
    keys = config::describe(policy);
  } else if (kind == "energy") {
    const config::EnergyConfig energy = config::load_energy(name, changes);
    origin = energy.path;
    keys = config::describe(energy);
  } else if (kind == "area") {
    const config::AreaConfig area = config::load_area(name, changes);
    origin = area.path;
    keys = config::describe(area);
  } else if (kind == "dram") {
    const config::DramConfig dram = config::load_dram(name, changes);
    origin = dram.path;
    keys = config::describe(dram);
  } else {
    throw UsageError(fmt::format(
        "cannot show '{}'{}", kind,
        config::suggestion(kind, {"machine", "policy", "energy", "area", "dram", "experiment"})));
  }
  for (const std::string& change : changes) origin += ", " + change;
  print(file_text(fmt::format("{} {}, from {}", kind, name, origin), keys));
  return 0;
}

}  // namespace nearwarp::cli
