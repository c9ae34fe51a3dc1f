// How often a test of random values repeats itself.
#pragma once

#include <cstdint>

namespace nearwarp::testing {

/// All rounds in the optimised build; with a sanitizer a sixteenth, which reaches the same code.
/// For programs that are OPTIMISED (cmake/NearwarpTargets.cmake), whose values both builds compare.
constexpr uint32_t rounds(uint32_t all) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return all / 16;
#else
  return all;
#endif
}

}  // namespace nearwarp::testing
