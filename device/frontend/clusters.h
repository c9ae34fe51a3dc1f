// Clusters of thread blocks at the dispatcher.
//
// A cluster begins when one GPC has room for all of its blocks [CUDA programming guide: they are
// guaranteed to run on one GPC at the same time], which then is theirs: ranks get SMs in turns. A
// GPC begins the next cluster when all blocks of the one before have been sent, one to an SM and
// cycle; of several GPCs each may begin one in a cycle (estimated).
//
// Barriers of clusters meet here, too: each block's SM says when its warps have come, and all are
// told when the last one has. So they take two ways of control messages (estimated).
#pragma once

#include "device/frontend/mechanisms.h"

namespace nearwarp::frontend::clusters {

template <class V>
NW_HD inline ClusterState& cluster(V& v, uint32_t i) {
  return v.s.dispatch.clusters.in(v.base)[i];
}
template <class V>
NW_HD inline Gpc& gpc(V& v, uint32_t i) {
  return v.s.dispatch.gpcs.in(v.base)[i];
}

/// The ranks of the cluster that an SM has not been sent.
NW_HD inline uint32_t unsent_to(const ClusterState& c, SmId sm) {
  uint32_t ranks = 0;
  for (uint32_t m = c.unsent; m != 0; m &= m - 1) {
    const uint32_t rank = count_trailing_zeros(m);
    if (c.sm[rank] == sm) ranks |= 1u << rank;
  }
  return ranks;
}

/// May an SM be sent a block of that launch's open cluster?
template <class V>
NW_HD inline bool takes(V& v, SmId sm, uint32_t launch) {
  const uint16_t open = gpc(v, v.s.dispatch.rooms.in(v.base)[number_of(sm)].gpc).open;
  if (open == kNoCluster) return false;
  const ClusterState& c = cluster(v, open);
  return c.launch == launch && unsent_to(c, sm) != 0;
}

/// The number of thread blocks with these needs that fit into what is free, up to `most`.
NW_HD inline uint32_t fitting(sm::SmResources free, const sm::SmResources& needs, uint32_t most) {
  uint32_t n = 0;
  for (; n < most && free.holds(needs); ++n) free.take(needs);
  return n;
}

/// Let a cluster of a launch begin on GPC `g`: the blocks from `first` on, ranks from `rank` on.
/// `alone`: an SM holds blocks of one launch at a time. Returns false if there is no room.
template <class V>
NW_HD NW_APART inline bool open(V& v, uint32_t g, uint32_t launch, uint32_t first, uint32_t rank) {
  DispatchState& d = v.s.dispatch;
  const LaunchInfo& info = v.system.image.launches[launch];
  SmRoom* const rooms = d.rooms.in(v.base);
  Gpc& own = gpc(v, g);
  const auto may_take = [&](const SmRoom& room) {
    return (!v.p.dispatch.one_at_a_time || room.blocks == 0 || room.launch == launch) &&
           room.may_run(info);
  };
  const uint32_t wanted = info.cluster - rank;
  uint32_t fits = 0;
  for (uint32_t i = 0; i < own.count && fits < wanted; ++i) {
    const SmRoom& room = rooms[number_of(own.sms[i])];
    if (may_take(room)) fits += fitting(room.free, info.needs, wanted - fits);
  }
  if (fits < wanted) return false;
  own.open = d.free_cluster;
  ClusterState& c = cluster(v, own.open);
  d.free_cluster = c.next_free;
  c = ClusterState{};
  c.launch = launch;
  c.first = first;
  for (uint32_t at = own.next; rank < info.cluster; at = at + 1 == own.count ? 0 : at + 1) {
    SmRoom& room = rooms[number_of(own.sms[at])];
    if (!may_take(room) || !room.free.holds(info.needs)) continue;
    room.free.take(info.needs);
    room.blocks += 1;
    room.launch = launch;
    c.sm[rank] = own.sms[at];
    c.places.set(rank, at);
    c.unsent |= 1u << rank;
    own.next = static_cast<uint16_t>(at + 1 == own.count ? 0 : at + 1);
    rank += 1;
  }
  c.live = c.unsent;
  return true;
}

/// Take the next block of the open cluster for an SM.
template <class V>
NW_HD inline void take(V& v, SmId sm, LaunchBlock& block) {
  Gpc& own = gpc(v, v.s.dispatch.rooms.in(v.base)[number_of(sm)].gpc);
  ClusterState& c = cluster(v, own.open);
  const uint32_t rank = count_trailing_zeros(unsent_to(c, sm));
  block.places = c.places;
  block.cluster = own.open;
  block.block = c.first + rank;
  c.unsent &= ~(1u << rank);
  if (c.unsent == 0) {
    own.open = kNoCluster;
    v.s.dispatch.cluster_sent = true;
  }
}

/// Lets the cluster's blocks go on if all that have not ended wait at its barrier.
template <class V>
NW_HD inline void try_barrier(V& v, ClusterState& c) {
  if (c.live == 0 || (c.at_barrier & c.live) != c.live) return;
  c.at_barrier = 0;
  const LaunchInfo& info = v.system.image.launches[c.launch];
  for (uint32_t m = c.live; m != 0; m &= m - 1) {
    const uint32_t rank = count_trailing_zeros(m);
    post(v, c.sm[rank], PacketKind::kPassClusterBarrier, info.first_block + c.first + rank);
  }
}

/// All warps of a block have come to the barrier of its cluster.
template <class V>
NW_HD inline void at_barrier(V& v, ClusterMember m) {
  ClusterState& c = cluster(v, m.cluster);
  c.at_barrier |= 1u << m.rank;
  try_barrier(v, c);
}

/// A block of a cluster has ended: the others no longer wait for it.
template <class V>
NW_HD inline void leave(V& v, ClusterMember m) {
  DispatchState& d = v.s.dispatch;
  ClusterState& c = cluster(v, m.cluster);
  c.live &= ~(1u << m.rank);
  c.at_barrier &= ~(1u << m.rank);
  try_barrier(v, c);
  if (c.live != 0) return;
  c.launch = kNoLaunch;
  c.next_free = d.free_cluster;
  d.free_cluster = static_cast<uint16_t>(m.cluster);
}

}  // namespace nearwarp::frontend::clusters
