// Loads and stores: bounds and alignment checks, data movement, memory records.
//
// The fast paths serve full warps whose addresses form an arithmetic progression inside one
// allocation (the one the instruction touched last). Everything else takes the general path, lane
// by lane. A failed check leaves Context::fault set and changes nothing.
#pragma once

#include <cstdint>
#include <cstring>

#include "device/exec/lanes.h"
#include "device/trace/writer.h"

namespace nearwarp::exec {

/// A row index and the 32 lanes' addresses of one access.
struct LaneAddresses {
  uint64_t at[kLanes];
};

/// The live allocation that holds [address, address + bytes), or nullptr.
NW_HD inline const Range* find_range(const Context& ctx, uint64_t address, uint64_t bytes) {
  uint32_t low = 0, high = ctx.num_ranges;
  while (low < high) {  // first range that begins after `address`
    const uint32_t middle = (low + high) / 2;
    if (ctx.ranges[middle].lo <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return nullptr;
  const Range& r = ctx.ranges[low - 1];
  const uint64_t offset = address - r.lo;
  return offset <= r.bytes && bytes <= r.bytes - offset ? &r : nullptr;
}

NW_HD inline void set_fault(Context& ctx, const MemDesc& desc, FaultKind kind, MemSpace space,
                            uint32_t lane, uint64_t address, uint32_t bytes) {
  Fault& f = ctx.fault;
  f.kind = kind;
  f.is_write = desc.is_store != 0;
  f.is_atomic = desc.atomic != AtomOp::kNone;
  f.space = space;
  f.lane = lane;
  f.bytes = bytes;
  f.instruction = desc.instruction;
  f.address = address;
}

/// Check the accesses of the lanes of `mask` to device memory; updates the instruction's cache.
NW_HD inline bool check_global(Context& ctx, MemDesc& desc, uint32_t mask, const uint64_t* address,
                               uint32_t bytes) {
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(m));
    const uint64_t a = address[lane];
    if (!(a - desc.lo < desc.span && bytes <= desc.span - (a - desc.lo))) {
      const Range* r = find_range(ctx, a, bytes);
      if (r == nullptr) {
        set_fault(ctx, desc, FaultKind::kInvalid, MemSpace::kGlobal, lane, a, bytes);
        return false;
      }
      desc.lo = r->lo;
      desc.span = r->bytes;
    }
    if ((a & (bytes - 1)) != 0) {
      set_fault(ctx, desc, FaultKind::kMisaligned, MemSpace::kGlobal, lane, a, bytes);
      return false;
    }
  }
  return true;
}

/// Check accesses to a window (shared or local memory) of `limit` bytes; addresses are offsets.
NW_HD inline bool check_window(Context& ctx, const MemDesc& desc, MemSpace space, uint64_t limit,
                               uint32_t lane, uint64_t offset, uint32_t bytes) {
  if (offset > limit || bytes > limit - offset) {
    set_fault(ctx, desc, FaultKind::kInvalid, space, lane, offset, bytes);
    return false;
  }
  if ((offset & (bytes - 1)) != 0) {
    set_fault(ctx, desc, FaultKind::kMisaligned, space, lane, offset, bytes);
    return false;
  }
  return true;
}

/// Device address of a local offset in traces: words of the 32 lanes are neighbours.
NW_HD NW_INLINE uint64_t local_trace_address(const Warp& warp, uint32_t lane, uint64_t offset) {
  return warp.local_trace_base + (offset >> 2) * kRowBytes + lane * 4 + (offset & 3);
}

/// Where the lanes' data lies on the host and what the trace says about it.
struct ResolvedAccess {
  uint8_t* host[kLanes];
  uint64_t traced[kLanes];
};

/// Addresses, checks and trace record of the lanes of `mask` (not 0); false on a fault.
NW_HD inline bool resolve(Context& ctx, Warp& warp, MemDesc& desc, const Op& op, uint32_t mask,
                          ResolvedAccess& access) {
  uint64_t address[kLanes];
  const uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(op.imm));
  if (desc.address64 != 0) {
    const uint64_t* a = row<uint64_t>(warp.rows, op.a);
    for (uint32_t i = 0; i < kLanes; ++i) address[i] = a[i] + offset;
  } else {
    const uint32_t* a = row<uint32_t>(warp.rows, op.a);
    for (uint32_t i = 0; i < kLanes; ++i) address[i] = uint32_t(a[i] + uint32_t(offset));
  }
  const uint32_t bytes = uint32_t{desc.bytes} * desc.vector;
  const uint64_t* traced = address;
  switch (desc.space) {
    case MemSpace::kGlobal:
      if (!check_global(ctx, desc, mask, address, bytes)) return false;
      for (uint32_t m = mask; m != 0; m &= m - 1) {
        const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(m));
        access.host[lane] = ctx.arena + (address[lane] - kDeviceBase);
      }
      break;
    case MemSpace::kShared:
      for (uint32_t m = mask; m != 0; m &= m - 1) {
        const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(m));
        if (!check_window(ctx, desc, MemSpace::kShared, ctx.shared_bytes, lane, address[lane],
                          bytes))
          return false;
        access.host[lane] = ctx.shared + address[lane];
      }
      break;
    case MemSpace::kLocal:
      traced = access.traced;
      for (uint32_t m = mask; m != 0; m &= m - 1) {
        const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(m));
        if (!check_window(ctx, desc, MemSpace::kLocal, ctx.local_bytes, lane, address[lane], bytes))
          return false;
        access.host[lane] = warp.local + uint64_t{lane} * ctx.local_bytes + address[lane];
        access.traced[lane] = local_trace_address(warp, lane, address[lane]);
      }
      break;
    case MemSpace::kGeneric: {
      traced = access.traced;
      uint32_t global = 0;
      for (uint32_t m = mask; m != 0; m &= m - 1) {
        const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(m));
        const uint64_t a = address[lane];
        if (a - kSharedGenericBase < kWindowBytes) {
          const uint64_t o = a - kSharedGenericBase;
          if (!check_window(ctx, desc, MemSpace::kShared, ctx.shared_bytes, lane, o, bytes))
            return false;
          access.host[lane] = ctx.shared + o;
          access.traced[lane] = o | trace::kSharedWindow;
        } else if (a - kLocalGenericBase < kWindowBytes) {
          const uint64_t o = a - kLocalGenericBase;
          if (!check_window(ctx, desc, MemSpace::kLocal, ctx.local_bytes, lane, o, bytes))
            return false;
          access.host[lane] = warp.local + uint64_t{lane} * ctx.local_bytes + o;
          access.traced[lane] = local_trace_address(warp, lane, o);
        } else {
          global |= 1u << lane;
          access.host[lane] = ctx.arena + (a - kDeviceBase);
          access.traced[lane] = a;
        }
      }
      if (!check_global(ctx, desc, global, address, bytes)) return false;
      break;
    }
  }
  if (desc.traced != 0 && warp.trace != nullptr)
    warp.trace_size += trace::write_record(warp.trace + warp.trace_size, mask, traced);
  return true;
}

