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
  kWaiting,    ///< for operands of the chain: an address, or a value from before
  kDeciding,   ///< they are there; the first load is about to be issued
  kIssuing,    ///< the chain's instructions take their turns at the scheduler
  kSending,    ///< the ComputePacket waits for the network
  kAway,       ///< until the result or its acknowledgement comes
  kComputing,  ///< its operands have come instead (OC, section 4.4.2, scenario 3)
  kStoring,    ///< and its result waits for the network
};

/// One warp slot.
struct WarpSide {
  ComputeOrder order;
  uint16_t chain = kNoChain;
  uint16_t home = 0;     ///< endpoint that executes it
  uint32_t last = 0;     ///< the chain's last instruction
  uint32_t since = 0;    ///< cycle in which its first one was issued
  uint32_t threads = 0;  ///< thread-instructions of it
  Step step = Step::kNone;
  uint8_t came = 0;     ///< operands
  bool passes = false;  ///< its next instruction is that of a chain that it executes itself
};

/// What became of one chain's instances on one SM.
struct ChainCounters {
  uint64_t instances = 0;  ///< came to its first instruction
  // Executed at home, because
  uint64_t inactive = 0;   ///< an access has no lane
  uint64_t divergent = 0;  ///< an access touches several lines
  uint64_t l1_hits = 0;    ///< an operand is in the L1, or on its way there
  uint64_t full = 0;       ///< the offload queue was full
  uint64_t elsewhere = 0;  ///< no node that computes has all of its data
  uint64_t offloaded = 0;
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
