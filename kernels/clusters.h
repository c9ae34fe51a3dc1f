// Clusters: components that are connected by channels shorter than the machine's window.
//
// The members of a cluster belong to one thread, or one warp of a team, which steps them through
// the machine's window in windows of the cluster's own: as long as its shortest channel, each
// beginning at the cluster's earliest next event. So the machine's window need only be as long as
// the shortest channel that leaves a cluster. Host only.
#pragma once

#include <span>

#include "kernels/kinds.h"

namespace nearwarp::kernels {

/// Find all windows from the latencies of channels and of their credits. Sets the cluster window of
/// each component, and returns the machine's window, both in ticks. Channel::producer and
/// ::consumer are positions in `components`. Throws std::invalid_argument for a latency of 0, and
/// for a front end in a cluster (it stands apart, since backends look at it between windows).
Tick set_windows(std::span<Component> components, std::span<const Channel* const> channels);

}  // namespace nearwarp::kernels
