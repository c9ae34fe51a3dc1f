// The stepping kernel: persistent teams that take systems and step them until they stop.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cuda/atomic>
#include <nv/target>

#include "kernels/component.h"
#include "kernels/team.h"

namespace nearwarp::kernels::gpu {

namespace cg = cooperative_groups;

/// 16 warps of up to 128 registers fill a multiprocessor's register file.
inline constexpr uint32_t kMostWarps = 16;  ///< of a block
inline constexpr uint32_t kMaxTeamBlocks = 16;

/// How the blocks of a team meet.
enum class Meeting : uint32_t {
  kBlock,    ///< there is one: the block's own barrier
  kCluster,  ///< a thread-block cluster's hardware barrier (sm_90)
  kGrid,     ///< a counter in memory; the blocks must be resident together (cooperative launch)
};

/// A team's meeting place in device memory, for Meeting::kGrid. Zero before a launch.
struct MeetingPlace {
  uint32_t arrivals = 0;  ///< of blocks, over all meetings
  uint32_t reserved = 0;
  Findings found[2][kMaxTeamBlocks];  ///< by parity of the meeting and block
};

struct Launch {
  TeamSystem* systems = nullptr;
  uint32_t count = 0;
  uint32_t blocks_per_team = 1;
  uint32_t team_warps = 1;   ///< of a team in a block, which has one team or several
  uint32_t state_bytes = 0;  ///< of shared memory, for a team's States in a block
  Meeting meeting = Meeting::kBlock;
  uint32_t* next = nullptr;  ///< the next system to be taken
  MeetingPlace* places = nullptr;
  Slice slice;
};

struct BlockShared {
  uint64_t begun = 0;                    ///< when the block began
  Findings of_warp[2][kMostWarps];       ///< by parity of the meeting
  Findings of_block[2][kMaxTeamBlocks];  ///< the same, for clusters: written by the other blocks
};

/// A warp's end of its team. Where a block has several teams, they step windows, each its own, at
/// the same time, and meet when all have.
class Team {
 public:
  /// Keeps only these; values that follow are found anew: registers belong to the models.
  __device__ Team(const Launch& launch, BlockShared& shared) : launch_(launch), shared_(shared) {}

  /// This warp's number in the team.
  __device__ uint32_t warp() const {
    return rank() * launch_.team_warps + threadIdx.x / 32 % launch_.team_warps;
  }
  __device__ bool is_alone_in_block() const { return blockDim.x / 32 == launch_.team_warps; }
  /// The team's number in the block.
  __device__ uint32_t in_block() const { return threadIdx.x / 32 / launch_.team_warps; }

  /// A barrier of the team, which orders all of its accesses to memory. `mine` counts in the
  /// warps' first lanes. Returns what all have found, to all.
  __device__ Findings exchange(const Findings& mine) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const uint32_t lane = warp.thread_rank();
    const uint32_t parity = meetings_++ % 2;  // a warp may be one meeting ahead of another
    if (lane == 0) shared_.of_warp[parity][threadIdx.x / 32] = mine;
    __syncthreads();
    Findings all = combined(warp, shared_.of_warp[parity] + in_block() * launch_.team_warps,
                            launch_.team_warps);
    if (launch_.meeting == Meeting::kCluster) {
      NV_IF_TARGET(NV_PROVIDES_SM_90, (meet_cluster(all, parity);))
      all = combined(warp, shared_.of_block[parity], launch_.blocks_per_team);
    } else if (launch_.meeting == Meeting::kGrid) {
      meet_grid(all, parity);
      all = combined(warp, place().found[parity], launch_.blocks_per_team);
    }
    return all;
  }

 private:
  using Warp = cg::thread_block_tile<32>;

  __device__ uint32_t rank() const { return blockIdx.x % launch_.blocks_per_team; }
  __device__ MeetingPlace& place() const {
    return launch_.places[blockIdx.x / launch_.blocks_per_team];
  }

  /// The findings of the first `n` <= 32 warps.
  static __device__ Findings combined(const Warp& warp, const Findings* found, uint32_t n) {
    Findings f;
    if (warp.thread_rank() < n) f = found[warp.thread_rank()];
    f.key = cg::reduce(warp, f.key, cg::less<uint32_t>());
    f.flags = cg::reduce(warp, f.flags, cg::bit_or<uint32_t>());
    return f;
  }

