// The state of opportunistic computing on an SM: the offload queue (OC, section 4.2 and figure 8).
#pragma once

#include "device/core/channel.h"
#include "device/core/warp_set.h"
#include "device/mechanisms/opportunistic/program.h"
#include "device/mechanisms/opportunistic/service_state.h"

namespace nearwarp::opportunistic {

struct SmSideParams {
  uint32_t entries = 48;   ///< of the queue's status register (OQSR)
  uint32_t max_parts = 4;  ///< ComputePackets of a chain
  Ref<OffloadChain> chains;
  Ref<uint16_t> chain_of;  ///< by instruction: the chain that begins with it; kNoChain: none
  // Where data of two slices meets (OC, section 4.3).
  uint32_t slices = 0;    ///< 0: SMs execute nothing for others
  Ref<uint8_t> slice_at;  ///< by endpoint: the number of its slice
};

/// Tag of packets that an SM's service queue has sent for: this and an entry. Packets for the
/// SM's own chains are tagged with warp and part.
inline constexpr uint32_t kServiceTag = 1u << 16;
/// In a table of meeting points: there is none.
inline constexpr Endpoint kNoMeeting{0xffff};

/// The service queue of an SM: device/mechanisms/opportunistic/sm_service.h. A queue as that of a
/// slice, and
struct SmService : ServiceState {
  Ref<Channel> arrivals;     ///< ComputePackets of other SMs
  Ref<Channel> answers;      ///< to them
  ServiceFifo came;          ///< an entry for each operand that has come
  ServiceFifo to_compute;    ///< wait for the ALU
  bool own_alu = false;      ///< it has one; else it uses the SM's while that is idle
  bool sends_back = false;   ///< all that it has no room for
  bool forwards = false;     ///< sends for operands in the name of another SM,
  uint8_t forwarded = 0;     ///< of which so many have been,
  Packet forward;            ///< for this chain
  uint32_t alu_wanted = 0;   ///< cycle from which the first of `to_compute` could have had it
  uint64_t alu_waits = 0;    ///< cycles that it was wanted and not idle
  uint64_t turned_away = 0;  ///< ComputePackets that went back
};

/// Lay out such a queue.
template <class Allocator>
SmService make_sm_service(Allocator& arena, uint32_t entries, uint32_t buffer_entries,
                          uint32_t alu_interval, bool own_alu) {
  SmService s;
  static_cast<ServiceState&>(s) = make_service_queue(arena, entries, buffer_entries, alu_interval);
  s.came.ids = arena.template allocate<uint8_t>(entries * kMaxOperands);
  s.to_compute.ids = arena.template allocate<uint8_t>(entries);
  s.own_alu = own_alu;
  return s;
}

/// Where a warp stands with its chain.
enum class Step : uint8_t {
  kNone,
  kFetching,  ///< for its instructions, where fetching takes time
  kWaiting,   ///< for operands of the chain: an address, or a value from before
  kDeciding,  ///< they are there; the first load is about to be issued
  kIssuing,   ///< the chain's instructions take their turns at the scheduler
  kAway,      ///< until all results, or their acknowledgements, have come
};

/// Parts of a chain at most, whatever SmSideParams::max_parts says: more are not offloaded.
inline constexpr uint32_t kMaxParts = 4;

/// Lanes of a warp whose accesses go to the same lines: a ComputePacket (OC, section 4.5).
struct Part {
  ComputeOrder order;
  uint64_t words = 0;  ///< of four bytes that it stores, where an L2 wants to know them
  Endpoint home{};     ///< endpoint that executes it
  uint8_t lanes = 0;
  uint8_t asked = 0;      ///< operands that this SM has sent for
  uint8_t came = 0;       ///< operands, where the service queue was full
  bool returned = false;  ///< it is this SM that executes it
};

/// One warp slot. Sets of parts are bits.
struct WarpSide {
  Part parts[kMaxParts];
  uint16_t chain = kNoChain;
  uint8_t num_parts = 0;
  uint8_t unsent = 0;     ///< their packets wait for the network
  uint8_t to_load = 0;    ///< their operands have to be sent for
  uint8_t computing = 0;  ///< their operands have come instead (OC, section 4.4.2, scenario 3)
  uint8_t to_store = 0;   ///< and their results wait for the network
  uint8_t done = 0;
  uint8_t fetched = 0;  ///< of the chain's instructions, and what came with them
  Step step = Step::kNone;
  bool missed = false;    ///< a load has been kept back before the chain was refused
  bool passes = false;    ///< its next instruction is that of a chain that it executes itself
  uint32_t last = 0;      ///< the chain's last instruction
  uint32_t since = 0;     ///< cycle in which its first one was issued
  uint32_t computed = 0;  ///< cycle in which what is `computing` is done
};

/// Numbers of one chain's instances on one SM, by what became of them.
struct ChainCounters {
  uint64_t instances = 0;  ///< came to its first instruction
  // Executed at home, because
  uint64_t inactive = 0;   ///< an access has no lane
  uint64_t divergent = 0;  ///< its lanes access too many different lines
  uint64_t l1_hits = 0;    ///< an operand is in the L1, or on its way there
  uint64_t full = 0;       ///< the offload queue was full
  uint64_t elsewhere = 0;  ///< no node that computes has all of its data
  uint64_t offloaded = 0;
  uint64_t packets = 0;       ///< ComputePackets
  uint64_t to_sms = 0;        ///< of these: to SMs
  uint64_t came_back = 0;     ///< of these: as operands, because the service queue was full
  uint64_t threads = 0;       ///< thread-instructions executed elsewhere
  uint64_t away_cycles = 0;   ///< of those offloaded: from the first issue to the end, summed
  uint64_t entry_cycles = 0;  ///< of entries of the queue, from the first issue on, summed
  uint64_t sums = 0;          ///< of split multiply-adds, issued at home
};

/// `kWords`: words of its warp sets.
template <uint32_t kWords>
struct SmSideState {
  uint32_t in_use = 0;  ///< of the queue's entries
  uint32_t peak = 0;
  WarpSet<kWords> to_send;    ///< ComputePackets, and stores
  Ref<WarpSide> warps;        ///< by warp slot
  Ref<ChainCounters> chains;  ///< by chain
  // State where SMs execute chains for others.
  Ref<Endpoint> meetings;    ///< [slice * slices + slice]: SM; kNoMeeting: none
  Ref<SmService> service;    ///< count 0: none
  bool others_turn = false;  ///< the network's next packet is the service queue's
};

}  // namespace nearwarp::opportunistic
