// State of an SM for clusters of thread blocks: where their blocks are, and its accesses to shared
// memory of others.
#pragma once

#include "device/core/channel.h"
#include "device/core/dispatch_messages.h"

namespace nearwarp::sm {

/// Accesses to shared memory of other SMs that are under way, at most (estimated).
inline constexpr uint32_t kMaxRemoteAccesses = 32;

/// A warp's access to shared memory of others, until the last of them has answered.
struct RemoteAccess {
  uint32_t pc = 0;
  uint32_t late = 0;      ///< cycles that bank conflicts, or the block's own mbarriers, cost
  uint8_t remaining = 0;  ///< blocks that have not answered
  uint8_t warp = 0;
  bool sent = false;  ///< to all of them
};

/// The cluster of the block in a block slot.
struct ClusterSlot {
  ClusterPlaces places;
  uint16_t number = 0;  ///< the cluster's, at the front end
  uint8_t rank = 0;
  bool used = false;        ///< the block is one of a cluster
  bool whole = false;       ///< none of its blocks was left out
  bool at_barrier = false;  ///< all its warps have come, and the front end knows, or will be told

  NW_HD ClusterMember member() const { return {number, rank}; }
};

/// The SM in the network of its GPC.
struct ClusterPort {
  Ref<Channel> requests_out, requests_in, replies_out, replies_in;
  Ref<Channel> copies_out, copies_in;  ///< lines that the copy engines send on (multicast.h)
  Ref<Endpoint> members;               ///< endpoints of the GPC's SMs, by place
  uint64_t lines_in = 0;               ///< that have come over `copies_in`
  RemoteAccess accesses[kMaxRemoteAccesses];
  uint32_t free_accesses = ~uint32_t{0};
  // For the operation at the load-store unit's head: the ranks that it has still to be sent to,
  // with lanes for each, or the events that it has still to tell others of, as bits, and its
  // number.
  uint32_t head_ranks = 0, head = 0;
  uint8_t head_lanes[kMaxClusterBlocks] = {};
};
static_assert(kMaxRemoteAccesses == 32);

}  // namespace nearwarp::sm
