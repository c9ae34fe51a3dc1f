// Features of a program's launches, as their traces tell: whatever machine runs them, the time that
// they take follows from these.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

inline constexpr uint32_t kFeatureLineShift = 7;  ///< lines of 128 bytes
/// Lines that launches use from one use of a line to the next, beyond which it counts as fresh:
/// two MiB of them, as much as an L2 may hold (estimated).
inline constexpr uint32_t kFreshAfterLines = 16384;

/// One launch's features. Memory is that of the device: local memory is, shared memory is not.
struct LaunchFeatures {
  uint64_t warp_instructions = 0, thread_instructions = 0;
  uint64_t thread_blocks = 0;
  uint64_t warps = 0;
  uint64_t transactions = 0;   ///< lines of warps' accesses, those of lanes in a row once
  uint64_t sectors = 0;        ///< of 32 bytes, of these lines
  uint64_t lines = 0;          ///< different ones
  uint64_t fresh_lines = 0;    ///< of these, those not used for long, or never
  uint64_t longest_block = 0;  ///< most warp-instructions of a thread block, where pieces are known
};

/// By launch. Reads all traces once, and of chunks that are there several times the first.
std::vector<LaunchFeatures> launch_features(const Recording& recording);

/// By launch and piece of it, as if each were a launch. `bounds`: by launch, the first thread block
/// of each piece but the first, in ascending order; none: it is one piece.
std::vector<std::vector<LaunchFeatures>> features_of_pieces(
    const Recording& recording, const std::vector<std::vector<uint32_t>>& bounds);

}  // namespace nearwarp::runtime
