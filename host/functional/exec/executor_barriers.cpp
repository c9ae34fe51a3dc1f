// Barriers of a thread block: arrivals of warps, and their release.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "host/functional/exec/executor.h"
#include "host/functional/exec/executor_slot.h"
#include "host/functional/racecheck/checker.h"

namespace nearwarp::runtime {

void Executor::arrive(Slot& slot, uint32_t w) {
  exec::Warp& warp = slot.warps[w];
  const BarrierDesc& desc = kernel_.barriers[warp.barrier];
  if (desc.kind == BarrierDesc::Kind::kClusterArrive) return cluster_arrive(slot, w, desc);
  if (desc.kind == BarrierDesc::Kind::kClusterWait) return cluster_wait(slot, w);
  const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(warp.barrier_mask));
  const auto lane_value = [&](uint16_t row) {
    uint32_t v;
    std::memcpy(&v, warp.rows + size_t{row} * exec::kRowBytes + lane * 4, 4);
    return v;
  };
  if (desc.kind == BarrierDesc::Kind::kGroup) {
    if (options_.checker != nullptr)
      options_.checker->wait_for_products(warp, lane_value(desc.count_row));
    slot.group_waiting |= 1u << w;
    slot.states[w] = Slot::State::kWaiting;
    complete_groups(slot);
    return;
  }
  const uint32_t id = lane_value(desc.id_row);
  if (id >= 16)
    throw Error(
        fmt::format("barrier {} does not exist ({}, thread {}, kernel {}) - barriers are "
                    "numbered from 0 to 15",
                    id, where(desc.instruction), thread_name(slot, w, lane), kernel_.kernel->name));
  Barrier& b = slot.barriers[id];
  b.arrived += 1;
  const uint32_t p =
      warp.predicates[desc.predicate >> 1] ^ (0u - static_cast<uint32_t>(desc.predicate & 1));
  b.popc += static_cast<uint32_t>(__builtin_popcount(p & warp.barrier_mask));
  b.all = b.all && (p & warp.barrier_mask) == warp.barrier_mask;
  b.any = b.any || (p & warp.barrier_mask) != 0;
  const bool waits = desc.kind != BarrierDesc::Kind::kArrive;
  if (options_.checker != nullptr)
    options_.checker->arrive(warp, {id, desc.instruction, waits, desc.aligned, desc.has_count});
  if (waits) {
    b.waiting |= 1u << w;
    slot.states[w] = Slot::State::kWaiting;
  }
  if (desc.has_count) {
    const uint32_t count = lane_value(desc.count_row);
    if (count % 32 != 0 || count == 0)
      throw Error(
          fmt::format("a barrier for {} threads ({}, kernel {}) - the count must be a "
                      "positive multiple of 32",
                      count, where(desc.instruction), kernel_.kernel->name));
    if (b.arrived * 32 >= count) release(slot, b);
  } else if (b.arrived >= slot.live) {
    release(slot, b);
  }
}

/// Releases warpgroups whose live warps all wait for their products. The four warps compute a
/// product together, so none continues before all have read their factors.
void Executor::complete_groups(Slot& slot) {
  for (uint32_t first = 0; first < warps_per_block_; first += 4) {
    uint32_t live = 0;
    for (uint32_t w = first; w < std::min(first + 4, warps_per_block_); ++w)
      live |= uint32_t{slot.states[w] != Slot::State::kExited} << w;
    if (live == 0 || (slot.group_waiting & live) != live) continue;
    slot.group_waiting &= ~live;
    for (uint32_t m = live; m != 0; m &= m - 1)
      slot.states[static_cast<uint32_t>(__builtin_ctz(m))] = Slot::State::kRunnable;
  }
}

/// Releases barriers without a count that the exit of a warp has completed.
void Executor::complete_barriers(Slot& slot) {
  if (slot.group_waiting != 0) complete_groups(slot);
  for (Barrier& b : slot.barriers) {
    if (b.waiting == 0) continue;
    const uint32_t first = static_cast<uint32_t>(__builtin_ctz(b.waiting));
    const bool counted = kernel_.barriers[slot.warps[first].barrier].has_count;
    if (!counted && b.arrived >= slot.live) release(slot, b);
  }
}

void Executor::release(Slot& slot, Barrier& b) {
  if (options_.checker != nullptr)
    options_.checker->release(static_cast<uint32_t>(&b - slot.barriers), b.waiting);
  for (uint32_t waiting = b.waiting; waiting != 0; waiting &= waiting - 1) {
    const uint32_t w = static_cast<uint32_t>(__builtin_ctz(waiting));
    exec::Warp& warp = slot.warps[w];
    const BarrierDesc& desc = kernel_.barriers[warp.barrier];
    slot.states[w] = Slot::State::kRunnable;
    if (desc.kind == BarrierDesc::Kind::kPopc) {
      uint8_t* row = warp.rows + size_t{desc.destination} * exec::kRowBytes;
      for (uint32_t m = warp.barrier_mask; m != 0; m &= m - 1)
        std::memcpy(row + __builtin_ctz(m) * 4, &b.popc, 4);
    } else if (desc.kind == BarrierDesc::Kind::kAnd || desc.kind == BarrierDesc::Kind::kOr) {
      const bool holds = desc.kind == BarrierDesc::Kind::kAnd ? b.all : b.any;
      uint32_t& p = warp.predicates[desc.destination];
      p = holds ? p | warp.barrier_mask : p & ~warp.barrier_mask;
    }
  }
  b = Barrier{};
}

}  // namespace nearwarp::runtime
