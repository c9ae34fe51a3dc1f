// TOM's host side: from its compiler pass to its part of a run's result.
#pragma once

#include <functional>

#include "host/mechanisms/mechanism.h"
#include "host/mechanisms/tom/loop_tables.h"

namespace nearwarp::tom {

class TomMechanism final : public sim::Mechanism {
 public:
  std::string_view name() const override { return "tom"; }
  std::unique_ptr<sim::MechanismRun> prepare(const sim::RunSubject& subject, uint32_t number,
                                             sim::ImageTables& image) const override;
};

/// Makes loop tables of the candidates, whose instructions it may mark with `mark`.
using Tune = std::function<LoopTables(uint8_t mark, OffloadTables& tables)>;

/// A run of TOM's offloading and mapping, with decisions in rounds and what else `tune` sets, if it
/// is there.
std::unique_ptr<sim::MechanismRun> prepare_offloading(const sim::RunSubject& subject,
                                                      uint32_t number, sim::ImageTables& image,
                                                      const Tune& tune);

}  // namespace nearwarp::tom
