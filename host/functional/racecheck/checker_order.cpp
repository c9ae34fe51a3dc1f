// The race detector: what orders accesses.
#include <algorithm>
#include <utility>

#include "host/functional/instructions/codes.h"
#include "host/functional/instructions/lanes.h"
#include "host/functional/racecheck/checker_state.h"

namespace nearwarp::racecheck {

using exec::CheckedSync;

/// All that is ordered before now, the warp's own accesses included.
Clocks Checker::all_before(const Now& now) const {
  Times times = now.warp.order.seen;
  times[now.stamp.warp] = now.warp.order.time;
  return space_.with(now.warp.order.foreign, now.block.index, times);
}

/// All reads that are.
Clocks Checker::reads_before(const Now& now) const {
  const WarpOrder& order = now.warp.order;
  Times times = order.seen;
  raise(times, order.seen_reads);
  times[now.stamp.warp] = order.time;
  return space_.with(space_.join(order.foreign, order.foreign_reads), now.block.index, times);
}

/// Takes in that `clocks` are ordered before what the warp does from now on.
void Checker::hear(Now& now, const Clocks& clocks) const {
  if (clocks == nullptr) return;
  WarpOrder& order = now.warp.order;
  if (const Times* own = space_.find(clocks, now.block.index)) raise(order.seen, *own);
  order.foreign = space_.join(order.foreign, clocks);
}

void Checker::hear_reads(Now& now, const Clocks& clocks) const {
  if (clocks == nullptr) return;
  WarpOrder& order = now.warp.order;
  if (const Times* own = space_.find(clocks, now.block.index)) raise(order.seen_reads, *own);
  order.foreign_reads = space_.join(order.foreign_reads, clocks);
}

/// Strong accesses hear what strong writes to the same place have said, and say something.
void Checker::synchronise(Now& now, const exec::Warp& warp, const Places& places, uint32_t mask,
                          uint32_t bytes) {
  WarpOrder& order = now.warp.order;
  const AccessRules& rules = now.rules;
  Clocks to_device = order.published, to_cluster = order.published_cluster,
         to_block = order.published_block;
  const bool narrow = rules.block_scope || rules.cluster_scope;
  if (now.write && rules.release) {
    to_block = all_before(now);
    if (!rules.block_scope) to_cluster = to_block;
    if (!narrow) to_device = to_block;
  }
  if (narrow) to_device = nullptr;
  if (rules.block_scope) to_cluster = nullptr;
  // A store of what was computed from reads: those are done. (Atomics are left out, as there may be
  // very many.)
  const bool says_reads = now.write && !now.read && !rules.block_scope;
  const Clocks to_reads = says_reads ? reads_before(now) : nullptr;
  Clocks device, block, reads;  // heard
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const Place& place = places[static_cast<uint32_t>(__builtin_ctz(m))];
    if (place.kind == Place::kElsewhere) continue;
    SyncPoints& points = place.kind == Place::kShared ? place.owner->points : points_;
    for (uint64_t word = place.address / 4; word <= (place.address + bytes - 1) / 4; ++word) {
      auto it = points.find(word);
      if (now.read && it != points.end()) {
        if (!narrow) device = space_.join(device, it->second.device);
        if (!rules.block_scope && it->second.said_in_cluster == now.block.cluster)
          device = space_.join(device, it->second.cluster);
        reads = space_.join(reads, it->second.reads);
        if (it->second.said_in == now.block.index) block = space_.join(block, it->second.block);
      }
      const bool says = to_device != nullptr || to_cluster != nullptr || to_block != nullptr ||
                        to_reads != nullptr;
      if (!now.write || (it == points.end() && !says)) continue;
      if (it == points.end()) it = points.try_emplace(word).first;
      SyncPoint& point = it->second;
      const bool adds = now.read || bytes < 4;  // leaves what others said
      point.device = adds ? space_.join(point.device, to_device) : to_device;
      point.cluster = adds && point.said_in_cluster == now.block.cluster
                          ? space_.join(point.cluster, to_cluster)
                          : to_cluster;
      point.block =
          adds && point.said_in == now.block.index ? space_.join(point.block, to_block) : to_block;
      point.reads = adds ? space_.join(point.reads, to_reads) : to_reads;
      point.said_in = now.block.index;
      point.said_in_cluster = now.block.cluster;
    }
  }
  // The reader takes all in without a fence on its side, which much CUDA code leaves out.
  hear(now, device);
  hear(now, block);
  hear_reads(now, reads);
  if (says_reads) ++order.time;
  if (rules.acquire || rules.release) order.settle(mask, warp.exited);
}

