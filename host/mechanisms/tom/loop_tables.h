// Where the loops of candidates begin, and how a run uses that: decisions in every round, and what
// tuned offloading (host/mechanisms/tuning) does besides.
#pragma once

#include <vector>

#include "device/mechanisms/tuning/rounds.h"
#include "host/mechanisms/tom/offload_tables.h"
#include "host/mechanisms/tom/pass/loop_heads.h"

namespace nearwarp::tom {

struct LoopTables {
  tuning::TuningParams params;    ///< off: candidates are decided on when a warp comes to them
  std::vector<uint16_t> head_of;  ///< by instruction of the image; tuning::kNoHead: no loop's first
  std::vector<tuning::LoopHead> heads;
};

/// Find the loops of the candidates of `tables`, mark their first instructions with `mark`
/// (sm::ImageInstr::marks), note in `tables` which candidates have any and, if `params` wants
/// rounds to be instances, where these begin.
LoopTables find_loops(const runtime::Recording& recording, const tuning::TuningParams& params,
                      compiler::LoopChoice choice, uint8_t mark, OffloadTables& tables,
                      sim::ImageTables& image);

/// The tables of TOM's own policies (offload.decide): section 5.2 has a candidate's begin PC at the
/// target of the backward branch, which a warp meets in every round. Without loops where decisions
/// are made on entry.
LoopTables toms_loops(const runtime::Recording& recording, const config::MachineConfig& machine,
                      const config::PolicyConfig& policy, uint8_t mark, OffloadTables& tables,
                      sim::ImageTables& image);

}  // namespace nearwarp::tom
