// Loads of full warps from shared memory whose places are rows with equal steps: one of all lanes,
// or as of thread blocks that are 16 or 8 wide.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "host/functional/instructions/lane_words.h"
#include "host/functional/instructions/memory.h"

namespace nearwarp::exec {

/// The shift of rows that have all lanes.
inline constexpr uint32_t kOneRow = 5;

/// `kColumns` values that lie `step` bytes apart. (Vectors of the host are named: loops over few
/// values would copy them one by one.)
template <class M, uint32_t kColumns>
NW_HD NW_INLINE void load_row(M* d, const uint8_t* p, int64_t step) {
  using Vector = typename VectorOf<M>::Type;
  constexpr uint32_t kPart = VectorOf<M>::kCount;
  static_assert(kColumns % kPart == 0);
  if (step == 0) {
    const Vector v = load_value<M>(p) - Vector{};
    for (uint32_t i = 0; i < kColumns; i += kPart) std::memcpy(d + i, &v, sizeof(v));
  } else if (step == sizeof(M)) {
    Vector v;
    for (uint32_t i = 0; i < kColumns; i += kPart) {
      std::memcpy(&v, p + i * sizeof(M), sizeof(v));
      std::memcpy(d + i, &v, sizeof(v));
    }
  } else {
    for (uint32_t i = 0; i < kColumns; ++i, p += step) d[i] = load_value<M>(p);
  }
}

/// Are the places rows of 2^kShift with steps `step` and distances `distance`?
template <uint32_t kShift, class A>
NW_HD NW_INLINE bool is_rows(const A* a, A step, A distance) {
  constexpr uint32_t kColumns = 1u << kShift;
  if (static_cast<A>(a[31] - a[0]) !=
      static_cast<A>(step * (kColumns - 1) + distance * (kLanes / kColumns - 1)))
    return false;  // what is irregular mostly ends here
  A differs = 0;
  for (uint32_t i = 0; i < kLanes; ++i)
    differs |= a[i] ^ static_cast<A>(a[0] + step * static_cast<A>(i % kColumns) +
                                     distance * static_cast<A>(i / kColumns));
  return differs == 0;
}

/// Loads rows of a full warp that begin at `first` in shared memory, and leaves their record;
/// false, with nothing done, if they lie outside or are misaligned.
template <class M, uint32_t kShift>
NW_HD NW_INLINE bool load_rows(Context& ctx, Warp& warp, const Op& op, const SharedRows& rows,
                               int64_t first) {
  constexpr uint32_t kColumns = 1u << kShift;
  if (static_cast<uint64_t>(first + rows.low) > rows.most ||
      (first & static_cast<int64_t>(sizeof(M) - 1)) != 0)
    return false;
  if (warp.trace != nullptr) {
    uint64_t* record = warp.trace + warp.trace_size;
    if constexpr (kShift == kOneRow) {
      record[0] = trace::memory_record(static_cast<uint64_t>(first), rows.step);
      warp.trace_size += 1;
    } else {
      record[0] = trace::memory_record(static_cast<uint64_t>(first), trace::kTiles);
      record[1] = rows.tile;
      warp.trace_size += 2;
    }
  }
  M* d = row<M>(warp.rows, op.d);
  const uint8_t* p = ctx.shared + first;
  for (uint32_t r = 0; r < kLanes; r += kColumns, p += rows.distance)
    load_row<M, kColumns>(d + r, p, rows.step);
  return true;
}

/// Unguarded load by a full warp from shared memory if its addresses are rows of 2^kShift, which is
/// known of those of all lanes; false, with nothing done, if they are not or lie outside.
template <class M, class A, uint32_t kShift>
NW_HD NW_INLINE bool load_shared_rows(Context& ctx, Warp& warp, const Op& op) {
  constexpr uint32_t kColumns = 1u << kShift;
  const A* a = row<A>(warp.rows, op.a);
  const A step_bits = a[1] - a[0];
  const A distance_bits = kShift == kOneRow ? A{0} : static_cast<A>(a[kColumns % kLanes] - a[0]);
  if constexpr (kShift != kOneRow)
    if (!is_rows<kShift>(a, step_bits, distance_bits)) return false;
  using S = std::make_signed_t<A>;
  const int64_t step = static_cast<S>(step_bits), distance = static_cast<S>(distance_bits);
  // A place is an affine function of column and row: the corners bound it.
  const int64_t across = step * (kColumns - 1), down = distance * (kLanes / kColumns - 1);
  const int64_t low = (across < 0 ? across : 0) + (down < 0 ? down : 0);
  const int64_t high = (across > 0 ? across : 0) + (down > 0 ? down : 0);
  const int64_t most = static_cast<int64_t>(ctx.shared_bytes - sizeof(M)) - (high - low);
  if (most < 0 || ((step | distance) & static_cast<int64_t>(sizeof(M) - 1)) != 0 ||
      step < trace::kMinStride || step > trace::kMaxStride)
    return false;
  SharedRows rows;
  rows.access = op.c;
  rows.shift = kShift;
  rows.step = static_cast<int32_t>(step);
  rows.distance = static_cast<int32_t>(distance);
  rows.low = low;
  rows.most = static_cast<uint64_t>(most);
  if constexpr (kShift != kOneRow) rows.tile = trace::tile_word(rows.distance, rows.step, kShift);
  // Before the load, which may write where the addresses are.
  if constexpr (sizeof(A) == 4)
    for (uint32_t i = 0; i < kLanes; ++i) rows.offsets[i] = a[i] - a[0];
  if (!load_rows<M, kShift>(ctx, warp, op, rows, static_cast<int64_t>(a[0]) + op.imm)) return false;
  if constexpr (sizeof(A) == 4) ctx.shared_rows[op.c % Context::kSharedRows] = rows;
  return true;
}

/// Such a load whose addresses lie, from the first one on, as `rows` says.
template <class M>
NW_HD NW_INLINE bool load_known_rows(Context& ctx, Warp& warp, const Op& op,
                                     const SharedRows& rows) {
  const int64_t first = static_cast<int64_t>(row<uint32_t>(warp.rows, op.a)[0]) + op.imm;
  if (rows.shift == 4) return load_rows<M, 4>(ctx, warp, op, rows, first);
  if (rows.shift == kOneRow) return load_rows<M, kOneRow>(ctx, warp, op, rows, first);
  return load_rows<M, 3>(ctx, warp, op, rows, first);
}

/// Loads if the addresses lie as they did last. If not, how they lay is forgotten.
template <class M>
NW_HD NW_INLINE bool load_shared_again(Context& ctx, Warp& warp, const Op& op) {
  SharedRows& rows = ctx.shared_rows[op.c % Context::kSharedRows];
  if (rows.access != op.c) return false;
  const uint32_t* a = row<uint32_t>(warp.rows, op.a);
  using Vector = VectorOf<uint32_t>::Type;
  constexpr uint32_t kPart = VectorOf<uint32_t>::kCount;
  Vector differs{};
  for (uint32_t i = 0; i < kLanes; i += kPart) {
    Vector v, before;
    std::memcpy(&v, a + i, sizeof(v));
    std::memcpy(&before, rows.offsets + i, sizeof(before));
    differs |= (v - a[0]) ^ before;
  }
  if (is_zero(differs) && load_known_rows<M>(ctx, warp, op, rows)) return true;
  rows.access = SharedRows::kNobody;
  return false;
}

}  // namespace nearwarp::exec
