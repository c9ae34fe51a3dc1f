// TOM's host side: from its compiler pass to its part of a run's result.
#pragma once

#include <functional>
#include <vector>

#include "device/mechanisms/tuning/rounds.h"
#include "host/mechanisms/mechanism.h"
#include "host/mechanisms/tom/offload_tables.h"

namespace nearwarp::tom {

class TomMechanism final : public sim::Mechanism {
 public:
  std::string_view name() const override { return "tom"; }
  std::unique_ptr<sim::MechanismRun> prepare(const sim::RunSubject& subject, uint32_t number,
                                             sim::ImageTables& image) const override;
};

/// What tuned offloading (host/mechanisms/tuning) sets: by default nothing.
struct LoopTables {
  tuning::TuningParams params;
  std::vector<uint16_t> head_of;  ///< by instruction of the image; tuning::kNoHead: no loop's first
  std::vector<tuning::LoopHead> heads;
};
/// Makes them of the candidates, whose instructions it may mark with `mark`.
using Tune = std::function<LoopTables(uint8_t mark, OffloadTables& tables)>;

/// A run of TOM's offloading and mapping, tuned if `tune` is there.
std::unique_ptr<sim::MechanismRun> prepare_offloading(const sim::RunSubject& subject,
                                                      uint32_t number, sim::ImageTables& image,
                                                      const Tune& tune);

}  // namespace nearwarp::tom
