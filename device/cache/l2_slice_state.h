// The state of an L2 slice: parameters, tags, MSHRs, rings, counters. Its behaviour:
// device/cache/l2_slice.h.
#pragma once

#include "device/cache/l2_halves_state.h"
#include "device/cache/line_sectors.h"
#include "device/cache/tag_store.h"
#include "device/core/bits.h"
#include "device/core/fault.h"
#include "device/core/home_table.h"
#include "device/core/mechanisms.h"
#include "device/core/packet.h"
#include "device/core/step.h"
#include "device/core/translation.h"

namespace nearwarp {

inline constexpr uint32_t kNoMshr = 0xffffffffu;
inline constexpr uint32_t kNoSet = 0xffffffffu;

/// The effect of a write whose line is not there, in a slice that keeps whole lines.
enum class L2WriteMiss : uint8_t {
  kAllocate,      ///< one of a whole line takes a way, and nothing is fetched; others go to memory
  kThrough,       ///< all go to memory
  kFetch,         ///< they go to memory, and their line is fetched besides
  kFetchOnWrite,  ///< as kAllocate, but others fetch their line and stay in it
};

/// Which lines a slice gives up when a launch begins, where each stack has slices of its own. What
/// is dirty is written back then (but for kKeep), whichever stay.
enum class L2AtLaunch : uint8_t {
  kKeep,    ///< none: what other stacks have written is never seen
  kRemote,  ///< those of other stacks' memory; of its own stack's those that others have written
  kAll,
};

/// The index maps a line's number within the slice to its set; at most 64 ways.
struct L2SliceParams : cache::TagStoreParams {
  uint32_t period = 1;          ///< ticks per L2 cycle
  uint32_t latency_cycles = 1;  ///< from look-up to departure, at least 1
  uint32_t mshr_entries = 1;
  uint32_t mshr_merges = 1;       ///< requests that one entry can answer
  uint32_t atomic_cycles = 0;     ///< that each lane takes of those that want one address; 0: none
  uint8_t atomics_in_memory = 0;  ///< they pass the slice, and their line goes (l2_launches.h)
  uint8_t by_sectors = 0;  ///< reads fetch the sectors that are missing (device/cache/l2_sectors.h)
  uint8_t write_back = 0;  ///< writes stay: by sectors, or whole lines (l2_dirty_lines.h)
  L2WriteMiss write_miss = L2WriteMiss::kAllocate;  ///< of whole lines that stay
  L2AtLaunch at_launch = L2AtLaunch::kKeep;
  uint8_t sectors_per_cycle = 0;  ///< looked up; 0: all of a request. Only with `by_sectors`
  uint16_t header_bytes = 0, line_bytes = 0, sector_bytes = 0;
  Endpoint endpoint{};  ///< this slice
  StackId stack{};      ///< its own
  HomeTable homes;      ///< of lines in memory
  AddressMaps map;
  L2HalvesParams halves;
};

/// A miss. Those of an L1 are kept otherwise, and share nothing with these but their name: there up
/// to 256 are found by bits of free ones, a waiter is a load's number of one byte, and a fill
/// serves at once all that wait for nothing more; here there may be thousands, in a list of free
/// ones, a waiter is a packet's way back, and one is answered per cycle while others still join.
struct L2Mshr {
  LineAddr line = 0;
  uint32_t set = 0;
  uint16_t way = 0;
  uint16_t waiters = 0;
  uint16_t keep = 0;     ///< 0: the line was invalidated while it was under way
  uint16_t missing = 0;  ///< by sectors: those under way
  uint32_t next_free = kNoMshr;
};

/// The kind of a request, by who made it.
enum class L2Origin : uint8_t {
  kRead,  ///< or a write
  kAtomic,
  kFor,    ///< a mechanism's read for the sender of a packet; `sectors`: the reply's kind
  kOwn,    ///< a mechanism's own (own_tag())
  kStore,  ///< a write that waits for its line
};

struct L2Waiter {
  uint32_t tag = 0;
  uint32_t sectors = 0;
  Endpoint src{};
  L2Origin origin = L2Origin::kRead;
  uint8_t needs = 0;  ///< by sectors: those that were missing
};

/// A hit's reply, or the acknowledgement of a write that stays, on its way through the pipeline.
struct L2Reply {
  Tick due = 0;
  LineAddr line = 0;
  uint32_t tag = 0, sectors = 0;
  Endpoint dst{};
  PacketKind kind = PacketKind::kNone;
};

/// A request to memory on its way through the pipeline.
struct L2Request {
  Tick due = 0;
  LineAddr line = 0;
  uint32_t tag = 0, sectors = 0;
  Endpoint src{};
  uint16_t bytes = 0;
  PacketKind kind = PacketKind::kNone;
};

struct L2Counters {
  uint64_t requests_in = 0, replies_out = 0;  ///< towards the SMs
  /// Ticks: of requests from their arrival to their look-up; of replies from when their data is
  /// there to when they leave, but for those of mechanisms.
  uint64_t request_wait = 0, reply_wait = 0;
  uint64_t memory_out = 0, memory_in = 0;  ///< towards the vaults
  uint64_t reads = 0, read_hits = 0, read_misses = 0, read_merges = 0;
  uint64_t atomics = 0, atomic_hits = 0, atomic_misses = 0, atomic_merges = 0;
  uint64_t atomic_busy_cycles = 0;  ///< of the unit for atomics
  uint64_t atomics_passed = 0;      ///< on to memory; of no other number
  uint64_t writes = 0, write_hits = 0;
  uint64_t invalidations = 0, lines_invalidated = 0;
  uint64_t fills = 0, evictions = 0;
  uint64_t memory_reads = 0, memory_writes = 0;
  uint64_t atomic_writes = 0, atomic_write_acks = 0;  ///< memory writes in this slice's own name
  // By sectors, and with write-back; write_backs of whole lines, too.
  uint64_t tag_cycles = 0;           ///< that look-ups took, where sectors take turns
  uint64_t sector_misses = 0;        ///< sectors fetched
  uint64_t sector_write_misses = 0;  ///< written and neither there nor on their way
  uint64_t write_backs = 0;          ///< lines; memory writes in this slice's own name
  uint64_t sectors_dirtied = 0, sectors_written_back = 0;
  // Whole lines that stay.
  uint64_t lines_dirtied = 0;
  uint64_t write_allocates = 0;  ///< lines that writes have taken a way for without a fetch
  uint64_t write_fetches = 0;    ///< lines that writes have fetched
  uint64_t writes_through = 0;   ///< that memory acknowledges
  uint64_t write_waits = 0;      ///< that have waited for their line
  // Where launches end what a slice keeps (l2_launches.h).
  uint64_t launches = 0;            ///< that have begun, as far as the slice was told
  uint64_t lines_given_up = 0;      ///< at these, of what was there
  uint64_t launch_write_backs = 0;  ///< of `write_backs`
  uint64_t launch_cycles = 0;       ///< in which nothing is looked up for their sake
};

struct L2SliceState : cache::TagStore {
  Ref<Channel> request_in, memory_in, memory_out, reply_out;
  Ref<Channel> invalidate_in;  ///< count 0: none. Invalidations never wait for anything.
  Ref<Channel> clean_out;      ///< towards the front end: kClean; count 0: it waits for none
  /// Lines below are not in the GPU's memory yet; an endpoint answers for them. 0: all are.
  LineAddr elsewhere_end = 0;
  Endpoint elsewhere{};
  Ref<uint16_t> mshr_of;            ///< [set][way]: valid where `pending`
  Ref<uint64_t> pending;            ///< [set]: ways that wait for their line, or for a sector of it
  Ref<cache::LineSectors> sectors;  ///< [set][way]; count 0: not by sectors
  /// [set][way]: 1: newer than memory's; 2: and another stack has written the line, too; count 0:
  /// no whole lines stay.
  Ref<uint8_t> dirty_lines;
  Ref<L2Mshr> mshrs;
  Ref<L2Waiter> waiters;  ///< [mshr][merge]
  Ref<L2Reply> replies;
  Ref<L2Request> requests;
  uint32_t reply_head = 0, reply_count = 0;
  uint32_t request_head = 0, request_count = 0;
  uint32_t request_reserved = 0;  ///< places kept for the writes of atomics that missed
  uint32_t free_mshr = 0;
  uint32_t mshrs_in_use = 0;
  Tick fill_came = 0;          ///< when the last data came from memory
  uint32_t filling = kNoMshr;  ///< MSHR whose requesters are being answered
  uint32_t next_waiter = 0;
  uint32_t needs_mshr = 0;      ///< 1: the oldest request has been refused for want of one
  Tick atomics_until = 0;       ///< the unit for atomics is busy
  Tick tags_until = 0;          ///< the tags are busy with the sectors of a request
  uint32_t cleaning = kNoSet;   ///< from this set on dirty lines are written back for a launch
  uint32_t owes_word = 0;       ///< 1: the front end waits for it to be clean
  uint32_t uses_at_launch = 0;  ///< `uses` when the last launch began
  uint32_t hit_turn = 0;  ///< whose turn it is when a fill and a hit want to reply: 1: the hit's
  // Whose look-up and whose reply was the last, where mechanisms have some (MemoryHooks).
  uint32_t last_look_up = memory_hooks::kNoContender, last_reply = memory_hooks::kNoContender;
  Attachments attached;
  L2Halves halves;
  L2Counters counters;
  Fault fault;
};

}  // namespace nearwarp
