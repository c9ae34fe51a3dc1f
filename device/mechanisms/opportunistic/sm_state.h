// What opportunistic computing keeps on an SM: the offload queue (OC, section 4.2 and figure 8).
#pragma once

#include "device/cache/service_state.h"
#include "device/core/warp_set.h"
#include "device/mechanisms/opportunistic/program.h"

namespace nearwarp::opportunistic {

struct SmSideParams {
  uint32_t entries = 48;  ///< of the queue's status register (OQSR)
  Ref<OffloadChain> chains;
  Ref<uint16_t> chain_of;  ///< by instruction: the chain that begins with it; kNoChain: none
};

/// Where a warp stands with its chain.
enum class Step : uint8_t {
  kNone,
  kWaiting,   ///< for operands of the chain: an address, or a value from before
  kDeciding,  ///< they are there; the first load is about to be issued
  kIssuing,   ///< the chain's instructions take their turns at the scheduler
  kAway,      ///< until all results, or their acknowledgements, have come
};

/// Parts of a chain at most: more are not offloaded.
inline constexpr uint32_t kMaxParts = 4;

/// Lanes of a warp whose accesses go to the same lines: a ComputePacket (OC, section 4.5).
struct Part {
  ComputeOrder order;
  uint16_t home = 0;  ///< endpoint that executes it
  uint8_t lanes = 0;
  uint8_t came = 0;  ///< operands, where the service queue was full
};

/// One warp slot. Sets of parts are bits.
struct WarpSide {
  Part parts[kMaxParts];
  uint16_t chain = kNoChain;
  uint8_t num_parts = 0;
  uint8_t unsent = 0;     ///< their packets wait for the network
  uint8_t computing = 0;  ///< their operands have come instead (OC, section 4.4.2, scenario 3)
  uint8_t to_store = 0;   ///< and their results wait for the network
  uint8_t done = 0;
  Step step = Step::kNone;
  bool missed = false;    ///< a load has been kept back before the chain was refused
  bool passes = false;    ///< its next instruction is that of a chain that it executes itself
  uint32_t last = 0;      ///< the chain's last instruction
  uint32_t since = 0;     ///< cycle in which its first one was issued
  uint32_t computed = 0;  ///< cycle in which what is `computing` is done
};

/// What became of one chain's instances on one SM.
struct ChainCounters {
  uint64_t instances = 0;  ///< came to its first instruction
  // Executed at home, because
  uint64_t inactive = 0;   ///< an access has no lane
  uint64_t divergent = 0;  ///< its lanes access too many different lines
  uint64_t l1_hits = 0;    ///< an operand is in the L1, or on its way there
  uint64_t full = 0;       ///< the offload queue was full
  uint64_t elsewhere = 0;  ///< no node that computes has all of its data
  uint64_t offloaded = 0;
  uint64_t packets = 0;      ///< ComputePackets
  uint64_t came_back = 0;    ///< of these: as operands, because the service queue was full
  uint64_t threads = 0;      ///< thread-instructions executed elsewhere
  uint64_t away_cycles = 0;  ///< of those offloaded: from the first issue to the end, summed
};

/// `kWords`: words of its warp sets.
template <uint32_t kWords>
struct SmSideState {
  uint32_t in_use = 0;  ///< of the queue's entries
  uint32_t peak = 0;
  WarpSet<kWords> to_send;    ///< ComputePackets, and stores
  Ref<WarpSide> warps;        ///< by warp slot
  Ref<ChainCounters> chains;  ///< by chain
};

}  // namespace nearwarp::opportunistic
