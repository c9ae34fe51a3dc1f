// Fast paths of loads and stores: whole words, one allocation, most often a full warp. What does
// not fit goes to the general paths of memory.h, which also report errors.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "host/functional/instructions/lane_words.h"
#include "host/functional/instructions/memory.h"
#include "host/functional/instructions/memory_rows.h"

namespace nearwarp::exec {

/// The distances of all lanes' offsets from the least, in pairs of lanes, low half first.
NW_HD NW_INLINE void store_distances(uint64_t* out, const uint32_t* offsets, uint32_t low) {
  using Vector = VectorOf<uint32_t>::Type;
  constexpr uint32_t kPart = VectorOf<uint32_t>::kCount;
  for (uint32_t i = 0; i < kLanes; i += kPart) {
    Vector v;
    std::memcpy(&v, offsets + i, sizeof(v));
    v -= low;
    std::memcpy(out + i / 2, &v, sizeof(v));
  }
}

/// Warps that walk memory in large equal steps defeat the host's prefetchers. Fetch what the
/// instruction will touch when this warp executes it next, should it go on as it came here, and
/// what lies behind `p`, where it begins now: the next warp will touch that. Any address is
/// harmless.
template <class M>
NW_HD NW_INLINE void prefetch_ahead(MemDesc& desc, const uint8_t* p, uint64_t first) {
  constexpr uint32_t kLine = 64, kRow = kLanes * sizeof(M);
  const uintptr_t here = reinterpret_cast<uintptr_t>(p), next = here + (first - desc.last);
  desc.last = first;
  for (uint32_t i = 0; i < kRow; i += kLine) {
    __builtin_prefetch(reinterpret_cast<const void*>(next + i));
    __builtin_prefetch(reinterpret_cast<const void*>(here + kRow + i));
  }
}

/// Unguarded load of 4- or 8-byte words by a full warp from device memory.
template <class M>
NW_HD NW_INLINE bool load_global_full(Context& ctx, Warp& warp, const Op& op) {
  MemDesc& desc = ctx.memory[op.c];
  const uint64_t* a = row<uint64_t>(warp.rows, op.a);
  M* d = row<M>(warp.rows, op.d);
  const uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(op.imm));
  const uint64_t first = a[0] + offset;
  const uint64_t stride = a[1] - a[0];
  const uint64_t limit = desc.span - sizeof(M);  // huge if nothing is cached; `span` is tested too
  if (is_progression(a, stride)) {
    const uint64_t last = first + 31 * stride;
    const bool ok = desc.span >= sizeof(M) && first - desc.lo <= limit && last - desc.lo <= limit &&
                    ((first | stride) & (sizeof(M) - 1)) == 0 &&
                    static_cast<uint64_t>(static_cast<int64_t>(stride) - trace::kMinStride) <=
                        static_cast<uint64_t>(trace::kMaxStride - trace::kMinStride);
    if (!ok) return load_general(ctx, warp, op, kFullMask);
    if (warp.trace != nullptr)
      warp.trace[warp.trace_size++] = trace::memory_record(first, static_cast<int>(stride));
    const uint8_t* p = ctx.arena + (first - kDeviceBase);
    prefetch_ahead<M>(desc, p, first);
    if (stride == sizeof(M)) {
      for (uint32_t i = 0; i < kLanes; ++i) d[i] = load_value<M>(p + i * sizeof(M));
    } else if (stride == 0) {
      const M v = load_value<M>(p);
      for (uint32_t i = 0; i < kLanes; ++i) d[i] = v;
    } else {
      for (uint32_t i = 0; i < kLanes; ++i, p += static_cast<int64_t>(stride))
        d[i] = load_value<M>(p);
    }
    return true;
  }
  // Irregular: all lanes inside the cached allocation, which is smaller than 4 GiB.
  uint32_t offsets[kLanes];
  uint64_t bits = 0;  // of all offsets
  const uint64_t shift = offset - desc.lo;
  for (uint32_t i = 0; i < kLanes; ++i) {
    const uint64_t o = a[i] + shift;
    bits |= o;
    offsets[i] = static_cast<uint32_t>(o);
  }
  uint32_t low = ~uint32_t{0}, high = 0;
  for (uint32_t i = 0; i < kLanes; ++i) {
    low = offsets[i] < low ? offsets[i] : low;
    high = offsets[i] > high ? offsets[i] : high;
  }
  if (!(desc.span >= sizeof(M) && limit <= 0xffffffffu && bits >> 32 == 0 && high <= limit &&
        ((bits | desc.lo) & (sizeof(M) - 1)) == 0))
    return load_general(ctx, warp, op, kFullMask);
  if (warp.trace != nullptr) {
    if (const uint64_t tile = trace::find_tiles(offsets); tile != 0) {
      warp.trace[warp.trace_size] = trace::memory_record(desc.lo + offsets[0], trace::kTiles);
      warp.trace[warp.trace_size + 1] = tile;
      warp.trace_size += 2;
    } else {
      uint64_t* out = warp.trace + warp.trace_size;
      *out++ = trace::memory_record(desc.lo + low, trace::kDeltas);
      store_distances(out, offsets, low);
      warp.trace_size += 1 + kLanes / 2;
    }
  }
  const uint8_t* p = ctx.arena + (desc.lo - kDeviceBase);
  gather(d, p, offsets);
  return true;
}

