// Costs of simulating a program's launches.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// Lines of warps' accesses cost as much as so many warp-instructions: least, usually and most, by
/// what the machine does with them (estimated, from host instructions of kmeans on tom, where it is
/// 1, and of bfs-rmat on coda, where it is 2.3).
inline constexpr double kTransactionCosts[] = {1, 1.5, 2.3};

/// By launch, what simulating it costs the host beside others, in warp-instructions of a kernel
/// that hardly uses memory; from the traces of one thread block in eight.
std::vector<uint64_t> launch_costs(const Recording& recording,
                                   double transaction_costs = kTransactionCosts[1]);

}  // namespace nearwarp::runtime