void Checker::fence(Now& now, CheckedSync scope) {
  WarpOrder& order = now.warp.order;
  order.published_block = all_before(now);
  if (scope != CheckedSync::kBlockFence) order.published_cluster = order.published_block;
  if (scope == CheckedSync::kFence) order.published = order.published_block;
}

/// The lanes' copies of the groups before `groups` are done, as far as these lanes are concerned.
void Checker::finish_copies(Now& now, uint32_t mask, uint32_t groups) {
  std::vector<Copy>& copies = now.warp.copies;
  const auto done = [&](const Copy& copy) {
    if ((mask >> copy.lane & 1) == 0 || copy.group >= groups) return false;
    now.block.shared.each(copy.address, copy.bytes, [&](Cell& cell, uint64_t) {
      Stamp& last = cell.write[0];
      if (last.pending == 0 || !last.same_warp(now.stamp) || (last.lanes >> copy.lane & 1) == 0)
        return;
      last.pending = 0;
      last.time = now.warp.order.time;
    });
    return true;
  };
  copies.erase(std::remove_if(copies.begin(), copies.end(), done), copies.end());
}

/// Lanes arrive at mbarriers, which say that what they copied is there.
void Checker::copies_arrive(Now& now, const Places& places, uint32_t mask) {
  std::erase_if(now.warp.copies, [&](const Copy& copy) {
    const Place& place = places[copy.lane];
    if ((mask >> copy.lane & 1) == 0 || place.owner != &now.block) return false;
    now.block.arrived[place.address / 4].push_back({copy, now.stamp.warp, now.warp.order.time});
    return true;
  });
}

/// Lanes look at mbarriers: copies that have arrived there are no longer pending. Later accesses
/// are ordered behind a copy if they are ordered behind its arrival.
void Checker::wait_for_copies(const Places& places, uint32_t mask) {
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const Place& place = places[static_cast<uint32_t>(__builtin_ctz(m))];
    if (place.kind != Place::kShared || place.owner->arrived.empty()) continue;
    const auto it = place.owner->arrived.find(place.address / 4);
    if (it == place.owner->arrived.end()) continue;
    for (const ArrivedCopy& a : it->second)
      place.owner->shared.each(a.copy.address, a.copy.bytes, [&](Cell& cell, uint64_t) {
        Stamp& last = cell.write[0];
        if (last.pending == 0 || last.warp != a.warp || (last.lanes >> a.copy.lane & 1) == 0)
          return;
        last.pending = 0;
        last.time = a.time;
      });
    place.owner->arrived.erase(it);
  }
}

