// Binding of programs to memory stacks: thread blocks of a bound program run in its stacks, and its
// pages lie there.
#pragma once

#include <cstdint>
#include <string>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

inline constexpr uint32_t kMaxBoundStacks = 32;

/// A program's name and the stacks after it.
struct BoundName {
  std::string name;
  uint32_t stacks = 0;  ///< as bits; 0: all stacks of the machine
};

/// Parses "kmeans@0" (stack 0) or "kmeans@1-3" (stacks 1 to 3). Without "@" a program has all
/// stacks. Throws nearwarp::Error if the text behind the last "@" is neither.
BoundName bound_name(const std::string& text);

/// The inverse of bound_name() for the stacks alone: "", "@0" or "@1-3".
std::string binding_text(uint32_t stacks);

/// Binds a recording of one program to `stacks` and appends them to its name; 0 does nothing.
void bind(Recording& recording, uint32_t stacks);

/// The stacks that an application is bound to, as bits; 0: all.
inline uint32_t stacks_of(const Recording& recording, uint32_t application) {
  return application < recording.bound_stacks.size() ? recording.bound_stacks[application] : 0;
}

}  // namespace nearwarp::runtime