/// Offsets of the lanes of a mask from the cached allocation, one after the other; false if one is
/// outside of it or misaligned.
template <class M>
NW_HD NW_INLINE bool compact_offsets(const MemDesc& desc, const uint64_t* a, uint64_t offset,
                                     uint32_t mask, uint32_t* at) {
  const uint64_t limit = desc.span - sizeof(M);
  const uint64_t shift = offset - desc.lo;
  uint64_t bits = 0, left = 0;  // their top bits: some offset is below 0, above the limit
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const uint64_t o = a[__builtin_ctz(m)] + shift;
    bits |= o;
    left |= limit - o;
    *at++ = static_cast<uint32_t>(o);
  }
  return desc.span >= sizeof(M) && limit <= 0xffffffffu && ((bits | left) >> 63) == 0 &&
         ((bits | desc.lo) & (sizeof(M) - 1)) == 0;
}

/// Memory record of compact offsets (the same words as trace::write_record).
NW_HD NW_INLINE void trace_compact(Warp& warp, const MemDesc& desc, uint32_t mask,
                                   const uint32_t* at) {
  if (desc.guarded != 0) warp.trace[warp.trace_size++] = mask;
  uint64_t* out = warp.trace + warp.trace_size;
  uint32_t rest = mask & (mask - 1);
  if (rest == 0) {
    *out = trace::memory_record(desc.lo + at[0], 0);
    warp.trace_size += 1;
    return;
  }
  const int64_t first = __builtin_ctz(mask), gap = __builtin_ctz(rest) - first;
  const int64_t difference = int64_t{at[1]} - int64_t{at[0]};
  if (difference >= trace::kMinStride * gap && difference <= trace::kMaxStride * gap) {
    const int64_t stride = gap == 1 ? difference : difference / gap;
    if (stride * gap == difference) {
      const int64_t base = int64_t{at[0]} - stride * first;
      const uint32_t* next = at + 2;
      for (rest &= rest - 1; rest != 0 && *next == base + stride * __builtin_ctz(rest); ++next)
        rest &= rest - 1;
      if (rest == 0) {
        *out =
            trace::memory_record(desc.lo + static_cast<uint64_t>(base), static_cast<int>(stride));
        warp.trace_size += 1;
        return;
      }
    }
  }
  const uint32_t count = static_cast<uint32_t>(__builtin_popcount(mask));
  uint32_t low = at[0];
  for (uint32_t i = 1; i < count; ++i) low = at[i] < low ? at[i] : low;
  *out++ = trace::memory_record(desc.lo + low, trace::kDeltas);
  for (uint32_t i = 0; i < count; i += 2) {
    const uint64_t second = i + 1 < count ? at[i + 1] - low : 0;
    *out++ = (at[i] - low) | second << 32;
  }
  warp.trace_size += 1 + (count + 1) / 2;
}

