// The area that MPU adds to the dies of a processor (section VI-B): an analytical report, from a
// machine, a policy and the areas of single parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/config/area.h"
#include "host/config/machine.h"
#include "host/config/policy.h"

namespace nearwarp::mpu {

enum class Die : uint8_t { kDram, kLogic };

/// One kind of part of a processor.
struct AreaPart {
  Die die = Die::kDram;
  const char* name = "";
  const char* of = "";  ///< what has one: "core", "unit", "subcore"
  uint64_t count = 0;   ///< in a processor
  uint64_t nm2 = 0;     ///< of one, on its die
  uint64_t total_nm2() const { return count * nm2; }
};

struct AreaReport {
  std::vector<AreaPart> parts;  ///< those of DRAM dies first
  uint64_t dram_nm2 = 0;        ///< all DRAM dies of a processor
  uint64_t logic_nm2 = 0;       ///< its logic die
  uint64_t added_nm2(Die die) const;
  /// The share of the dies' area, 0 to 1 (more, if it does not fit).
  double share(const AreaPart& part) const;
  double share(Die die) const;
};

/// Throws nearwarp::Error if the machine has no processors below their memory, or the policy
/// nothing near the banks.
AreaReport area_of(const config::MachineConfig& machine, const config::PolicyConfig& policy,
                   const config::AreaConfig& area);

/// As a table of 80 columns, and as a document "nearwarp.area/1".
std::string area_text(const AreaReport& report);
std::string area_json(const AreaReport& report, const config::MachineConfig& machine,
                      const config::PolicyConfig& policy, const config::AreaConfig& area);

}  // namespace nearwarp::mpu
