// Who shares a program's pages (CODA, Figure 3 and section 5.2).
#pragma once

#include <functional>

#include "host/config/machine.h"
#include "host/mechanisms/coda/report/page_sharing.h"
#include "host/recording/recording.h"

namespace nearwarp::coda {

/// Counts the pages of a recording by thread blocks and stacks. `progress(done, total)` launches;
/// returning false makes it throw nearwarp::Interrupted. Throws nearwarp::Error if the machine has
/// no memory stacks, a thread block does not fit on its SMs, or the traces are malformed.
PageSharing study_sharing(const runtime::Recording& recording, const config::MachineConfig& machine,
                          const std::function<bool(uint64_t, uint64_t)>& progress = {});

}  // namespace nearwarp::coda
