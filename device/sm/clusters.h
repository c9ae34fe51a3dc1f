// Clusters of thread blocks on an SM: shared memory of other blocks, and barriers.
//
// In a trace, addresses of shared memory have the rank of another block plus one in the bits from
// 24 on (exec::kWindowBits). An access to it goes through a network that joins the SMs of a GPC:
// a request for each block that lanes want, one a cycle; its SM answers at once, since shared
// memory there has room for it, and a port for others (estimated). Banks are taken as those of the
// own memory (estimated). Requests of loads, and answers of stores, take one flit; others the bytes
// of their lanes, since addresses have wires of their own (estimated).
//
// An arrival at mbarriers of other blocks goes the same way, a request of one flit for each
// mbarrier, and is answered, too; those of the own block are told when the first request leaves,
// and take a cycle each besides, as they do by themselves (estimated).
//
// On machines without such a network, and for blocks that are not there, an access takes so much
// longer as the network takes alone.
#pragma once

#include "device/sm/coalescer.h"
#include "device/sm/memory_packet.h"
#include "device/sm/phases.h"

namespace nearwarp::sm {

inline constexpr uint32_t kSharedWindowBits = 24;  ///< of a block's own shared memory

/// The address of an access's first lane, or the least of all lanes.
NW_HD inline uint64_t first_address(trace::RecordView access) {
  const uint64_t base = trace::record_base(access.word());
  const int stride = trace::record_stride(access.word());
  if (stride == trace::kAddresses) return *access.more();
  if (stride < trace::kMinStride) return base;
  const int64_t lane = count_trailing_zeros(access.mask);
  return (base + static_cast<uint64_t>(stride * lane)) & trace::kAddressMask;
}

/// Cycles that an access to shared memory takes more than one to the block's own, without a
/// network.
template <class V>
NW_HD NW_CALLED uint32_t way_to_other_block(const V& v, trace::RecordView access) {
  const uint64_t address = first_address(access) & (trace::kSharedWindow - 1);
  return address >> kSharedWindowBits != 0 ? v.p.remote_shared : 0;
}

/// The blocks of the cluster whose memory the operation at the head wants.
template <class V>
NW_HD NW_CALLED void find_ranks(V& v, const LsuOp& op) {
  ClusterPort& c = cluster_port(v);
  const ClusterSlot& slot = cluster_slot(v, v.warps[op.warp].block_slot);
  c.head_ranks = 0;
  if (!slot.used) return;
  for (uint8_t& lanes : c.head_lanes) lanes = 0;
  each_address(v.record(op), [&](uint32_t, uint64_t address) {
    const uint64_t window = (address & (trace::kSharedWindow - 1)) >> kSharedWindowBits;
    const auto rank = static_cast<uint32_t>(window - 1);  // the own one has window 0
    if (rank >= kMaxClusterBlocks || slot.places.at(rank) == kNoSmPlace) return;
    c.head_ranks |= 1u << rank;
    c.head_lanes[rank] = static_cast<uint8_t>(c.head_lanes[rank] + 1);
  });
}

/// The other blocks' mbarriers of which the operation at the head tells something.
template <class V>
NW_HD NW_CALLED void find_events(V& v, const LsuOp& op) {
  ClusterPort& c = cluster_port(v);
  const uint32_t block = v.warps[op.warp].block_slot;
  c.head_ranks = 0;
  if (v.instr(op.pc).action != Action::kPhaseEvents || !hears_others(v, block)) return;
  uint32_t i = 0;
  each_event(v.record(op), [&](const trace::PhaseEvent& e) {
    if (e.block != 0) c.head_ranks |= 1u << i;
    i += 1;
  });
}

/// Bytes on the wire: of data, or, without any, of one flit.
NW_HD inline uint16_t wire_bytes(uint32_t data) {
  return static_cast<uint16_t>(data == 0 ? 1 : data);
}

/// The next request of the operation at the head, without its ends.
template <class V>
NW_HD NW_CALLED Packet next_request(const V& v, const LsuOp& op, uint32_t& rank) {
  const ClusterPort& c = cluster_port(v);
  const ImageInstr& in = v.instr(op.pc);
  const uint32_t next = count_trailing_zeros(c.head_ranks);
  SharedRequest request;
  request.access = c.head;
  uint32_t data = 0;  // bytes
  if (in.meets_mbarriers()) {
    request.event = v.record(op).more()[next];
    rank = trace::phase_event(request.event).block - 1;
    request.to = {cluster_slot(v, v.warps[op.warp].block_slot).number, rank};
  } else {
    rank = next;
    data = uint32_t{c.head_lanes[rank]} * in.lane_bytes;
  }
  Packet p;
  p.bytes = wire_bytes(in.action == Action::kSharedLoad ? 0 : data);
  request.answer_bytes = wire_bytes(in.action == Action::kSharedStore ? 0 : data);
  request.put(p);
  return p;
}

/// The access at the head goes to other blocks: send the next request. Returns false if it is one
/// of the block's own.
template <class V>
NW_HD NW_CALLED bool access_others(V& v, const LsuOp& op, uint32_t now) {
  auto& s = v.s;
  ClusterPort& c = cluster_port(v);
  const bool tells = v.instr(op.pc).meets_mbarriers();
  if (c.head_ranks == 0) {
    if (tells) {
      find_events(v, op);
    } else {
      find_ranks(v, op);
    }
    if (c.head_ranks == 0) return false;
    c.head = kMaxRemoteAccesses;
  }
  s.lsu_busy_until = now + 1;
  Channel& out = *c.requests_out.in(v.base);
  if (!can_send(out, v.base, v.tick(now))) return true;
  if (c.head == kMaxRemoteAccesses) {
    if (c.free_accesses == 0) return true;
    c.head = count_trailing_zeros(c.free_accesses);
    c.free_accesses &= c.free_accesses - 1;
    // A request for an mbarrier takes its own cycle, the block's own mbarriers one each.
    const uint32_t late = s.lines.count - (tells ? population_count(c.head_ranks) : 1);
    c.accesses[c.head] = RemoteAccess{op.pc, late, 0, op.warp, false};
    if (tells && late != 0)
      arrive_at_phases(v, v.warps[op.warp].block_slot, v.record(op), now, now);
  }
  RemoteAccess& access = c.accesses[c.head];
  uint32_t rank = 0;
  Packet p = next_request(v, op, rank);
  p.src = s.endpoint;
  p.dst = member_of(v, v.warps[op.warp].block_slot, rank);
  send(out, v.base, v.tick(now), p, v.horizon);
  access.remaining = static_cast<uint8_t>(access.remaining + 1);
  c.head_ranks &= c.head_ranks - 1;
  if (c.head_ranks != 0) return true;
  access.sent = true;
  const uint32_t cycles = access.late + 1;
  s.counters.shared_accesses += 1;
  s.counters.shared_cycles += cycles;
  s.lsu_busy_until = now + cycles;
  s.lsu_head = s.lsu_head + 1 == kMaxLsuQueue ? 0 : s.lsu_head + 1;
  s.lsu_count -= 1;
  s.lines_valid = false;
  return true;
}

/// A block of a cluster begins.
template <class V>
NW_HD NW_CALLED void join_cluster(V& v, uint32_t block, const LaunchBlock& begun,
                                  const LaunchInfo& info) {
  ClusterSlot& slot = cluster_slot(v, block);
  slot = ClusterSlot{};
  if (info.cluster <= 1) return;
  slot.used = true;
  slot.places = begun.places;
  slot.number = static_cast<uint16_t>(begun.cluster);
  slot.rank = static_cast<uint8_t>(begun.block % info.cluster);
  slot.whole = true;
  for (uint32_t i = 0; i < info.cluster; ++i) slot.whole &= slot.places.at(i) != kNoSmPlace;
}

/// The front end is to be told that all warps of a block are at the barrier of its cluster, which
/// it has one of. Returns false if it has none.
template <class V>
NW_HD NW_CALLED bool meet_cluster(V& v, uint32_t block) {
  ClusterSlot& slot = cluster_slot(v, block);
  if (slot.used && !slot.at_barrier) {
    slot.at_barrier = true;
    v.s.at_cluster_barrier |= bit(block);
  }
  return slot.used;
}

/// Tell the front end of one.
template <class V>
NW_HD NW_CALLED void tell_of_barrier(V& v, uint32_t now) {
  if (!can_send(v.to_front_end(), v.base, v.tick(now))) return;
  const uint32_t block = count_trailing_zeros(v.s.at_cluster_barrier);
  v.s.at_cluster_barrier &= v.s.at_cluster_barrier - 1;
  Packet p;
  p.src = v.s.endpoint;
  p.dst = v.p.front_end;
  AtClusterBarrier{cluster_slot(v, block).member()}.put(p);
  send(v.to_front_end(), v.base, v.tick(now), p, v.horizon);
  expect_answer(v.to_front_end(), v.from_front_end(), v.tick(now), v.horizon);
}

}  // namespace nearwarp::sm
