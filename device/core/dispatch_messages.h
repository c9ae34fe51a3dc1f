// The meaning of packets between the front end and SMs, and between SMs of a GPC. A kind has a
// struct, which is put into a packet and taken out of it here alone.
#pragma once

#include "device/core/cluster_places.h"
#include "device/core/packet.h"

namespace nearwarp {

/// Lets a thread block begin on an SM.
struct LaunchBlock {
  uint32_t launch = 0;         ///< index into ProgramImage::launches
  uint32_t launch_number = 0;  ///< launches are numbered as they begin
  uint32_t block = 0;          ///< its number in the launch
  // Only a block of a cluster has these.
  ClusterPlaces places{0, 0};
  uint32_t cluster = 0;  ///< its number at the front end

  NW_HD NW_INLINE void put(Packet& p) const {
    p.kind = PacketKind::kLaunchBlock;
    p.tag = launch;
    p.sectors = launch_number;
    p.line = block;
    p.payload = places.low;
    p.extra = places.high | cluster << kPlacesBits;
  }
  NW_HD NW_INLINE static LaunchBlock of(const Packet& p) {
    NW_ASSERT(p.kind == PacketKind::kLaunchBlock);
    return {p.tag,
            p.sectors,
            p.line,
            {p.payload, p.extra & ((1u << kPlacesBits) - 1)},
            p.extra >> kPlacesBits};
  }
};

/// A thread block among those of its cluster.
struct ClusterMember {
  uint32_t cluster = 0;  ///< its number at the front end
  uint32_t rank = 0;
};

/// A thread block has ended.
struct BlockDone {
  uint32_t thread_block = 0;  ///< its number over all launches
  bool in_cluster = false;
  ClusterMember member;  ///< if it was one of a cluster

  NW_HD NW_INLINE void put(Packet& p) const {
    p.kind = PacketKind::kBlockDone;
    p.line = thread_block;
    p.tag = in_cluster ? member.cluster + 1 : 0;
    p.extra = in_cluster ? member.rank : 0;
  }
  NW_HD NW_INLINE static BlockDone of(const Packet& p) {
    NW_ASSERT(p.kind == PacketKind::kBlockDone);
    return {p.line, p.tag != 0, {p.tag - 1, p.extra}};
  }
};

/// All warps of a thread block have come to its cluster's barrier.
struct AtClusterBarrier {
  ClusterMember member;

  NW_HD NW_INLINE void put(Packet& p) const {
    p.kind = PacketKind::kAtClusterBarrier;
    p.tag = member.cluster;
    p.extra = member.rank;
  }
  NW_HD NW_INLINE static AtClusterBarrier of(const Packet& p) {
    NW_ASSERT(p.kind == PacketKind::kAtClusterBarrier);
    return {{p.tag, p.extra}};
  }
};

/// All blocks of its cluster have: it goes on.
struct PassClusterBarrier {
  uint32_t thread_block = 0;  ///< its number over all launches

  NW_HD NW_INLINE static PassClusterBarrier of(const Packet& p) {
    NW_ASSERT(p.kind == PacketKind::kPassClusterBarrier);
    return {p.tag};
  }
};

/// A status in bits, in a packet of the kind that link ports and the front end are given
/// (LinkPortParams::status_kind, FrontEndParams::word_kind).
struct StatusBits {
  uint32_t bits = 0;

  NW_HD NW_INLINE void put(PacketKind kind, Packet& p) const {
    p.kind = kind;
    p.sectors = bits;
  }
  NW_HD NW_INLINE static StatusBits of(const Packet& p) {
    NW_ASSERT(class_of(p.kind) == MessageClass::kControl);
    return {p.sectors};
  }
};

/// An access to the shared memory of another block of a cluster, or an event at an mbarrier there.
struct SharedRequest {
  uint32_t access = 0;        ///< its number at the sender, which the answer has
  uint64_t event = 0;         ///< trace::phase_word(); 0: it is an access to data
  ClusterMember to;           ///< an event's block
  uint32_t answer_bytes = 0;  ///< weight of the answer on the wire

  NW_HD NW_INLINE void put(Packet& p) const {
    p.kind = PacketKind::kSharedRequest;
    p.tag = access;
    p.payload = event;
    p.line = to.cluster;
    p.sectors = to.rank;
    p.extra = answer_bytes;
  }
  NW_HD NW_INLINE static SharedRequest of(const Packet& p) {
    NW_ASSERT(p.kind == PacketKind::kSharedRequest);
    return {p.tag, p.payload, {p.line, p.sectors}, p.extra};
  }
};

struct SharedReply {
  uint32_t access = 0;  ///< SharedRequest::access

  NW_HD NW_INLINE void put(Packet& p) const {
    p.kind = PacketKind::kSharedReply;
    p.tag = access;
  }
  NW_HD NW_INLINE static SharedReply of(const Packet& p) {
    NW_ASSERT(p.kind == PacketKind::kSharedReply);
    return {p.tag};
  }
};

/// A line of a box that another block has asked for, and, behind the last one, the event at this
/// one's mbarrier.
struct SharedLine {
  ClusterMember to;
  uint64_t event = 0;        ///< trace::phase_word(); 0: there are more lines to come
  uint32_t lines = 0;        ///< 0: it is an event alone
  uint32_t first_block = 0;  ///< of the cluster, by which clusters of all launches are told apart

  NW_HD NW_INLINE void put(Packet& p) const {
    p.kind = PacketKind::kSharedLine;
    p.line = to.cluster;
    p.sectors = to.rank;
    p.payload = event;
    p.extra = lines;
    p.tag = first_block;
  }
  NW_HD NW_INLINE static SharedLine of(const Packet& p) {
    NW_ASSERT(p.kind == PacketKind::kSharedLine);
    return {{p.line, p.sectors}, p.payload, p.extra, p.tag};
  }
};

}  // namespace nearwarp
