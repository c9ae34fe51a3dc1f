// Tuned offloading for a policy and a program: settings and side tables of loops.
#pragma once

#include "host/config/policy.h"
#include "host/mechanisms/tom/mechanism.h"

namespace nearwarp::tuning {

/// Find the loops of the candidates of `tables`, mark their first instructions with `mark`
/// (sm::ImageInstr::marks), note in `tables` which candidates have any.
tom::LoopTables set_up(const runtime::Recording& recording, const config::PolicyConfig& policy,
                       uint8_t mark, tom::OffloadTables& tables, sim::ImageTables& image);

}  // namespace nearwarp::tuning
