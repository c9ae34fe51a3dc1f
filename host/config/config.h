// Loading machines, policies and other files from TOML, and overriding single keys.
//
// Everything here is strict: an unknown key, a wrong type, a missing key or an impossible value is
// a nearwarp::Error that names the file, the line and, for names, the nearest valid one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/dram.h"
#include "host/config/machine.h"
#include "host/config/policy.h"

namespace nearwarp::config {

/// Loads many machines and policies of few files, each of which is read once.
class Loader {
 public:
  Loader();
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// As load_machine() and load_policy(); but overrides that are of no effect under this policy are
  /// only noted, as they may be meant for another one.
  MachineConfig machine(const std::string& name_or_path, std::span<const std::string> overrides);
  PolicyConfig policy(const std::string& name_or_path, std::span<const std::string> overrides);

  struct Files;  ///< load.cpp

 private:
  std::unique_ptr<Files> files_;
};

/// Parses the text of a file: `name` is the configuration's, and stands in messages. Paths in the
/// text begin in the working directory.
MachineConfig parse_machine(const std::string& text, const std::string& name,
                            std::span<const std::string> overrides = {});
PolicyConfig parse_policy(const std::string& text, const std::string& name,
                          std::span<const std::string> overrides = {});

/// Load a machine by name ("v100") or by path (with a slash or the suffix ".toml"), apply the
/// overrides that name machine keys, and check the result.
///
/// `overrides` are "key=value" texts; those that name policy keys are left to load_policy(), those
/// that name no key at all are errors here and there. A later override wins.
MachineConfig load_machine(const std::string& name_or_path,
                           std::span<const std::string> overrides = {});

/// Loads a policy. Its file has keys of its own mechanisms alone, and so do overrides.
PolicyConfig load_policy(const std::string& name_or_path,
                         std::span<const std::string> overrides = {});
/// Throw nearwarp::UsageError for an override of Loader::policy() that is of no effect under any of
/// these policies, and say which mechanisms it would be for.
void refuse_without_effect(std::span<const PolicyConfig* const> policies);

/// Loads an energy file by itself; load_machine() loads the one that the machine names.
EnergyConfig load_energy(const std::string& name_or_path,
                         std::span<const std::string> overrides = {});

/// Loads a DRAM standard by itself: overrides that name no key of it are errors.
DramConfig load_dram(const std::string& name_or_path, std::span<const std::string> overrides = {});

/// Apply one "key=value", to a machine also that of an energy key (energy.model does not load the
/// file that it names: load_machine() does). A text that names a key of
/// another kind of file leaves the configuration alone and returns false. The value's own range is
/// checked, cross-field rules are not: call validate() after the last one.
bool apply_override(MachineConfig& machine, std::string_view override_text);
bool apply_override(PolicyConfig& policy, std::string_view override_text);

/// Check ranges and the rules between fields; `where` prefixes messages, e.g. the file's path.
void validate(const MachineConfig& machine, const std::string& where);
void validate(const PolicyConfig& policy, const std::string& where);

/// Names of the configurations that can be found, sorted.
std::vector<std::string> machine_names();
std::vector<std::string> policy_names();
std::vector<std::string> energy_names();
std::vector<std::string> dram_names();

/// One key as `nearwarp show` prints it.
struct KeyDescription {
  std::string key;    ///< dotted path, e.g. "links.gpu_to_memory_mbps"
  std::string value;  ///< as it would be written in TOML
  std::string unit;   ///< empty for plain counts' names and texts
  std::string doc;    ///< one sentence
  std::string range;  ///< what is allowed, e.g. "1 to 64, power of two"
};

/// All keys of the file with their values, in the order of the documentation; those of the energy
/// file that a machine names are its own.
std::vector<KeyDescription> describe(const MachineConfig& machine);
std::vector<KeyDescription> describe(const PolicyConfig& policy);
std::vector<KeyDescription> describe(const EnergyConfig& energy);
/// Describes a machine with its energy file: everything that a result depends on.
std::vector<KeyDescription> describe_whole(const MachineConfig& machine);
std::vector<KeyDescription> describe(const DramConfig& dram);

/// "key = value" of everything that a result depends on, a line each, as describe_whole() and
/// describe() have them.
std::string values_text(const MachineConfig& machine);
std::string values_text(const PolicyConfig& policy);

/// Tiles of the partitions of a machine whose shape is "mesh", as mesh.memory_tiles lists them;
/// empty if that is no list of numbers below 4096 separated by blanks.
std::vector<uint32_t> memory_tiles(const MachineConfig& machine);

/// Bandwidth of all off-chip memory together, 10^6 bytes per second and direction.
uint64_t memory_mbps(const MachineConfig& machine);

/// The machine's base frequency: the least common multiple of its clocks, in MHz.
uint64_t base_mhz(const MachineConfig& machine);

}  // namespace nearwarp::config
