// Programs that are bound to memory stacks: their thread blocks run there, and their pages lie
// there.
#pragma once

#include <cstdint>
#include <string>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

inline constexpr uint32_t kMaxBoundStacks = 32;

/// A program's name and the stacks after it.
struct BoundName {
  std::string name;
  uint32_t stacks = 0;  ///< as bits; 0: all of the machine's
};

/// Takes "kmeans@0" (stack 0) and "kmeans@1-3" (stacks 1 to 3) apart; without "@" a program has all
/// stacks. Throws nearwarp::Error if what follows the last "@" is neither.
BoundName bound_name(const std::string& text);

/// As bound_name() reads it: "", "@0", "@1-3".
std::string binding_text(uint32_t stacks);

/// Binds a recording of one program to `stacks`, and says so in its name; 0 does nothing.
void bind(Recording& recording, uint32_t stacks);

/// The stacks of an application, as bits; 0: all.
inline uint32_t stacks_of(const Recording& recording, uint32_t application) {
  return application < recording.bound_stacks.size() ? recording.bound_stacks[application] : 0;
}

}  // namespace nearwarp::runtime
