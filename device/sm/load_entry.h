// Entries of loads while their lines are on their way.
#pragma once

#include <cstdint>

namespace nearwarp::sm {

/// A load or atomic in flight, or a load of constants whose lines are missing.
struct LoadEntry {
  uint32_t pc = 0;
  uint16_t remaining = 0;  ///< lines still to come
  uint8_t warp = 0;
  bool issued = false;  ///< all its lines have been looked up
  uint8_t segment = 0;  ///< of an asynchronous load: AsyncLoads
};

}  // namespace nearwarp::sm
