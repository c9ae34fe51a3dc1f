// Tuned offloading of loops to memory stacks, on TOM's protocol: run-time adaptation and aggressive
// loop offloading.
//
// Source: Y. Wu et al., "Tuning Applications for Efficient GPU Offloading to In-Memory Processing",
// ICS 2020.
#pragma once

#include "host/mechanisms/mechanism.h"

namespace nearwarp::tuning {

class TuningMechanism final : public sim::Mechanism {
 public:
  std::string_view name() const override { return "tuning"; }
  /// Requests, acknowledgements, mapping of data are TOM's; what is its own are settings of them.
  std::string_view runs_on() const override { return "tom"; }
  std::unique_ptr<sim::MechanismRun> prepare(const sim::RunSubject& subject, uint32_t number,
                                             sim::ImageTables& image) const override;
};

}  // namespace nearwarp::tuning
