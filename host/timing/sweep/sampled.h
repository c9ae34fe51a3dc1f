// How sure speed-ups of sampled runs are.
#pragma once

#include <optional>

#include "host/timing/sweep/format.h"

namespace nearwarp::sweep {

/// Relative, at 95 % confidence, of a point's speed-up over its reference, which may be null;
/// nothing if there is no speed-up, none of the two is a sample, or the samples are of different
/// launches.
inline std::optional<double> speedup_error_of(const Summary* reference, const Summary& point) {
  if (reference == nullptr || reference == &point || !reference->complete() || !point.complete())
    return std::nullopt;
  if (!reference->sample && !point.sample) return std::nullopt;
  return report::ratio_error(reference->sample ? &*reference->sample : nullptr,
                             point.sample ? &*point.sample : nullptr);
}

}  // namespace nearwarp::sweep
