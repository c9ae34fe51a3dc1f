// Shared memory of other thread blocks of a cluster, in time.
//
// In a trace, addresses of shared memory have the rank of another block plus one in the bits from
// 24 on (exec::kWindowBits). What such accesses take longer is the network's latency; that it may
// be busy is not modelled (estimated), and banks are taken as those of the own memory.
#pragma once

#include "device/sm/sm_view.h"
#include "device/trace/reader.h"

namespace nearwarp::sm {

inline constexpr uint32_t kSharedWindowBits = 24;  ///< of a block's own shared memory

/// The address of the first lane of `mask` in a record, or the least of all lanes.
NW_HD inline uint64_t first_address(const uint64_t* words, uint32_t mask) {
  const uint64_t base = trace::record_base(words[0]);
  const int stride = trace::record_stride(words[0]);
  if (stride == trace::kAddresses) return words[1];
  if (stride < trace::kMinStride) return base;
  const int64_t lane = count_trailing_zeros(mask);
  return (base + static_cast<uint64_t>(stride * lane)) & trace::kAddressMask;
}

/// Cycles that an access to shared memory takes more than one to the block's own.
template <class V>
NW_HD NW_CALLED uint32_t way_to_other_block(const V& v, const uint64_t* words, uint32_t record,
                                            uint32_t mask) {
  const uint64_t address = first_address(words + record, mask) & (trace::kSharedWindow - 1);
  return address >> kSharedWindowBits != 0 ? v.p.remote_shared : 0;
}

}  // namespace nearwarp::sm
