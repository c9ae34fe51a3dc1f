// The clock of the rigs here.
#pragma once

#include <cstdint>

namespace nearwarp::testing {

inline constexpr uint32_t kPeriod = 10;  ///< ticks in a cycle

}  // namespace nearwarp::testing
