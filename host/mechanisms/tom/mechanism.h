// TOM's host side: from its compiler pass to its part of a run's result.
#pragma once

#include "host/mechanisms/mechanism.h"

namespace nearwarp::tom {

class TomMechanism final : public sim::Mechanism {
 public:
  std::string_view name() const override { return "tom"; }
  std::unique_ptr<sim::MechanismRun> prepare(const sim::RunSubject& subject, uint32_t number,
                                             sim::ImageTables& image) const override;
};

}  // namespace nearwarp::tom