void Checker::sync(const exec::Warp& warp, const exec::Op& op, uint32_t mask) {
  const SyncRules& rules = launch_.syncs[op.imm];
  Now now = now_of(warp, rules.instruction);
  see(now, warp, mask);
  const uint32_t operand =
      exec::row<uint32_t>(warp.rows, rules.operand)[static_cast<uint32_t>(__builtin_ctz(mask))];
  switch (rules.what) {
    case CheckedSync::kWarp:
      check_members(now, warp, rules, mask);
      now.warp.order.meet(operand | mask, warp.exited);
      break;
    case CheckedSync::kFence:
    case CheckedSync::kClusterFence:
    case CheckedSync::kBlockFence:
      if (rules.proxy)
        running_->proxy_fences.add(warp.index, now.warp.order.time, now.warp.order.seen);
      fence(now, rules.what);
      now.warp.order.settle(mask, warp.exited);
      break;
    case CheckedSync::kCommit:
      ++now.warp.groups;
      break;
    case CheckedSync::kWaitAll:
      finish_copies(now, mask, ~0u);
      break;
    case CheckedSync::kWaitGroup:
      finish_copies(now, mask, now.warp.groups - std::min(operand, now.warp.groups));
      break;
    case CheckedSync::kStoreCommit:
      commit_stores(now, mask);
      break;
    case CheckedSync::kStoreWait:
      wait_for_stores(now, mask, operand);
      break;
    case CheckedSync::kProductCommit:
      ++now.warp.products_committed;
      break;
    case CheckedSync::kProductFence:
      now.warp.products_fenced = true;
      now.warp.computed.clear();
      break;
    case CheckedSync::kTouch:
      touch(now, mask);
      break;
  }
}

// --- Barriers ------------------------------------------------------------------------------------

void Checker::gather(Knowledge& to, const Knowledge& from) const {
  raise(to.seen, from.seen);
  to.foreign = space_.join(to.foreign, from.foreign);
  raise(to.seen_reads, from.seen_reads);
  to.foreign_reads = space_.join(to.foreign_reads, from.foreign_reads);
  to.published = space_.join(to.published, from.published);
  to.published_cluster = space_.join(to.published_cluster, from.published_cluster);
  to.published_block = space_.join(to.published_block, from.published_block);
}

/// Warp `warp` brings along what it knows, and what it did.
void Checker::join(Knowledge& to, uint32_t warp, const WarpOrder& from) const {
  gather(to, from);
  to.seen[warp] = std::max(to.seen[warp], from.time);
}

void Checker::arrive(const exec::Warp& warp, const BarrierRules& barrier) {
  Now now = now_of(warp, barrier.instruction);
  check_arrival(now, warp, barrier);
  WarpOrder& order = now.warp.order;
  join(running_->barriers[barrier.number], warp.index, order);
  if (barrier.waits)
    order.meet(warp.barrier_mask, warp.exited);
  else
    ++order.time;
}

void Checker::release(uint32_t barrier, uint32_t warps) {
  check_generation(std::exchange(running_->generations[barrier], Generation{}));
  Knowledge& meeting = running_->barriers[barrier];
  for (; warps != 0; warps &= warps - 1) {
    WarpOrder& order = running_->warps[static_cast<uint32_t>(__builtin_ctz(warps))].order;
    gather(order, meeting);
    gather(order, running_->exited);
  }
  meeting = Knowledge{};
}

void Checker::exit(const exec::Warp& warp) {
  WarpState& state = running_->warps[warp.index];
  state.exited = true;
  state.awaited.clear();
  join(running_->exited, warp.index, state.order);
}

// --- Barriers of clusters ------------------------------------------------------------------------

void Checker::arrive_at_cluster(const exec::Warp& warp, bool releases) {
  WarpOrder& order = running_->warps[warp.index].order;
  if (releases) {
    Times times = order.seen;
    times[warp.index] = order.time;
    Meeting& meeting = clusters_.at(running_->cluster);
    meeting.coming =
        space_.join(meeting.coming, space_.with(order.foreign, running_->index, times));
  }
  ++order.time;
}

void Checker::complete_cluster(uint64_t cluster) {
  Meeting& meeting = clusters_.at(cluster);
  meeting.complete = std::exchange(meeting.coming, nullptr);
}

void Checker::leave_cluster(uint64_t block, const exec::Warp& warp) {
  BlockState& state = *blocks_.at(block);
  WarpOrder& order = state.warps[warp.index].order;
  const Clocks& said = clusters_.at(state.cluster).complete;
  if (said != nullptr) {
    if (const Times* own = space_.find(said, block)) raise(order.seen, *own);
    order.foreign = space_.join(order.foreign, said);
  }
  order.meet(warp.barrier_mask, warp.exited);
}

}  // namespace nearwarp::racecheck
