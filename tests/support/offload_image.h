// A program's image with TOM's side tables.
#pragma once

#include "host/mechanisms/tom/loop_tables.h"

namespace nearwarp::testing {

struct OffloadImage : sim::ImageTables {
  tom::OffloadTables offload;

  OffloadImage(const runtime::Recording& recording, const config::MachineConfig& machine,
               const config::PolicyConfig& policy)
      : ImageTables(sim::build_image(recording, machine)),
        offload(tom::build_offload_tables(recording, machine, policy, *this)) {
    if (policy.mechanism == "tom") tom::toms_loops(recording, machine, policy, 1, offload, *this);
    tom::mark_candidates(offload, 1, *this);
  }
};

}  // namespace nearwarp::testing
