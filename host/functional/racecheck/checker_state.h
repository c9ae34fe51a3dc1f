// The detector's state of a resident thread block, and of the access it looks at.
#pragma once

#include <vector>

#include "host/functional/racecheck/checker.h"

namespace nearwarp::racecheck {

struct Checker::BlockState {
  static constexpr uint64_t kMostShared = uint64_t{64}
                                          << 20;  // any block's shared memory, bytewise
  uint64_t index = 0, cluster = 0;
  std::vector<WarpState> warps;
  Knowledge barriers[16];  ///< of those who have arrived
  Knowledge exited;

  Generation generations[16];  ///< by barrier

  Shadow shared{kMostShared};
  std::unique_ptr<WrittenBytes> written;  ///< of the shared memory; nullptr: unknown
  SyncPoints points;
  /// By address / 4 of an mbarrier: copies that have arrived there and were not waited for yet.
  std::unordered_map<uint64_t, std::vector<ArrivedCopy>> arrived;
  LateReads late;  ///< of the block's shared memory
  ProxyFences proxy_fences;
};

struct Checker::Now {
  WarpState& warp;
  BlockState& block;
  AccessRules rules{};
  Stamp stamp{};  ///< without lanes
  bool read = false, write = false;
  // Facts on the lane that is looked at:
  bool shared = false;
  const BlockState* owner = nullptr;  ///< of the shared memory
  bool leaves_no_trace = false;       ///< a read that is not remembered
  uint8_t told = 0;                   ///< kinds of hazards it has been told of
};

}  // namespace nearwarp::racecheck
