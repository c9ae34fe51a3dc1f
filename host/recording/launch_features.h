// Features of a program's launches, computed from their traces. They do not depend on the machine,
// and determine the time of a launch on each.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

inline constexpr uint32_t kFeatureLineShift = 7;  ///< lines of 128 bytes
/// A line counts as fresh if so many other lines were used since its last use: two MiB, as much as
/// an L2 may hold (estimated).
inline constexpr uint32_t kFreshAfterLines = 16384;

/// The features of a launch. Memory is device memory, which includes local but not shared memory.
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

/// The features of all launches. Reads each distinct chunk of the traces once.
std::vector<LaunchFeatures> launch_features(const Recording& recording);

/// The features of pieces of launches, by launch and piece, as if each piece were a launch.
/// `bounds` has by launch the first thread block of each piece but the first, in ascending order;
/// it is empty for a launch of one piece.
std::vector<std::vector<LaunchFeatures>> features_of_pieces(
    const Recording& recording, const std::vector<std::vector<uint32_t>>& bounds);

}  // namespace nearwarp::runtime
