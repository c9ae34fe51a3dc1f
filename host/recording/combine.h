// Combines the recordings of programs that run on one machine at the same time into one.
#pragma once

#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// One recording of all `programs`. Each keeps the order of its launches and its addresses;
/// launches of different programs do not wait for each other. Throws nearwarp::Error for more than
/// kMaxPrograms.
Recording combine(std::vector<Recording> programs);

inline constexpr size_t kMaxPrograms = 16;  ///< as many as a system has address spaces

}  // namespace nearwarp::runtime
