// The energy that MPU's cores take besides that of every core.
#include "host/mechanisms/mpu/report/energy.h"

namespace nearwarp::mpu {

std::span<const report::EnergyRule> energy_of_moves() {
  using report::EnergyPart;
  using report::EnergyScale;
  static constexpr std::string_view kMoves = "mpu.moves_near mpu.moves_far mpu.loaded_to_near";
  static constexpr report::EnergyRule kRules[] = {
      {EnergyPart::kSm, "moves.read", kMoves, "sm.register_read_fj", EnergyScale::kLanes},
      {EnergyPart::kSm, "moves.write", kMoves, "sm.register_write_fj", EnergyScale::kLanes},
  };
  return kRules;
}

}  // namespace nearwarp::mpu
