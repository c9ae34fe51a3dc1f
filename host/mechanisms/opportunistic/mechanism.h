// Opportunistic computing: LLC-Compute.
//
// Source: A. Pattnaik et al., "Opportunistic Computing in GPU Architectures", ISCA 2019.
#pragma once

#include "host/mechanisms/mechanism.h"

namespace nearwarp::opportunistic {

class OpportunisticMechanism final : public sim::Mechanism {
 public:
  std::string_view name() const override { return "opportunistic"; }
  bool moves_instructions() const override { return true; }
  std::unique_ptr<sim::MechanismRun> prepare(const sim::RunSubject& subject, uint32_t number,
                                             sim::ImageTables& image) const override;
};

}  // namespace nearwarp::opportunistic