/// Load of 4- or 8-byte words from device memory by the lanes of `mask`.
template <class M>
NW_HD NW_INLINE bool load_global_masked(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  MemDesc& desc = ctx.memory[op.c];
  const uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(op.imm));
  uint32_t at[kLanes];
  if (mask == 0 || !compact_offsets<M>(desc, row<uint64_t>(warp.rows, op.a), offset, mask, at))
    return load_general(ctx, warp, op, mask);
  if (warp.trace != nullptr) trace_compact(warp, desc, mask, at);
  M* d = row<M>(warp.rows, op.d);
  const uint8_t* p = ctx.arena + (desc.lo - kDeviceBase);
  const uint32_t* next = at;
  for (uint32_t m = mask; m != 0; m &= m - 1) d[__builtin_ctz(m)] = load_value<M>(p + *next++);
  return true;
}

/// Store of 4- or 8-byte words to device memory by the lanes of `mask`.
template <class M>
NW_HD NW_INLINE bool store_global_masked(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  MemDesc& desc = ctx.memory[op.c];
  const uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(op.imm));
  uint32_t at[kLanes];
  if (mask == 0 || !compact_offsets<M>(desc, row<uint64_t>(warp.rows, op.a), offset, mask, at))
    return store_general(ctx, warp, op, mask);
  if (warp.trace != nullptr) trace_compact(warp, desc, mask, at);
  ctx.stored = true;
  const M* v = row<M>(warp.rows, op.b);
  uint8_t* p = ctx.arena + (desc.lo - kDeviceBase);
  const uint32_t* next = at;
  for (uint32_t m = mask; m != 0; m &= m - 1)
    std::memcpy(p + *next++, &v[__builtin_ctz(m)], sizeof(M));
  return true;
}

/// Unguarded store of 4- or 8-byte words by a full warp to device memory.
template <class M>
NW_HD NW_INLINE bool store_global_full(Context& ctx, Warp& warp, const Op& op) {
  MemDesc& desc = ctx.memory[op.c];
  const uint64_t* a = row<uint64_t>(warp.rows, op.a);
  const M* v = row<M>(warp.rows, op.b);
  const uint64_t first = a[0] + static_cast<uint64_t>(static_cast<int64_t>(op.imm));
  const uint64_t stride = a[1] - a[0];
  const uint64_t limit = desc.span - sizeof(M);
  const uint64_t last = first + 31 * stride;
  if (!(is_progression(a, stride) && desc.span >= sizeof(M) && first - desc.lo <= limit &&
        last - desc.lo <= limit && ((first | stride) & (sizeof(M) - 1)) == 0 &&
        static_cast<uint64_t>(static_cast<int64_t>(stride) - trace::kMinStride) <=
            static_cast<uint64_t>(trace::kMaxStride - trace::kMinStride)))
    return store_general(ctx, warp, op, kFullMask);
  ctx.stored = true;
  if (warp.trace != nullptr)
    warp.trace[warp.trace_size++] = trace::memory_record(first, static_cast<int>(stride));
  uint8_t* p = ctx.arena + (first - kDeviceBase);
  prefetch_ahead<M>(desc, p, first);
  if (stride == sizeof(M)) {
    std::memcpy(p, v, kLanes * sizeof(M));
  } else {
    for (uint32_t i = 0; i < kLanes; ++i, p += static_cast<int64_t>(stride))
      std::memcpy(p, &v[i], sizeof(M));
  }
  return true;
}