/// The mask word that precedes the record of a guarded access.
NW_HD NW_INLINE void trace_guard(Warp& warp, const MemDesc& desc, uint32_t mask) {
  if (desc.guarded != 0 && desc.traced != 0 && warp.trace != nullptr)
    warp.trace[warp.trace_size++] = mask;
}

/// General load, any space, width and vector length.
NW_HD inline bool load_general(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  MemDesc& desc = ctx.memory[op.c];
  trace_guard(warp, desc, mask);
  if (mask == 0) return true;
  ctx.polled |= desc.polls != 0;
  ResolvedAccess access;
  if (!resolve(ctx, warp, desc, op, mask, access)) return false;
  for (uint32_t e = 0; e < desc.vector; ++e) {
    if (desc.rows[e] == kNoRow) continue;
    uint32_t* d32 = row<uint32_t>(warp.rows, desc.rows[e]);
    uint64_t* d64 = row<uint64_t>(warp.rows, desc.rows[e]);
    for (uint32_t m = mask; m != 0; m &= m - 1) {
      const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(m));
      const uint8_t* p = access.host[lane] + e * desc.bytes;
      uint64_t v = 0;
      switch (desc.bytes) {
        case 1:
          v = desc.extend == Extend::kSign ? static_cast<uint64_t>(int64_t{static_cast<int8_t>(*p)})
                                           : *p;
          break;
        case 2: {
          uint16_t h;
          std::memcpy(&h, p, 2);
          v = desc.extend == Extend::kSign ? static_cast<uint64_t>(int64_t{static_cast<int16_t>(h)})
                                           : h;
          break;
        }
        case 4: {
          uint32_t w;
          std::memcpy(&w, p, 4);
          v = desc.extend == Extend::kSign ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(w)})
                                           : w;
          break;
        }
        default:
          std::memcpy(&v, p, 8);
      }
      if (desc.reg_bytes == 8)
        d64[lane] = v;
      else
        d32[lane] =
            desc.reg_bytes == 2 ? static_cast<uint32_t>(v) & 0xffff : static_cast<uint32_t>(v);
    }
  }
  return true;
}

