// An SM's part in clusters of thread blocks: its port in the network of its GPC, and what is known
// of its blocks' clusters.
#pragma once

#include "device/core/bits.h"
#include "device/sm/clusters_state.h"

namespace nearwarp::sm {

template <class V>
NW_HD NW_INLINE ClusterPort& cluster_port(const V& v) {
  return *v.s.cluster.in(v.base);
}
template <class V>
NW_HD NW_INLINE ClusterSlot& cluster_slot(const V& v, uint32_t block) {
  return v.s.cluster_slots.in(v.base)[block];
}
/// The other SM of the GPC on which a rank of the block's cluster is.
template <class V>
NW_HD NW_INLINE Endpoint member_of(const V& v, uint32_t block, uint32_t rank) {
  return cluster_port(v).members.in(v.base)[cluster_slot(v, block).places.at(rank)];
}

/// Does the block hear of what others of its cluster do? All of them are there then, and have a
/// network.
template <class V>
NW_HD NW_INLINE bool hears_others(const V& v, uint32_t block) {
  return v.clusters() && cluster_slot(v, block).whole;
}

/// The slot of a rank of a cluster, by the cluster's number; the number of slots if it is not here.
template <class V>
NW_HD NW_CALLED uint32_t slot_of_rank(const V& v, uint32_t number, uint32_t rank) {
  uint32_t block = 0;
  for (; block < v.p.num_blocks; ++block) {
    const ClusterSlot& slot = cluster_slot(v, block);
    if (v.blocks[block].used && slot.used && slot.number == number && slot.rank == rank) break;
  }
  return block;
}

}  // namespace nearwarp::sm
