// Declarations by which mechanisms tell the configuration their names, keys, mappings and rules.
// Each is made in the mechanism's own folder (keys.cpp there).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "host/config/claims.h"
#include "host/config/require.h"
#include "host/config/schema.h"
#include "host/config/shape.h"

namespace nearwarp::config {

/// A value of policy.mapping.
struct MappingChoice {
  std::string_view name;
  std::string_view doc;  ///< goes on behind "name: "
  /// Is it found out while a program begins, and kept to its end (host/timing/run/learning.h)?
  bool learnt = false;
  /// Why launches of a program cannot be simulated by themselves under it; empty: they can.
  std::string_view no_parts{};
  /// Does the SM that runs a thread block decide how far its data is away, whatever the dispatcher
  /// does? Where that SM is not known, parts of programs are off by much.
  bool follows_sms = false;
};

/// Something that a mechanism cannot do without on a machine.
struct Need {
  std::string_view what;  ///< goes on behind "needs": "an L2 in slices"
  /// Empty if the machine has it under the policy. Else "what is wrong - what would be right".
  std::string (*lack)(const MachineConfig&, const PolicyConfig&);
};

struct MechanismDeclaration {
  std::string_view name;  ///< in policy.mechanism
  std::string_view doc;   ///< goes on behind "name: "
  /// The mechanism whose keys and mappings it has, too (but for those with Key::alone); empty:
  /// none.
  std::string_view runs_on{};
  std::span<const MappingChoice> mappings{};
  bool own_mapping = false;  ///< one of these has to be chosen
  std::span<const Key<PolicyConfig>> keys{};
  /// Keys of machines, which have them where Key::shapes says so, whatever the policy.
  std::span<const Key<MachineConfig>> machine_keys{};
  std::span<const Need> needs{};
  std::span<const Claim> claims{};
  /// Does it decide by how busy the machine is at the moment? Then launches that do the same may
  /// take different times. Null: never.
  bool (*decides_by_load)(const PolicyConfig&) = nullptr;
  /// Rules between its keys, called for policies that name it; null: there are none.
  void (*check)(const PolicyConfig&, const Rules&) = nullptr;
  /// Rules of its keys of a machine, called for machines of every shape; null: there are none.
  void (*check_machine)(const MachineConfig&, const Rules&) = nullptr;
};

/// All mechanisms, in the order of the documentation. Defined beside them
/// (host/mechanisms/declarations.cpp), which know this folder.
std::span<const MechanismDeclaration* const> declared_mechanisms();

/// Throws nearwarp::Error if two mechanisms of the policy claim the same: it names both claims.
void check_claims(const PolicyConfig& policy, const Rules& rules);

/// Throws nearwarp::Error if the machine lacks what a mechanism of the policy needs. Where there
/// are several mechanisms it says what the others need.
void check_needs(const PolicyConfig& policy, const MachineConfig& machine);

/// For Need::lack: empty if the machine's shape `has` it.
std::string lack_of_shape(const MachineConfig& machine, bool (*has)(const Shape&));

/// MappingChoice::no_parts of the policy's mapping.
std::string_view why_no_parts(const PolicyConfig& policy);

/// MappingChoice::follows_sms of the policy's mapping.
bool follows_sms(const PolicyConfig& policy);

/// MechanismDeclaration::decides_by_load of any of the policy's mechanisms, and of those that these
/// run on.
bool decides_by_load(const PolicyConfig& policy);

/// Is the policy's mapping learnt?
bool learns_mapping(const PolicyConfig& policy);

/// The mechanisms that have a key, for messages: "mechanism a", "mechanisms a and b".
std::string takers(const Key<PolicyConfig>& key);

}  // namespace nearwarp::config
