// State of an SM for bulk copies, for phases of mbarriers, and for warps that wait for them.
#pragma once

#include "device/core/cluster_places.h"
#include "device/sm/coalescer.h"
#include "device/sm/trace_cursor.h"
#include "device/trace/format.h"

namespace nearwarp::sm {

/// Tags from here up to kConstantTag: of lines that the copy engine reads and writes.
inline constexpr uint32_t kCopyTag = 0x50000000u;
/// Boxes that the engine has accepted, and that have not come or gone completely.
inline constexpr uint32_t kMaxBoxes = 32;

/// Groups of products that a warp can wait for; of more, the oldest are taken to be done.
inline constexpr uint32_t kProductGroups = 8;

/// An mbarrier of a thread block. It counts the events that have come of the phase under way and
/// of the next one.
struct MbarrierState {
  uint32_t phase = 0;        ///< number of phases that are over
  uint32_t come[2] = {};     ///< events, by the phase's parity
  uint32_t awaited[2] = {};  ///< how many there will be; 0: not known yet
  uint32_t at[2] = {};       ///< the cycle of the last one that has come
  uint32_t over_at[2] = {};  ///< the cycles at which the last two were over, by their parity
};

/// A bulk copy: what one instruction asked for.
struct Box {
  Cursor at;  ///< the engine's, in the trace of the warp that asked
  uint32_t thread_block = 0;
  uint32_t first_block = 0;  ///< of the kernel in the block table
  uint32_t lines = 0;        ///< sent, not answered
  uint32_t events = 0;       ///< where the words of what it signals are in the trace,
  uint32_t event_mask = 0;   ///< and how many, as a mask
  uint8_t warp = 0;
  uint8_t space = 0;      ///< address space
  uint8_t group = 0;      ///< of the warp's groups, modulo 256
  bool grouped = false;   ///< groups are waited for: it stores, or reduces
  bool all_sent = false;  ///< its last line has been read from shared memory, or asked for
};

/// A box that other blocks of the cluster get, too: what is to be sent on of it.
struct SharedBox {
  uint16_t ranks = 0;                       ///< the blocks; 0: none
  uint16_t left = 0;                        ///< those that the line under way is yet to be sent to
  bool last = false;                        ///< that line is the last one
  uint32_t lines = 0;                       ///< that have come, the one under way included
  uint32_t number = 0;                      ///< of the box among all that the SM has asked for
  uint64_t events[kMaxClusterBlocks] = {};  ///< by rank: what arrives there behind the last line
};

/// Asynchronous loads of a warp, in segments: groups, which commits end, and parts of them, which
/// end where something is to arrive at mbarriers when they are done.
struct AsyncLoads {
  static constexpr uint32_t kSegments = 8;  ///< that are not done, at most
  uint16_t loading[kSegments] = {};         ///< loads under way, by segment
  uint32_t record[kSegments] = {};          ///< where the words of what arrives are in the trace,
  uint32_t event_mask[kSegments] = {};      ///< and how many, as a mask
  uint32_t ready[kSegments] = {};           ///< the cycle at which all up to it have their data
  uint32_t committed[kSegments] = {};       ///< the last segments of the last groups
  uint32_t oldest = 0, open = 0;            ///< segments: the first that is not done, the newest
  uint32_t groups = 0;                      ///< committed

  NW_HD bool none_is_under_way() const { return oldest == open && loading[open % kSegments] == 0; }
  NW_HD bool is_full() const { return open - oldest + 1 == kSegments; }
  /// Are all done but for the newest `pending` groups, and what is in none yet?
  NW_HD bool all_but(uint32_t pending) const {
    return pending >= kSegments || pending >= groups ||
           static_cast<int32_t>(oldest - last_but(pending)) > 0;
  }
  /// The cycle at which data of all but the newest `pending` groups, which are done, is there.
  NW_HD uint32_t ready_but(uint32_t pending) const {
    if (pending >= kSegments || pending >= groups) return 0;
    const uint32_t last = last_but(pending);
    return open - last < kSegments ? ready[last % kSegments] : 0;  // else long ago
  }

 private:
  NW_HD uint32_t last_but(uint32_t pending) const {
    return committed[(groups + kSegments - 1 - pending) % kSegments];
  }
};

/// State of a warp for copies, beside sm::Warp.
struct WarpCopies {
  uint32_t wait_pc = 0, wait_record = 0, wait_mask = 0;  ///< the wait at which it is
  uint16_t boxes = 0;                                    ///< that it asked for, under way
  uint8_t group = 0;  ///< how many groups it has committed, modulo 256
  /// Groups of products of warp groups, likewise, and the cycles at which the last ones are done.
  uint8_t products = 0;
  uint32_t products_done[kProductGroups] = {};
  AsyncLoads loads;
};

/// The copy engine.
struct CopyEngine {
  Box boxes[kMaxBoxes];
  uint8_t order[kMaxBoxes] = {};  ///< a ring: boxes with lines that have not been sent
  uint32_t head = 0;
  uint32_t free_boxes = ~uint32_t{0};
  LineList lines;                     ///< of the step of the first box in `order`
  bool lines_valid = false;           ///< else its cursor stands at the next step
  Action action = Action::kCopyRead;  ///< of that step
  uint64_t load_lines = 0, store_lines = 0, atomic_lines = 0, copies = 0;  ///< counts of events
};
static_assert(kMaxBoxes == 32);

}  // namespace nearwarp::sm