/// General store.
NW_HD inline bool store_general(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  MemDesc& desc = ctx.memory[op.c];
  trace_guard(warp, desc, mask);
  if (mask == 0) return true;
  ResolvedAccess access;
  if (!resolve(ctx, warp, desc, op, mask, access)) return false;
  ctx.stored = true;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(m));
    for (uint32_t e = 0; e < desc.vector; ++e) {
      const uint64_t v = desc.reg_bytes == 8 ? row<uint64_t>(warp.rows, desc.rows[e])[lane]
                                             : row<uint32_t>(warp.rows, desc.rows[e])[lane];
      std::memcpy(access.host[lane] + e * desc.bytes, &v, desc.bytes);  // little endian
    }
  }
  return true;
}

// --- Fast paths for full warps -------------------------------------------------------------------

/// A progression first, first + stride, ... over all lanes?
template <class A>
NW_HD NW_INLINE bool is_progression(const A* a, A stride) {
  A difference = 0;
  for (uint32_t i = 0; i < kLanes - 1; ++i) difference |= (a[i + 1] - a[i]) ^ stride;
  return difference == 0;
}

template <class M>
NW_HD NW_INLINE M load_value(const uint8_t* p) {
  M v;
  std::memcpy(&v, p, sizeof(M));
  return v;
}

/// d[i] = the word at p + offsets[i]. Eight (or four) words are put together before they are
/// stored: single stores would stall the vector loads of the row that follow.
template <class M, class A>
NW_HD NW_INLINE void gather(M* d, const uint8_t* p, const A* offsets) {
  constexpr uint32_t kPart = 32 / sizeof(M);
  for (uint32_t i = 0; i < kLanes; i += kPart) {
    const auto at = [&](uint32_t k) { return load_value<M>(p + offsets[i + k]); };
    typedef M Vector __attribute__((vector_size(32)));
    Vector v;
    if constexpr (kPart == 8)
      v = Vector{at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)};
    else
      v = Vector{at(0), at(1), at(2), at(3)};
    std::memcpy(d + i, &v, sizeof(v));
  }
}

/// Warps that walk memory in large equal steps defeat the host's prefetchers: fetch what the
/// instruction will touch two executions later. `p` is where it begins now; any address is
/// harmless.
NW_HD NW_INLINE void prefetch_ahead(MemDesc& desc, const uint8_t* p, uint64_t first) {
  const uintptr_t next = reinterpret_cast<uintptr_t>(p) + 2 * (first - desc.last);
  desc.last = first;
  __builtin_prefetch(reinterpret_cast<const void*>(next));
  __builtin_prefetch(reinterpret_cast<const void*>(next + 64));
}

