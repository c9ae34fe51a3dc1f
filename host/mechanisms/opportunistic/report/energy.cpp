// The energy that offload and service queues take.
#include "host/mechanisms/opportunistic/report/energy.h"

namespace nearwarp::opportunistic {

std::span<const report::EnergyRule> energy_of_queues() {
  using report::EnergyPart;
  using report::EnergyScale;
  static constexpr report::EnergyRule kRules[] = {
      {EnergyPart::kSm, "chains.queues", "chains.queue_accesses", "sm.queue_fj",
       EnergyScale::kEvents},
      {EnergyPart::kSm, "chains.buffer_read", "chains.buffered_lines", "sm.register_read_fj",
       EnergyScale::kLanes},
      {EnergyPart::kSm, "chains.buffer_write", "chains.buffered_lines", "sm.register_write_fj",
       EnergyScale::kLanes},
  };
  return kRules;
}

}  // namespace nearwarp::opportunistic
