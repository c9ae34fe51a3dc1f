// How a policy reads the paper.
#include "host/mechanisms/mpu/readings.h"

#include "host/mechanisms/mpu/settings.h"

namespace nearwarp::mpu {

Readings readings_of(const config::PolicyConfig& policy) {
  const Settings& mpu = policy.table<Settings>();
  return {mpu.shared_memory == "near" ? SharedMemory::kNear : SharedMemory::kFar,
          mpu.near_operations == "all", mpu.both_spreads};
}

}  // namespace nearwarp::mpu
