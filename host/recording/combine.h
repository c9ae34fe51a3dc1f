// Several programs that run on one machine at the same time.
#pragma once

#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// The recordings of programs as one. Each program keeps its order of launches and its addresses;
/// between programs there is no order. Throws nearwarp::Error for more than kMaxPrograms.
Recording combine(std::vector<Recording> programs);

inline constexpr size_t kMaxPrograms = 16;  ///< address spaces of a system

}  // namespace nearwarp::runtime
