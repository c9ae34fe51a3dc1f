// Machines and policies: by name, file or text, and with changes.
#pragma once

#include <nearwarp/failure.h>
#include <nearwarp/texts.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nearwarp {

NEARWARP_API std::string version();
/// Machines and policies that have names: those of the installation, and of $NEARWARP_CONFIG_PATH.
NEARWARP_API std::vector<std::string> machine_names();
NEARWARP_API std::vector<std::string> policy_names();

/// The treatment of changes whose keys are those of the other kind of configuration.
enum class Foreign : uint8_t {
  kRefused,
  kPassedOver,  ///< they are meant for a machine's policies, or the policies' machine (`--set`)
};

/// A key of a machine or a policy.
struct Key {
  std::string name;   ///< dotted, e.g. "links.gpu_to_memory_mbps"
  std::string value;  ///< as TOML has it
  std::string unit;   ///< empty for counts, names and texts
  std::string doc;    ///< one sentence
  std::string range;  ///< what is allowed
  /// Where the value comes from: what its file says beside it ("TOM, Table 1", "estimated"), the
  /// standard that a timing is of, "changed", or "default". Empty where the file says nothing, and
  /// in texts.
  std::string source;
};

/// A machine's description.
class NEARWARP_API Machine {
 public:
  /// By name ("tom"), or by the path of a .toml file; `changes`: "key=value", the last one wins.
  static Expected<Machine> load(const std::string& name_or_path, Texts changes = {},
                                Foreign foreign = Foreign::kRefused);
  /// Reads the text of such a file; `name` stands in results and messages.
  static Expected<Machine> parse(const std::string& toml, const std::string& name = "machine",
                                 Texts changes = {});
  /// A machine that has more changes, all of them or none; this one stays as it is.
  Expected<Machine> with(Texts changes) const;

  const std::string& name() const;
  std::vector<Key> keys() const;
  /// A key's value as TOML has it.
  Expected<std::string> get(std::string_view key) const;
  /// Remarks that are no failures, such as clocks that were rounded; may be empty.
  std::string note() const;
  /// Has it stacks behind links that compute, which policies that offload need?
  bool computes_in_stacks() const;
  /// Keys of machines of all shapes, without values and sources.
  static std::vector<Key> all_keys();

  struct State;

 private:
  friend struct Access;
  std::shared_ptr<const State> state_;
};

/// A policy says what is computed near memory, and how.
class NEARWARP_API Policy {
 public:
  /// As those of Machine.
  static Expected<Policy> load(const std::string& name_or_path, Texts changes = {});
  static Expected<Policy> parse(const std::string& toml, const std::string& name = "policy",
                                Texts changes = {});
  /// Several that are to be compared. Each change is of those that have the key; a failure if none
  /// has.
  static Expected<std::vector<Policy>> load_all(Texts names_or_paths, Texts changes = {},
                                                Foreign foreign = Foreign::kRefused);
  Expected<Policy> with(Texts changes) const;

  const std::string& name() const;
  std::vector<Key> keys() const;
  Expected<std::string> get(std::string_view key) const;
  /// Why programs cannot be simulated in parts under it (BatchOptions::launches); empty: they can.
  std::string why_no_parts() const;
  static std::vector<Key> all_keys();  ///< with those of all mechanisms

  struct State;

 private:
  friend struct Access;
  std::shared_ptr<const State> state_;
};

}  // namespace nearwarp