/// Unguarded load of 4- or 8-byte words by a full warp from shared memory, 32- or 64-bit addresses.
template <class M, class A>
NW_HD NW_INLINE bool load_shared_full(Context& ctx, Warp& warp, const Op& op) {
  if constexpr (sizeof(A) == 4)
    if (load_shared_again<M>(ctx, warp, op)) return true;
  const A* a = row<A>(warp.rows, op.a);
  M* d = row<M>(warp.rows, op.d);
  const A offset = static_cast<A>(static_cast<int64_t>(op.imm));
  const A stride = a[1] - a[0];
  if (ctx.shared_bytes < sizeof(M)) return load_general(ctx, warp, op, kFullMask);
  const A limit = static_cast<A>(ctx.shared_bytes - sizeof(M));
  if (is_progression(a, stride))
    return load_shared_rows<M, A, kOneRow>(ctx, warp, op) || load_general(ctx, warp, op, kFullMask);
  if (load_shared_rows<M, A, 4>(ctx, warp, op) || load_shared_rows<M, A, 3>(ctx, warp, op))
    return true;
  A offsets[kLanes];
  A low = ~A{0}, high = 0, bits = 0;
  for (uint32_t i = 0; i < kLanes; ++i) {
    const A o = a[i] + offset;
    offsets[i] = o;
    low = o < low ? o : low;
    high = o > high ? o : high;
    bits |= o;
  }
  if (!(high <= limit && (bits & (sizeof(M) - 1)) == 0))
    return load_general(ctx, warp, op, kFullMask);
  if (warp.trace != nullptr) {
    uint64_t* out = warp.trace + warp.trace_size;
    *out++ = trace::memory_record(low, trace::kDeltas);
    for (uint32_t i = 0; i < kLanes / 2; ++i)
      out[i] = static_cast<uint64_t>(offsets[2 * i] - low) |
               static_cast<uint64_t>(offsets[2 * i + 1] - low) << 32;
    warp.trace_size += 1 + kLanes / 2;
  }
  gather(d, ctx.shared, offsets);
  return true;
}

/// Loads where another load, of access b, had these addresses but for imm shortly before.
template <class M>
NW_HD NW_INLINE bool load_shared_known(Context& ctx, Warp& warp, const Op& op) {
  const SharedRows& rows = ctx.shared_rows[op.b % Context::kSharedRows];
  if (rows.access == op.b && load_known_rows<M>(ctx, warp, op, rows)) return true;
  return load_shared_full<M, uint32_t>(ctx, warp, op);
}

/// Unguarded store of 4- or 8-byte words by a full warp to shared memory.
template <class M, class A>
NW_HD NW_INLINE bool store_shared_full(Context& ctx, Warp& warp, const Op& op) {
  const A* a = row<A>(warp.rows, op.a);
  const M* v = row<M>(warp.rows, op.b);
  const A first = a[0] + static_cast<A>(static_cast<int64_t>(op.imm));
  const A stride = a[1] - a[0];
  const A last = first + 31 * stride;
  using S = std::make_signed_t<A>;
  const S step = static_cast<S>(stride);
  if (ctx.shared_bytes < sizeof(M) || !is_progression(a, stride))
    return store_general(ctx, warp, op, kFullMask);
  const A limit = static_cast<A>(ctx.shared_bytes - sizeof(M));
  if (!(first <= limit && last <= limit && ((first | stride) & (sizeof(M) - 1)) == 0 &&
        step >= trace::kMinStride && step <= trace::kMaxStride))
    return store_general(ctx, warp, op, kFullMask);
  ctx.stored = true;
  if (warp.trace != nullptr)
    warp.trace[warp.trace_size++] = trace::memory_record(first, static_cast<int>(step));
  uint8_t* p = ctx.shared + first;
  if (stride == sizeof(M)) {
    std::memcpy(p, v, kLanes * sizeof(M));
  } else {
    for (uint32_t i = 0; i < kLanes; ++i, p += step) std::memcpy(p, &v[i], sizeof(M));
  }
  return true;
}

}  // namespace nearwarp::exec
