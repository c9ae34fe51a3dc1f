// Target architectures of device code, and the devices that run it. Source: "Virtual Architecture
// Feature List" and "GPU Feature List" of nvcc's documentation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nearwarp::cudart {

/// compute_90, compute_90a, sm_100f, ...
struct CodeTarget {
  uint32_t architecture = 0;  ///< compute capability times ten
  char variant = '\0';  ///< 'a': only this architecture, 'f': its family, '\0': later ones, too
  bool operator==(const CodeTarget&) const = default;
  /// "sm_90a"
  [[nodiscard]] std::string name() const;
};

/// The inverse of name(); nullopt for other texts.
std::optional<CodeTarget> parse_target(std::string_view name);

/// Would a driver compile PTX of this target for a device of `capability` (times ten)?
bool ptx_runs_on(const CodeTarget& target, uint32_t capability);
/// Does a device of `capability` execute machine code of this target?
bool machine_code_runs_on(const CodeTarget& target, uint32_t capability);

/// Is `a` nearer to the device than `b`, if both run there?
bool nearer(const CodeTarget& a, const CodeTarget& b);

}  // namespace nearwarp::cudart
