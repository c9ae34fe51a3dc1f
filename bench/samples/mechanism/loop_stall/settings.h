// How a policy sets the mechanism; keys.cpp says what each key means.
#pragma once

#include <cstdint>

namespace nearwarp::loop_stall {

/// [loop_stall]
struct Settings {
  uint32_t stall_cycles = 100;
};

}  // namespace nearwarp::loop_stall
