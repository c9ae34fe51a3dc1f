// State of an L2 slice where the L2 has two halves that keep copies of each other's lines
// (device/cache/l2_halves.h).
#pragma once

#include "device/core/channel.h"
#include "device/core/packet.h"
#include "device/core/types.h"

namespace nearwarp {

struct L2HalvesParams {
  Endpoint twin{};                  ///< the slice of the other half that the link leads to
  Endpoint far_begin{}, far_end{};  ///< endpoints of the other half's SMs
  uint16_t most = 0;                ///< requests to the twin under way; 0: no copies are kept
};

/// A request on its way to the twin through the pipeline.
struct L2Passing {
  Tick due = 0;
  Packet packet;
};

struct L2HalvesCounters {
  uint64_t far_reads = 0;  ///< requests to the twin for sectors of one line that were missing here
  uint64_t far_sectors = 0;         ///< sectors of these requests
  uint64_t far_fills = 0;           ///< answers to them
  uint64_t far_merges = 0;          ///< reads that joined one under way
  uint64_t far_hits = 0;            ///< reads of lines of the other half that were here
  uint64_t far_writes = 0;          ///< writes and atomics passed on to the twin
  uint64_t from_twin = 0;           ///< requests taken from the twin
  uint64_t invalidations_sent = 0;  ///< invalidations of copies of the twin's
  uint64_t copies_given_up = 0;     ///< copies that an invalidation of the twin's has removed
};

struct L2Halves {
  Ref<Channel> requests_in, requests_out, replies_in, replies_out;
  Ref<Channel> invalidations_in, invalidations_out;  ///< of copies
  Ref<L2Passing> passing;                            ///< a ring; count 0: there are no halves
  uint32_t head = 0, count = 0;
  uint32_t under_way = 0;   ///< requests to the twin that it has not answered
  uint32_t last_reply = 0;  ///< whose turn it was: a fill's, a hit's, or one that is passed on
  uint32_t last_input = 0;  ///< and: an SM's, or the twin's
  L2HalvesCounters counters;
};

}  // namespace nearwarp
