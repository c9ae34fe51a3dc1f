// Lays out the front end's state in an arena, for machines and for tests. Host only.
#pragma once

#include <algorithm>
#include <span>

#include "device/core/arena.h"
#include "device/frontend/dispatcher.h"

namespace nearwarp::frontend {

/// The most thread blocks that an SM can report in a window, which is the most core cycles of a
/// lengthened window (kernels/safe_times.h).
inline constexpr uint32_t kReportsPerSm = 64;

/// Lay out the GPCs, with their SMs, and room for clusters of `blocks` thread blocks in all.
inline void make_gpcs(ArenaBuilder& a, const FrontEndParams& p, std::span<const SmRoom> rooms,
                      uint32_t blocks, DispatchState& d) {
  d.gpcs = a.allocate<Gpc>(p.dispatch.gpcs);
  for (uint32_t g = 0; g < p.dispatch.gpcs; ++g) a.get(d.gpcs)[g] = Gpc{};
  for (uint32_t i = 0; i < rooms.size(); ++i) {
    Gpc& gpc = a.get(d.gpcs)[rooms[i].gpc];
    NW_ASSERT(gpc.count < kMaxGpcSms);
    gpc.sms[gpc.count++] = sm_id(i);
  }
  const uint32_t n = std::min(blocks, kMaxClusters);
  d.clusters = a.allocate<ClusterState>(n);
  for (uint32_t i = 0; i < n; ++i) {
    a.get(d.clusters)[i] = ClusterState{};
    a.get(d.clusters)[i].next_free = static_cast<uint16_t>(i + 1 < n ? i + 1 : kNoCluster);
  }
  d.free_cluster = 0;
}

/// Lay out the state of a front end for a program's launches, without channels and mechanisms.
/// `rooms`: by SM, the resources of the empty SM.
inline FrontEndState make_front_end(ArenaBuilder& a, const FrontEndParams& p,
                                    std::span<const SmRoom> rooms,
                                    std::span<const LaunchInfo> launches) {
  FrontEndState s;
  s.outbox = a.allocate<Outbox>(p.num_sms);
  s.outgoing = a.allocate<Outgoing>(p.num_sms * p.outbox_entries);
  DispatchState& d = s.dispatch;
  uint32_t blocks = 0;
  for (const SmRoom& room : rooms) blocks += room.free.blocks;
  d.rooms = a.allocate<SmRoom>(static_cast<uint32_t>(rooms.size()));
  std::copy(rooms.begin(), rooms.end(), a.get(d.rooms));
  d.done_log = a.allocate<uint32_t>(std::max(blocks, p.num_sms * kReportsPerSm));
  d.running = a.allocate<uint32_t>(p.dispatch.max_running);
  d.taken = a.allocate<uint32_t>(p.dispatch.max_running * p.dispatch.groups);
  d.ready = a.allocate<uint32_t>(p.dispatch.max_running * p.dispatch.groups);
  if (p.dispatch.gpcs != 0) make_gpcs(a, p, rooms, blocks, d);
  const auto n = static_cast<uint32_t>(launches.size());
  d.launches = a.allocate<LaunchState>(std::max(1u, n));
  enter_program(d, a.base(), launches.data(), n, Tick{p.launch_gap} * p.period);
  return s;
}

}  // namespace nearwarp::frontend
