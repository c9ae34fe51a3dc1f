// A program's offload chains, as the device knows them.
#pragma once

#include "device/core/macros.h"
#include "device/core/types.h"

namespace nearwarp::opportunistic {

inline constexpr uint16_t kNoChain = 0xffff;

/// A ComputePacket, in bytes (OC, figure 5): one flit.
inline constexpr uint32_t kComputePacketBytes = 32;
/// A bit for each thread, in a reply (OC, table 1: bitmap), in bytes.
inline constexpr uint32_t kBitmapBytes = 4;
/// An element of a lane: chains are of elements of up to so many.
inline constexpr uint32_t kWordBytes = 4;

/// A chain: instructions one after the other, loads, then arithmetic, then perhaps a store.
struct OffloadChain {
  uint8_t instructions = 0;
  uint8_t loads = 0;
  uint8_t alu = 0;      ///< instructions
  uint8_t pattern = 0;  ///< of OC's table 1
  bool stores = false;
  bool keeps_result = false;    ///< the last instruction's registers come back
  uint16_t latency_cycles = 0;  ///< of its arithmetic
  bool lane_words = false;      ///< a word for each lane comes back
  uint16_t reply_bytes = 0;     ///< else: besides the header
  /// Core cycles that the sum of a split multiply-add takes at home, once the product is there.
  uint16_t sum_cycles = 0;
};

}  // namespace nearwarp::opportunistic
