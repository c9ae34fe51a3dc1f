// The trace of one warp: what functional execution leaves and the timing model replays.
//
// A warp's trace is a sequence of 64-bit words. Control words say which basic block runs under
// which mask; each is followed by the memory records of that run, in program order, for every
// repetition.
//
//   control word   bits  0..31  active mask (0: end of the warp's trace)
//                  bits 32..51  basic block (index into the kernel image's block table)
//                  bits 52..63  repetitions - 1 (the block runs again with the same mask)
//
// Every executed ld, ldu, st, atom, red leaves a memory record (but for loads of parameters from a
// fixed place). Generic accesses that hit shared memory are recorded with kSharedWindow set in the
// base:
//
//   [mask word]    only if the instruction is guarded: bits 0..31 the lanes that execute it;
//                  if it is 0, no record follows
//   record         bits  0..47  base, bits 48..63 stride (signed)
//                  stride >= kMinStride: lane i accesses base + stride * i (mod 2^48), for the
//                  lanes of the mask
//                  stride == kTiles: the next word holds bits 0..31 the row distance (signed),
//                  bits 32..47 the lane stride (signed), bits 48..51 c: lane i accesses
//                  base + lane stride * (i mod 2^c) + row distance * (i / 2^c); thread blocks
//                  that are 16 or 8 wide leave these
//                  stride == kDeltas: base is the least address; the next (n + 1) / 2 words
//                  hold 32-bit unsigned distances from it for the n lanes of the mask in order,
//                  low half first
//                  stride == kAddresses: the next n words hold an address each
//
// An arrival at mbarriers, or a wait for their phases, leaves [mask word] and a kAddresses record
// whose words are PhaseEvents rather than addresses: as many as the mask has lanes, none for 0.
//
// Shared addresses are byte offsets into the block's shared window; local ones have been mapped
// to the device address of the lane's slot.
#pragma once

#include <cstdint>

#include "device/core/macros.h"

namespace nearwarp::trace {

inline constexpr int kDeltas = -32768;
inline constexpr int kAddresses = -32767;
inline constexpr int kTiles = -32766;
inline constexpr int kMinStride = -32765;
inline constexpr int kMaxStride = 32767;
inline constexpr uint64_t kAddressMask = (uint64_t{1} << 48) - 1;
/// Marks the base of a generic access that went to shared memory (device addresses stay below).
inline constexpr uint64_t kSharedWindow = uint64_t{1} << 47;
inline constexpr uint32_t kMaxBlocks = 1u << 20;
inline constexpr uint32_t kMaxRepeats = 1u << 12;

NW_HD constexpr uint64_t control_word(uint32_t mask, uint32_t block, uint32_t repeats) {
  return uint64_t{mask} | uint64_t{block} << 32 | uint64_t{repeats - 1} << 52;
}
NW_HD constexpr uint32_t control_mask(uint64_t w) { return static_cast<uint32_t>(w); }
NW_HD constexpr uint32_t control_block(uint64_t w) {
  return static_cast<uint32_t>(w >> 32) & (kMaxBlocks - 1);
}
NW_HD constexpr uint32_t control_repeats(uint64_t w) { return static_cast<uint32_t>(w >> 52) + 1; }

NW_HD constexpr uint64_t memory_record(uint64_t base, int stride) {
  return (base & kAddressMask) | static_cast<uint64_t>(static_cast<uint16_t>(stride)) << 48;
}
NW_HD constexpr uint64_t record_base(uint64_t w) { return w & kAddressMask; }
NW_HD constexpr int record_stride(uint64_t w) {
  return static_cast<int16_t>(static_cast<uint16_t>(w >> 48));
}
/// Words that follow a record for `n` active lanes.
NW_HD constexpr uint32_t record_extra_words(uint64_t w, uint32_t n) {
  switch (record_stride(w)) {
    case kDeltas:
      return (n + 1) / 2;
    case kAddresses:
      return n;
    case kTiles:
      return 1;
    default:
      return 0;
  }
}

/// A record in a chunk of a trace, and who has a part in it.
struct RecordView {
  const uint64_t* words;  ///< the chunk's
  uint32_t at;            ///< the record's place in it
  uint32_t mask;          ///< of accesses: their lanes; of phase events: which there are

  NW_HD const uint64_t& word() const { return words[at]; }
  /// The words behind it.
  NW_HD const uint64_t* more() const { return words + at + 1; }
};

/// An mbarrier's phases are counted from its thread block's begin, whatever is made of its word.
/// An arrival says in which phase, and, if it ended that, of how many events it was the last; a
/// wait says how many phases must be over. Arrivals may be at another block of the cluster.
struct PhaseEvent {
  uint32_t mbarrier = 0;  ///< of its block, in the order in which they were first used
  uint32_t phase = 0;
  uint32_t events = 0;  ///< 0: it did not end the phase
  uint32_t block = 0;   ///< the mbarrier's: its rank in the cluster plus one; 0: the warp's own
  bool others = false;  ///< other blocks have arrived in the phase before `phase`
};
/// mbarriers of a block whose phases are told of; those that are used later are not.
inline constexpr uint32_t kMaxMbarriers = 64;
/// Events that are told of a phase; one of more is over with so many.
inline constexpr uint32_t kMostPhaseEvents = (1u << 20) - 1;
/// The word of a phase event. As an address it would be one of shared memory.
NW_HD constexpr uint64_t phase_word(PhaseEvent e) {
  if (e.events > kMostPhaseEvents) e.events = kMostPhaseEvents;
  return uint64_t{e.mbarrier & 0xff} | uint64_t{e.phase & 0xfffffffu} << 8 | kSharedWindow |
         uint64_t{e.events & 0x7ffu} << 36 | uint64_t{e.events >> 11 & 0x1ffu} << 48 |
         uint64_t{e.block & 0x1fu} << 57 | uint64_t{e.others} << 62;
}
NW_HD constexpr PhaseEvent phase_event(uint64_t w) {
  return {static_cast<uint32_t>(w & 0xff), static_cast<uint32_t>(w >> 8) & 0xfffffffu,
          (static_cast<uint32_t>(w >> 36) & 0x7ffu) | (static_cast<uint32_t>(w >> 48) & 0x1ffu)
                                                          << 11,
          static_cast<uint32_t>(w >> 57) & 0x1fu, (w >> 62 & 1) != 0};
}

/// The second word of a kTiles record.
NW_HD constexpr uint64_t tile_word(int32_t row_distance, int lane_stride, uint32_t shift) {
  return uint64_t{static_cast<uint32_t>(row_distance)} |
         uint64_t{static_cast<uint16_t>(lane_stride)} << 32 | uint64_t{shift} << 48;
}
/// Distance of lane `i` from the record's base.
NW_HD constexpr uint64_t tile_distance(uint64_t tile, uint32_t i) {
  const uint32_t shift = static_cast<uint32_t>(tile >> 48) & 15;
  const auto row = static_cast<int32_t>(static_cast<uint32_t>(tile));
  const auto lane = static_cast<int16_t>(static_cast<uint16_t>(tile >> 32));
  return static_cast<uint64_t>(int64_t{lane} * (i & ((1u << shift) - 1)) +
                               int64_t{row} * (i >> shift));
}

}  // namespace nearwarp::trace
