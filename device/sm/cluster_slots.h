// An SM's part in clusters of thread blocks: its port in the network of its GPC, and the clusters
// of its blocks.
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
/// The SM of the GPC on which a rank of the block's cluster runs.
template <class V>
NW_HD NW_INLINE Endpoint member_of(const V& v, uint32_t block, uint32_t rank) {
  return cluster_port(v).members.in(v.base)[cluster_slot(v, block).places.at(rank)];
}

/// Does the block get messages of the other blocks of its cluster? It does if all of them are
/// simulated, on SMs with a network.
template <class V>
NW_HD NW_INLINE bool hears_others(const V& v, uint32_t block) {
  return v.clusters() && cluster_slot(v, block).whole;
}

/// The slot of the block with this rank in cluster `number`; num_blocks if it is not on this SM.
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
