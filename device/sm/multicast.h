// Lines of boxes for several blocks of a cluster.
//
// A box is read once, by the SM that asks for it. The reply of the GPU's network is taken to be
// copied in the GPC (estimated; no source tells how): each line goes on to the other SMs over a
// network of the GPC for it, a copy a cycle, and into each of them at an SM's share of a port of
// the GPU's network. Of several boxes that one asked for first goes before, as soon as it has a
// line (estimated). What is counted at the L2 and in the GPU's network is one line; what the GPC's
// network carries is one for each of the others. Behind the last line each of them has its mbarrier
// told, the block's own as soon as that line has come.
#pragma once

#include "device/sm/copies.h"

namespace nearwarp::sm {

/// The first thread block of a block's cluster, by which clusters of all launches are told apart.
template <class V>
NW_HD NW_INLINE uint32_t first_of_cluster(const V& v, uint32_t block) {
  return v.blocks[block].thread_block - cluster_slot(v, block).rank;
}

/// Is a line for the cluster that has the number now, or is its block no longer here?
/// The front end gives a cluster's number away when all of its blocks have ended. The last lines of
/// a block that did not wait for them may be under way then; they have come when a block of the
/// next cluster with the number begins, to which they would seem to belong.
template <class V>
NW_HD NW_INLINE bool is_of_cluster(const V& v, const SharedLine& line) {
  const uint32_t block = slot_of_rank(v, line.to.cluster, line.to.rank);
  return block == v.p.num_blocks || first_of_cluster(v, block) == line.first_block;
}

/// The box that was asked for first of those that have something to send on.
template <class V>
NW_HD NW_CALLED uint32_t oldest_to_share(const V& v) {
  const SharedBox* const shared = v.s.shared_boxes.in(v.base);
  uint32_t oldest = count_trailing_zeros(v.s.boxes_to_share);
  for (uint32_t m = v.s.boxes_to_share; m != 0; m &= m - 1) {
    const uint32_t index = count_trailing_zeros(m);
    // Numbers begin anew at 2^32, between two of which never so many boxes are under way.
    if (static_cast<int32_t>(shared[index].number - shared[oldest].number) < 0) oldest = index;
  }
  return oldest;
}

/// Send on a line of a box, to the next of those who want it.
template <class V>
NW_HD NW_CALLED void share_step(V& v, uint32_t now) {
  const ClusterPort& c = cluster_port(v);
  Channel& out = *c.copies_out.in(v.base);
  if (!can_send(out, v.base, v.tick(now))) return;
  const uint32_t index = oldest_to_share(v);
  SharedBox& shared = v.s.shared_boxes.in(v.base)[index];
  const Box& b = copy_engine(v).boxes[index];
  const bool complete = b.lines == 0 && b.all_sent;
  if (shared.left == 0) {
    shared.left = shared.ranks;
    shared.last = complete && shared.lines <= 1;
  }
  const uint32_t rank = count_trailing_zeros(shared.left);
  const uint32_t block = v.warps[b.warp].block_slot;
  Packet p;
  p.src = v.s.endpoint;
  p.dst = member_of(v, block, rank);
  SharedLine line;
  line.to = {cluster_slot(v, block).number, rank};
  line.first_block = first_of_cluster(v, block);
  line.event = shared.last ? shared.events[rank] : 0;
  line.lines = shared.lines != 0 ? 1 : 0;
  line.put(p);
  p.bytes = static_cast<uint16_t>(shared.lines != 0 ? v.p.grid.line_bytes() : 1);
  send(out, v.base, v.tick(now), p, v.horizon);
  shared.left = static_cast<uint16_t>(shared.left & (shared.left - 1));
  if (shared.left != 0) return;
  if (shared.lines != 0) shared.lines -= 1;
  if (shared.lines != 0 || (complete && !shared.last)) return;
  v.s.boxes_to_share &= ~(1u << index);
  if (shared.last) end_box(v, index, now);
}

/// Take a line that another SM sends on.
template <class V>
NW_HD NW_CALLED void receive_line(V& v, uint32_t now) {
  ClusterPort& c = cluster_port(v);
  Channel& in = *c.copies_in.in(v.base);
  const Tick tick = v.tick(now);
  if (!has_packet(in, v.base, tick)) return;
  const SharedLine line = SharedLine::of(front(in, v.base));
  pop(in, v.base, tick, v.horizon);
  c.lines_in += line.lines;
  NW_ASSERT(is_of_cluster(v, line));
  if (line.event != 0) arrive_from_other(v, line.event, line.to, now);
}

}  // namespace nearwarp::sm
