// Shared-memory transfer on demand: an offloaded warp takes a shared array with it, as a copy of a
// table, or as an accumulator that begins with zeros and is merged at home when it returns. Arrays
// travel in rows, as wide as the banks of shared memory.
//
// Source: Y. Wu et al., "Tuning Applications for Efficient GPU Offloading to In-Memory Processing",
// ICS 2020, section 3.6.
#pragma once

#include "device/core/macros.h"
#include "device/core/packet.h"
#include "device/core/types.h"

namespace nearwarp::tuning {

/// The use that an offloaded warp makes of its shared array.
enum class SharedKind : uint8_t {
  kNone,         ///< it accesses none
  kAccumulator,  ///< only adds to it
  kTable,        ///< only reads it
};

/// Where the array lies on either SM, in an offload request, in bytes: shared-memory addresses in
/// registers are those of home.
inline constexpr uint32_t kSharedContextBytes = 8;
inline constexpr uint32_t kBankBytes = 4;
/// Cycles of the shared memory's port for one row: it reads or writes all banks at once. A row is
/// merged by reading it and writing the sum.
inline constexpr uint32_t kCopyCycles = 1, kMergeCycles = 2;

template <class P>
NW_HD NW_INLINE uint32_t row_bytes(const P& sm_params) {
  return sm_params.shared_banks * kBankBytes;
}
/// Bytes of row `row` of an array of `bytes`: the last one may be shorter.
NW_HD NW_INLINE uint32_t bytes_of_row(uint32_t row, uint32_t bytes, uint32_t row_bytes) {
  const uint32_t rest = bytes - row * row_bytes;
  return rest < row_bytes ? rest : row_bytes;
}

/// The packet of a row; destination and tag are the sender's.
template <class V>
NW_HD inline Packet row_packet(const V& v, PacketKind kind, uint32_t row, uint32_t bytes) {
  Packet p;
  p.kind = kind;
  p.src = v.s.endpoint;
  p.bytes = static_cast<uint16_t>(v.p.header_bytes + bytes_of_row(row, bytes, row_bytes(v.p)));
  return p;
}

/// Take the port of the SM's shared memory, which the load-store unit shares, for `rows` rows of
/// `cycles` each, behind what it is busy with. Returns the first cycle in which it is free again.
template <class V>
NW_HD inline uint32_t take_port(V& v, uint32_t now, uint32_t rows, uint32_t cycles) {
  auto& s = v.s;
  s.lsu_busy_until = (s.lsu_busy_until > now ? s.lsu_busy_until : now) + rows * cycles;
  s.counters.shared_accesses += rows * cycles;
  s.counters.shared_cycles += rows * cycles;
  return s.lsu_busy_until;
}

}  // namespace nearwarp::tuning