/// Unguarded load of 4- or 8-byte words by a full warp from device memory.
template <class M, bool kTraced>
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
    if (kTraced && warp.trace != nullptr)
      warp.trace[warp.trace_size++] = trace::memory_record(first, static_cast<int>(stride));
    const uint8_t* p = ctx.arena + (first - kDeviceBase);
    prefetch_ahead(desc, p, first);
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
  uint64_t outside = 0;
  uint32_t misaligned = static_cast<uint32_t>(desc.lo);
  const uint64_t shift = offset - desc.lo;
  for (uint32_t i = 0; i < kLanes; ++i) {
    const uint64_t o = a[i] + shift;
    outside |= o | (limit - o);  // the top bit if o < 0 or o > limit
    offsets[i] = static_cast<uint32_t>(o);
    misaligned |= static_cast<uint32_t>(o);
  }
  if (!(desc.span >= sizeof(M) && limit <= 0xffffffffu && (outside >> 63) == 0 &&
        (misaligned & (sizeof(M) - 1)) == 0))
    return load_general(ctx, warp, op, kFullMask);
  if (kTraced && warp.trace != nullptr) {
    uint32_t low = offsets[0];
    for (uint32_t i = 1; i < kLanes; ++i) low = offsets[i] < low ? offsets[i] : low;
    uint64_t* out = warp.trace + warp.trace_size;
    *out++ = trace::memory_record(desc.lo + low, trace::kDeltas);
    uint32_t deltas[kLanes];
    for (uint32_t i = 0; i < kLanes; ++i) deltas[i] = offsets[i] - low;
    std::memcpy(out, deltas, sizeof(deltas));  // pairs of lanes, low half first
    warp.trace_size += 1 + kLanes / 2;
  }
  const uint8_t* p = ctx.arena + (desc.lo - kDeviceBase);
  gather(d, p, offsets);
  return true;
}

/// Offsets from the cached allocation of the lanes of a mask, one after the other.
struct CompactOffsets {
  uint32_t count = 0;
  uint32_t low = 0;
  uint32_t at[kLanes];
  uint8_t lane[kLanes];
};

/// False if some lane is outside of the cached allocation or misaligned.
template <class M>
NW_HD NW_INLINE bool compact_offsets(const MemDesc& desc, const uint64_t* a, uint64_t offset,
                                     uint32_t mask, CompactOffsets& c) {
  const uint64_t limit = desc.span - sizeof(M);
  const uint64_t shift = offset - desc.lo;
  uint64_t outside = 0;
  uint32_t misaligned = static_cast<uint32_t>(desc.lo), low = 0xffffffffu, n = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(m));
    const uint64_t o = a[lane] + shift;
    outside |= o | (limit - o);
    const uint32_t o32 = static_cast<uint32_t>(o);
    misaligned |= o32;
    low = o32 < low ? o32 : low;
    c.at[n] = o32;
    c.lane[n++] = static_cast<uint8_t>(lane);
  }
  c.count = n;
  c.low = low;
  return desc.span >= sizeof(M) && limit <= 0xffffffffu && (outside >> 63) == 0 &&
         (misaligned & (sizeof(M) - 1)) == 0;
}

/// Memory record of compact offsets (the same words as trace::write_record).
NW_HD NW_INLINE void trace_compact(Warp& warp, const MemDesc& desc, const CompactOffsets& c) {
  if (desc.guarded != 0) {
    uint32_t mask = 0;
    for (uint32_t i = 0; i < c.count; ++i) mask |= 1u << c.lane[i];
    warp.trace[warp.trace_size++] = mask;
  }
  uint64_t* out = warp.trace + warp.trace_size;
  if (c.count == 1) {
    *out = trace::memory_record(desc.lo + c.at[0], 0);
    warp.trace_size += 1;
    return;
  }
  const int64_t gap = c.lane[1] - c.lane[0];
  const int64_t difference = int64_t{c.at[1]} - int64_t{c.at[0]};
  if (difference >= trace::kMinStride * gap && difference <= trace::kMaxStride * gap) {
    const int64_t stride = gap == 1 ? difference : difference / gap;
    if (stride * gap == difference) {
      uint32_t i = 2;
      while (i < c.count && int64_t{c.at[i]} == int64_t{c.at[0]} + stride * (c.lane[i] - c.lane[0]))
        ++i;
      if (i == c.count) {
        const int64_t base = static_cast<int64_t>(desc.lo) + c.at[0] - stride * c.lane[0];
        *out = trace::memory_record(static_cast<uint64_t>(base), static_cast<int>(stride));
        warp.trace_size += 1;
        return;
      }
    }
  }
  *out++ = trace::memory_record(desc.lo + c.low, trace::kDeltas);
  const uint32_t words = (c.count + 1) / 2;
  uint32_t deltas[kLanes];
  for (uint32_t i = 0; i < c.count; ++i) deltas[i] = c.at[i] - c.low;
  if (c.count & 1) deltas[c.count] = 0;
  std::memcpy(out, deltas, words * sizeof(uint64_t));
  warp.trace_size += 1 + words;
}

