// Exchange between the lanes of a warp: shuffles and votes.
#pragma once

#include "host/functional/instructions/lanes.h"

namespace nearwarp::exec {

enum class Shuffle : uint8_t { kUp, kDown, kButterfly, kIndex };
enum class Vote : uint8_t { kAll, kAny, kUniform, kBallot };

/// The lane that lane `i` reads with operands `b` and `c` of shfl (PTX ISA 9.0, section 9.7.9.6);
/// false if that is out of range: it then reads its own.
NW_HD NW_INLINE bool shuffle_source(Shuffle mode, uint32_t i, uint32_t b, uint32_t c,
                                    uint32_t* from) {
  const uint32_t delta = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const uint32_t highest = (i & segment) | (clamp & ~segment);
  const uint32_t lowest = i & segment;
  switch (mode) {
    case Shuffle::kUp:
      *from = i - delta;
      return static_cast<int32_t>(*from) >= static_cast<int32_t>(highest);
    case Shuffle::kDown:
      *from = i + delta;
      return *from <= highest;
    case Shuffle::kButterfly:
      *from = i ^ delta;
      return *from <= highest;
    case Shuffle::kIndex:
      break;
  }
  *from = lowest | (delta & ~segment);
  return *from <= highest;
}

/// shfl.sync. Returns the predicate: lanes whose source is in range.
NW_HD inline uint32_t shuffle(uint8_t* rows, const Op& op, uint32_t mask) {
  const uint32_t* b = row<uint32_t>(rows, op.b);
  const uint32_t* c = row<uint32_t>(rows, op.c);
  uint32_t* d = row<uint32_t>(rows, op.d);
  uint32_t a[kLanes];
  const uint32_t* source = row<uint32_t>(rows, op.a);
  for (uint32_t i = 0; i < kLanes; ++i) a[i] = source[i];
  const Shuffle mode = static_cast<Shuffle>(op.imm & 3);
  uint32_t in_range = 0;
  uint32_t result[kLanes];
  for (uint32_t i = 0; i < kLanes; ++i) {
    uint32_t from = i;
    const bool ok = shuffle_source(mode, i, b[i], c[i], &from);
    result[i] = a[ok ? from & 31 : i];
    in_range |= static_cast<uint32_t>(ok) << i;
  }
  for (uint32_t i = 0; i < kLanes; ++i) d[i] = (mask >> i & 1) ? result[i] : d[i];
  return in_range;
}

/// The lanes of `among` that have `value` in row `r`.
NW_HD NW_INLINE uint32_t lanes_with(uint8_t* rows, uint16_t r, uint32_t value, uint32_t among) {
  const uint32_t* values = row<uint32_t>(rows, r);
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < kLanes; ++i) lanes |= static_cast<uint32_t>(values[i] == value) << i;
  return lanes & among;
}

/// Value of a vote among `voters` of which `yes` vote yes.
NW_HD NW_INLINE uint32_t vote(Vote mode, uint32_t yes, uint32_t voters) {
  switch (mode) {
    case Vote::kAll:
      return (yes & voters) == voters ? kFullMask : 0;
    case Vote::kAny:
      return (yes & voters) != 0 ? kFullMask : 0;
    case Vote::kUniform:
      return (yes & voters) == voters || (yes & voters) == 0 ? kFullMask : 0;
    default:
      return yes & voters;
  }
}

}  // namespace nearwarp::exec
