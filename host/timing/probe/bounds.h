// Bounds on the bandwidth of a machine's wires and buses, by its configuration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/config/machine.h"

namespace nearwarp::probe {

/// The narrowest part of a way, packet headers and what protocols cost apart.
struct Bound {
  double gigabytes_per_second = 0;  ///< 0: nothing is known to bound it
  std::string part;
};

/// Data moves towards the SMs, away from them, or both ways, half of it each.
enum class Flow : uint8_t { kRead, kWrite, kCopy };

/// Parts of a way between SMs and data.
class Way {
 public:
  /// One that has as much in each direction.
  Way& wires(double gigabytes_per_second, std::string part);
  /// One that serves both directions.
  Way& bus(double gigabytes_per_second, std::string part);
  /// The bound of the way's narrowest part.
  Bound bound(Flow flow) const;

 private:
  struct Part {
    double gigabytes_per_second;
    bool both_ways;
    std::string name;
  };
  std::vector<Part> parts_;
};

/// The way of `sms` main SMs to their L1s.
Way way_to_l1(const config::MachineConfig& machine, uint32_t sms);
/// The way of `sms` main SMs, in order, to the L2.
Way way_to_l2(const config::MachineConfig& machine, uint32_t sms);
/// The way of `sms` main SMs, in order, to all memory.
Way way_to_memory(const config::MachineConfig& machine, uint32_t sms);
/// The way of SMs in `stacks` stacks (or cores below so many banks), `sms` of them, to their own
/// stack.
Way way_to_own(const config::MachineConfig& machine, uint32_t stacks, uint32_t sms);
/// The way of near-bank units of `sms` cores to the banks behind them, where an access takes
/// `access_bytes` of TSVs for each line.
Way way_to_near_banks(const config::MachineConfig& machine, uint32_t sms, uint32_t access_bytes);
/// The way of SMs in stacks to one other stack (or above another processor's cores).
Way way_to_other(const config::MachineConfig& machine, uint32_t stacks, uint32_t sms);

}  // namespace nearwarp::probe
