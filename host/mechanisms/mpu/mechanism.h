// MPU: instructions and registers near the banks.
//
// Source: X. Xie et al., "MPU: Towards Bandwidth-abundant SIMT Processor via Near-bank Computing".
#pragma once

#include "host/mechanisms/mechanism.h"

namespace nearwarp::mpu {

class MpuMechanism final : public sim::Mechanism {
 public:
  std::string_view name() const override { return "mpu"; }
  std::unique_ptr<sim::MechanismRun> prepare(const sim::RunSubject& subject, uint32_t number,
                                             sim::ImageTables& image) const override;
};

}  // namespace nearwarp::mpu
