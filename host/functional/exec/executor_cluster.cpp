// Clusters of thread blocks: their places in the grid, their barrier.
#include <fmt/format.h>

#include <algorithm>

#include "host/functional/exec/executor.h"
#include "host/functional/exec/executor_slot.h"
#include "host/functional/racecheck/checker.h"

namespace nearwarp::runtime {

using ptx::SpecialReg;

namespace {

void split(uint64_t index, Dim3 size, uint32_t (&at)[3]) {
  at[0] = static_cast<uint32_t>(index % size.x);
  at[1] = static_cast<uint32_t>(index / size.x % size.y);
  at[2] = static_cast<uint32_t>(index / size.x / size.y);
}

Dim3 clusters_of(Dim3 grid, Dim3 cluster) {
  return {grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z};
}

}  // namespace

/// Blocks of a cluster have neighbouring numbers in the order of execution.
void Executor::place_block(Slot& slot, uint64_t sequence) const {
  const Dim3 &grid = launch_.grid, &cluster = options_.cluster;
  const uint64_t blocks = cluster.count();
  slot.sequence = slot.index = sequence;
  slot.rank = 0;
  if (blocks == 1) {
    split(sequence, grid, slot.ctaid);
    return;
  }
  slot.rank = static_cast<uint32_t>(sequence % blocks);
  uint32_t at[3];
  split(sequence / blocks, clusters_of(grid, cluster), at);
  split(slot.rank, cluster, slot.cluster_ctaid);
  const uint32_t size[3] = {cluster.x, cluster.y, cluster.z};
  for (uint32_t i = 0; i < 3; ++i) slot.ctaid[i] = at[i] * size[i] + slot.cluster_ctaid[i];
  slot.index = slot.ctaid[0] + grid.x * (slot.ctaid[1] + uint64_t{grid.y} * slot.ctaid[2]);
}

uint32_t Executor::cluster_value(const Slot& slot, SpecialReg reg) const {
  const Dim3& c = options_.cluster;
  const Dim3 clusters = clusters_of(launch_.grid, c);
  switch (reg) {
    case SpecialReg::kClusteridX:
      return slot.ctaid[0] / c.x;
    case SpecialReg::kClusteridY:
      return slot.ctaid[1] / c.y;
    case SpecialReg::kClusteridZ:
      return slot.ctaid[2] / c.z;
    case SpecialReg::kNclusteridX:
      return clusters.x;
    case SpecialReg::kNclusteridY:
      return clusters.y;
    case SpecialReg::kNclusteridZ:
      return clusters.z;
    case SpecialReg::kClusterCtaidX:
      return slot.ctaid[0] % c.x;
    case SpecialReg::kClusterCtaidY:
      return slot.ctaid[1] % c.y;
    case SpecialReg::kClusterCtaidZ:
      return slot.ctaid[2] % c.z;
    case SpecialReg::kClusterNctaidX:
      return c.x;
    case SpecialReg::kClusterNctaidY:
      return c.y;
    case SpecialReg::kClusterNctaidZ:
      return c.z;
    case SpecialReg::kClusterCtarank:
      return slot.rank;
    case SpecialReg::kClusterNctarank:
      return static_cast<uint32_t>(c.count());
    case SpecialReg::kIsExplicitCluster:
      return options_.explicit_cluster;
    default:
      return 0;
  }
}

/// The first block makes the cluster.
void Executor::join_cluster(Slot& slot, std::shared_ptr<Cluster>& cluster) const {
  const uint64_t blocks = options_.cluster.count();
  if (blocks == 1 && !kernel_.meets_cluster) return;
  if (cluster == nullptr) {
    cluster = std::make_shared<Cluster>();
    cluster->id = slot.sequence / blocks;
    cluster->live = static_cast<uint32_t>(blocks) * warps_per_block_;
  }
  cluster->shared[slot.rank] = slot.shared.get();
  cluster->blocks.push_back(&slot);
  slot.cluster = cluster;
  for (Slot::Arrival& a : slot.arrivals) a = {};
}

void Executor::cluster_arrive(Slot& slot, uint32_t w, const BarrierDesc& desc) {
  const exec::Warp& warp = slot.warps[w];
  Cluster& cluster = *slot.cluster;
  Slot::Arrival& a = slot.arrivals[w];
  a.lanes |= warp.barrier_mask;
  a.phase = cluster.phase;
  a.any = true;
  if (options_.checker != nullptr) options_.checker->arrive_at_cluster(warp, desc.orders);
  const uint64_t lanes = std::min<uint64_t>(32, launch_.block.count() - uint64_t{w} * 32);
  const uint32_t wanted = (lanes == 32 ? exec::kFullMask : (1u << lanes) - 1) & ~warp.exited;
  if (a.counted || (wanted & ~a.lanes) != 0) return;
  a.counted = true;
  ++cluster.arrived;
  if (cluster.arrived >= cluster.live) complete_cluster(cluster);
}

void Executor::cluster_wait(Slot& slot, uint32_t w) {
  Slot::Arrival& a = slot.arrivals[w];
  if (a.any && a.phase == slot.cluster->phase) {
    a.waits = true;
    slot.states[w] = Slot::State::kWaiting;
  } else if (options_.checker != nullptr) {
    options_.checker->leave_cluster(slot.index, slot.warps[w]);
  }
}

/// Threads that have exited are not waited for.
void Executor::cluster_exit(Slot& slot, uint32_t w) {
  Cluster& cluster = *slot.cluster;
  --cluster.live;
  if (slot.arrivals[w].counted) --cluster.arrived;
  slot.arrivals[w].counted = false;
  if (cluster.arrived != 0 && cluster.arrived >= cluster.live) complete_cluster(cluster);
}

void Executor::complete_cluster(Cluster& cluster) {
  ++cluster.phase;
  cluster.arrived = 0;
  ++cluster_meetings_;
  idle_since_ = context_.warp_instructions;
  if (options_.checker != nullptr) options_.checker->complete_cluster(cluster.id);
  for (Slot* slot : cluster.blocks) {
    if (slot == nullptr) continue;
    for (uint32_t w = 0; w < warps_per_block_; ++w) {
      Slot::Arrival& a = slot->arrivals[w];
      a.counted = false;
      a.lanes = 0;
      if (!a.waits) continue;
      a.waits = false;
      slot->states[w] = Slot::State::kRunnable;
      if (options_.checker != nullptr) options_.checker->leave_cluster(slot->index, slot->warps[w]);
    }
  }
}

/// Says what is wrong with an address in the shared memory of another block.
std::string Executor::shared_detail(const Slot& slot, uint64_t address) const {
  const uint64_t rank = (address >> exec::kWindowBits) - 1, blocks = options_.cluster.count();
  const uint64_t offset = address & (exec::kWindowBytes - 1);
  if (rank >= blocks)
    return fmt::format("in no block: the cluster has {} and the block's own window has {} bytes",
                       blocks, context_.shared_bytes);
  if (slot.cluster != nullptr && slot.cluster->shared[rank] == nullptr)
    return fmt::format(
        "byte {} of block {} of the cluster, which has ended - a barrier of the "
        "cluster before blocks end that others access",
        offset, rank);
  return fmt::format("byte {} of block {} of the cluster, whose window has {} bytes", offset, rank,
                     context_.shared_bytes);
}

}  // namespace nearwarp::runtime