/// Load of 4- or 8-byte words from device memory by the lanes of `mask`.
template <class M>
NW_HD NW_INLINE bool load_global_masked(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  MemDesc& desc = ctx.memory[op.c];
  const uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(op.imm));
  CompactOffsets c;
  if (mask == 0 || !compact_offsets<M>(desc, row<uint64_t>(warp.rows, op.a), offset, mask, c))
    return load_general(ctx, warp, op, mask);
  if (warp.trace != nullptr) trace_compact(warp, desc, c);
  M* d = row<M>(warp.rows, op.d);
  const uint8_t* p = ctx.arena + (desc.lo - kDeviceBase);
  for (uint32_t i = 0; i < c.count; ++i) d[c.lane[i]] = load_value<M>(p + c.at[i]);
  return true;
}

/// Store of 4- or 8-byte words to device memory by the lanes of `mask`.
template <class M>
NW_HD NW_INLINE bool store_global_masked(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  MemDesc& desc = ctx.memory[op.c];
  const uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(op.imm));
  CompactOffsets c;
  if (mask == 0 || !compact_offsets<M>(desc, row<uint64_t>(warp.rows, op.a), offset, mask, c))
    return store_general(ctx, warp, op, mask);
  if (warp.trace != nullptr) trace_compact(warp, desc, c);
  ctx.stored = true;
  const M* v = row<M>(warp.rows, op.b);
  uint8_t* p = ctx.arena + (desc.lo - kDeviceBase);
  for (uint32_t i = 0; i < c.count; ++i) std::memcpy(p + c.at[i], &v[c.lane[i]], sizeof(M));
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
  prefetch_ahead(desc, p, first);
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
  const A* a = row<A>(warp.rows, op.a);
  M* d = row<M>(warp.rows, op.d);
  const A offset = static_cast<A>(static_cast<int64_t>(op.imm));
  const A first = a[0] + offset;
  const A stride = a[1] - a[0];
  if (ctx.shared_bytes < sizeof(M)) return load_general(ctx, warp, op, kFullMask);
  const A limit = static_cast<A>(ctx.shared_bytes - sizeof(M));
  if (is_progression(a, stride)) {
    const A last = first + 31 * stride;
    using S = std::make_signed_t<A>;
    const S step = static_cast<S>(stride);
    if (!(first <= limit && last <= limit && ((first | stride) & (sizeof(M) - 1)) == 0 &&
          step >= trace::kMinStride && step <= trace::kMaxStride))
      return load_general(ctx, warp, op, kFullMask);
    if (warp.trace != nullptr)
      warp.trace[warp.trace_size++] = trace::memory_record(first, static_cast<int>(step));
    const uint8_t* p = ctx.shared + first;
    if (stride == 0) {
      const M v = load_value<M>(p);
      for (uint32_t i = 0; i < kLanes; ++i) d[i] = v;
    } else if (stride == sizeof(M)) {
      for (uint32_t i = 0; i < kLanes; ++i) d[i] = load_value<M>(p + i * sizeof(M));
    } else {
      for (uint32_t i = 0; i < kLanes; ++i, p += step) d[i] = load_value<M>(p);
    }
    return true;
  }
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
  for (uint32_t i = 0; i < kLanes; ++i, p += step) std::memcpy(p, &v[i], sizeof(M));
  return true;
}

}  // namespace nearwarp::exec