  /// Tell all blocks of the cluster, then wait for all. No block writes into another one's memory
  /// after that, so blocks may end in any order.
  __device__ void meet_cluster(const Findings& mine, uint32_t parity) {
    NV_IF_TARGET(NV_PROVIDES_SM_90, (const auto cluster = cg::this_cluster();
                                     if (threadIdx.x < launch_.blocks_per_team) *
                                         cluster.map_shared_rank(&shared_.of_block[parity][rank()],
                                                                 threadIdx.x) = mine;
                                     cluster.sync();))
  }

  __device__ void meet_grid(const Findings& mine, uint32_t parity) {
    if (threadIdx.x == 0) {
      place().found[parity][rank()] = mine;
      const cuda::atomic_ref<uint32_t, cuda::thread_scope_device> arrivals(place().arrivals);
      const uint32_t wanted = meetings_ * launch_.blocks_per_team;
      arrivals.fetch_add(1, cuda::memory_order_acq_rel);
      // Subtraction, so that the counter may overflow.
      while (static_cast<int32_t>(arrivals.load(cuda::memory_order_acquire) - wanted) < 0)
        __nanosleep(20);
    }
    __syncthreads();
  }

  const Launch& launch_;
  BlockShared& shared_;
  uint32_t meetings_ = 0;
};

/// The device's clock in nanoseconds; it moves in steps of up to a microsecond.
__device__ inline uint64_t clock_ns() {
  uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

/// One launch: every team takes systems until none is left or its time is up.
__global__ void __launch_bounds__(kMostWarps * 32, 1) run_teams(const Launch launch) {
  __shared__ BlockShared shared;
  // A warp's values over a window lie here, so that the models have the registers. All lanes
  // write the same, and wait for each other before and after.
  __shared__ __align__(16) std::byte of_warps[kMostWarps][sizeof(TeamRun)];
  extern __shared__ __align__(16) std::byte states[];
  Team team(launch, shared);
  const WarpGroup g{cg::tiled_partition<32>(cg::this_thread_block())};
  const auto run = [&]() -> TeamRun& {
    return *reinterpret_cast<TeamRun*>(of_warps[threadIdx.x / 32]);
  };
  // The thread that looks at the clock and takes systems; in the team's first block.
  const auto leads = [&] { return threadIdx.x % 32 == 0 && team.warp() == 0; };
  if (threadIdx.x == 0) shared.begun = clock_ns();
  __syncthreads();
  const auto time_is_up = [&] { return clock_ns() - shared.begun > launch.slice.nanoseconds; };
  bool has_system = false, over = false;  // alike in all of a team
  while (true) {
    Findings found;
    if (has_system) {
      if (run().windows() % 16 == 0 && leads() && time_is_up()) found.flags = Findings::kTimeIsUp;
    } else if (over) {
      found.key = launch.count;
    } else if (leads()) {
      found.key = time_is_up() ? launch.count : atomicAdd(launch.next, 1u);
    }
    TeamRun::Walk walk;
    if (has_system) walk = run().begin(g, team.warp());
#pragma unroll 1
    for (uint32_t phase = 0; phase < TeamRun::kPhases; ++phase) {
      if (!team.is_alone_in_block()) __syncthreads();
      if (has_system) run().step_phase(g, phase, walk);
    }
    if (has_system) found.add(run().finish(g, team.warp(), walk));
    const Findings all = team.exchange(found);
    if (has_system) {
      has_system = run().meet(g, all) == Stop::kNone;
      if (!has_system) run().leave(g, team.warp());
    } else if (all.key < launch.count) {
      new (of_warps[threadIdx.x / 32]) TeamRun(launch.systems[all.key], launch.slice,
                                               states + team.in_block() * launch.state_bytes);
      run().enter(g, team.warp());
      has_system = run().stop() == Stop::kNone;
      if (!has_system) run().leave(g, team.warp());
    } else {
      over = true;
    }
    if (team.is_alone_in_block() ? over : __syncthreads_and(over) != 0) return;
  }
}

/// Teams that meet Launch::count times and do nothing else.
__global__ void __launch_bounds__(kMostWarps * 32, 1) meet_only(const Launch launch) {
  __shared__ BlockShared shared;
  Team team(launch, shared);
  for (uint32_t i = 0; i < launch.count; ++i) static_cast<void>(team.exchange({i, 0}));
}

}  // namespace nearwarp::kernels::gpu
