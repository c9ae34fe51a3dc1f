// Estimates the cost of simulating a program's launches, from their traces.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// The cost of a memory transaction (a line of a warp's access) in warp-instructions: the least,
/// the usual and the largest one. It depends on the machine (estimated from host instructions of
/// kmeans on tom, where it is 1, and of bfs-rmat on coda, where it is 2.3).
inline constexpr double kTransactionCosts[] = {1, 1.5, 2.3};

/// By launch, the cost of simulating it, in warp-instructions of a kernel that hardly uses memory.
/// Only the traces of one thread block in eight are read.
std::vector<uint64_t> launch_costs(const Recording& recording,
                                   double transaction_costs = kTransactionCosts[1]);

}  // namespace nearwarp::runtime
