// What the decoder keeps of a memory instruction for the race detector.
#pragma once

namespace nearwarp::racecheck {

struct AccessRules {
  bool strong = false;  ///< volatile, ordered or atomic
  bool acquire = false, release = false;
  bool block_scope = false;    ///< orders threads of one block only
  bool cluster_scope = false;  ///< of one cluster only
  bool async_copy = false;     ///< the write of a cp.async, or an arrival when such are done
};

}  // namespace nearwarp::racecheck
