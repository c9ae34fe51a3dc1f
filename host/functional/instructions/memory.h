// Loads and stores: bounds and alignment checks, data movement, memory records.
//
// These are the general paths, lane by lane, for every space, width and vector length
// (memory_fast.h has the common cases). A failed check leaves Context::fault set and changes
// nothing.
#pragma once

#include <cstdint>
#include <cstring>

#include "device/trace/writer.h"
#include "host/functional/instructions/lane_words.h"
#include "host/functional/instructions/lanes.h"
#include "host/functional/instructions/matrix_rows.h"

namespace nearwarp::exec {

/// A row index and the 32 lanes' addresses of one access.
struct LaneAddresses {
  uint64_t at[kLanes];
};

/// The one of `count` sorted ranges that holds [address, address + bytes), or nullptr.
NW_HD inline const Range* range_of(const Range* ranges, uint32_t count, uint64_t address,
                                   uint64_t bytes) {
  uint32_t low = 0, high = count;
  while (low < high) {  // first range that begins after `address`
    const uint32_t middle = (low + high) / 2;
    if (ranges[middle].lo <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return nullptr;
  const Range& r = ranges[low - 1];
  const uint64_t offset = address - r.lo;
  return offset <= r.bytes && bytes <= r.bytes - offset ? &r : nullptr;
}

/// The live allocation that holds [address, address + bytes), or nullptr.
NW_HD inline const Range* find_range(const Context& ctx, uint64_t address, uint64_t bytes) {
  return range_of(ctx.ranges, ctx.num_ranges, address, bytes);
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
        const Fault before = ctx.fault;
        set_fault(ctx, desc, FaultKind::kInvalid, MemSpace::kGlobal, lane, a, bytes);
        r = range_of(ctx.pages, ctx.num_pages, a, bytes);
        if (r == nullptr) return false;
        if (ctx.stray.kind == FaultKind::kNone) ctx.stray = ctx.fault;
        ctx.fault = before;
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

/// The shared memory that an offset into the cluster's windows lies in; nullptr if there is none.
NW_HD NW_INLINE uint8_t* shared_window(const Context& ctx, uint64_t offset) {
  if (offset < kWindowBytes) return ctx.shared;
  const uint64_t rank = (offset >> kWindowBits) - 1;
  return rank < ctx.cluster_blocks ? ctx.cluster_shared[rank] : nullptr;
}

/// Check an access to shared memory of the block or of another of its cluster, and place it.
NW_HD NW_INLINE bool resolve_shared(Context& ctx, const MemDesc& desc, uint32_t lane,
                                    uint64_t offset, uint32_t bytes, uint8_t** host) {
  uint8_t* window = shared_window(ctx, offset);
  if (window == nullptr) {
    set_fault(ctx, desc, FaultKind::kInvalid, MemSpace::kShared, lane, offset, bytes);
    return false;
  }
  const uint64_t o = offset & (kWindowBytes - 1);
  if (!check_window(ctx, desc, MemSpace::kShared, ctx.shared_bytes, lane, o, bytes)) {
    ctx.fault.address = offset;
    return false;
  }
  *host = window + o;
  return true;
}

/// Checks and places accesses of the lanes of `mask`, if all are right and to the block's own
/// shared memory; false, with nothing said, if one is not.
NW_HD NW_INLINE bool place_shared(const Context& ctx, uint32_t mask, const uint64_t* offset,
                                  uint32_t bytes, uint8_t** host) {
  if (bytes > ctx.shared_bytes) return false;
  const uint64_t last = ctx.shared_bytes - bytes, odd = bytes - 1;
  const auto window =
      reinterpret_cast<uintptr_t>(ctx.shared);  // offsets of other lanes are anything
  uint64_t wrong = 0;
  for (uint32_t i = 0; i < kLanes; ++i) {
    const bool bad = (offset[i] > last) | ((offset[i] & odd) != 0);
    wrong |= (uint64_t{0} - uint64_t{bad}) & kLaneBit<uint64_t>.at[i];
    host[i] = reinterpret_cast<uint8_t*>(window + offset[i]);
  }
  return (wrong & mask) == 0;
}

/// Offset in shared memory in traces: the block's own has no rank there, however it was named.
NW_HD NW_INLINE uint64_t shared_trace_offset(const Context& ctx, uint64_t offset) {
  const bool own = offset >> kWindowBits == uint64_t{ctx.cluster_rank} + 1;
  return own ? offset & (kWindowBytes - 1) : offset;
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
  if (desc.matrices != 0) repeat_rows(desc, address);
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
      if (place_shared(ctx, mask, address, bytes, access.host)) break;
      traced = access.traced;
      for (uint32_t m = mask; m != 0; m &= m - 1) {
        const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(m));
        if (!resolve_shared(ctx, desc, lane, address[lane], bytes, &access.host[lane]))
          return false;
        access.traced[lane] = shared_trace_offset(ctx, address[lane]);
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
        if (a - kSharedGenericBase < kClusterBytes) {
          const uint64_t o = a - kSharedGenericBase;
          if (!resolve_shared(ctx, desc, lane, o, bytes, &access.host[lane])) return false;
          access.traced[lane] = shared_trace_offset(ctx, o) | trace::kSharedWindow;
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

/// f(T{}), T being the type of what an access moves per element; loads extend it.
template <class F>
NW_HD NW_INLINE void with_element(const MemDesc& desc, F&& f) {
  const bool is_signed = desc.extend == Extend::kSign;
  switch (desc.bytes) {
    case 1:
      return is_signed ? f(int8_t{}) : f(uint8_t{});
    case 2:
      return is_signed ? f(int16_t{}) : f(uint16_t{});
    case 4:
      return is_signed ? f(int32_t{}) : f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

/// Element `e` of a load, into its registers.
template <class T>
NW_HD NW_INLINE void load_element(Warp& warp, const MemDesc& desc, uint32_t e, uint32_t mask,
                                  const ResolvedAccess& access) {
  const auto value = [&](uint32_t lane) {
    T v;
    std::memcpy(&v, access.host[lane] + e * sizeof(T), sizeof(T));
    return v;
  };
  const auto all = [&]<class Register>(Register* d, Register kept) {
    if (mask != kFullMask) {
      for_each_lane(mask,
                    [&](uint32_t lane) { d[lane] = static_cast<Register>(value(lane)) & kept; });
      return;
    }
    // Single stores would stall the vector loads of the row that follow.
    using Vector = typename VectorOf<Register>::Type;
    constexpr uint32_t kPart = VectorOf<Register>::kCount;
    for (uint32_t i = 0; i < kLanes; i += kPart) {
      const auto at = [&](uint32_t k) { return static_cast<Register>(value(i + k)) & kept; };
      Vector v;
      if constexpr (kPart == 8)
        v = Vector{at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)};
      else
        v = Vector{at(0), at(1), at(2), at(3)};
      std::memcpy(d + i, &v, sizeof(v));
    }
  };
  if (desc.reg_bytes == 8)
    all(row<uint64_t>(warp.rows, desc.rows[e]), ~uint64_t{0});
  else
    all(row<uint32_t>(warp.rows, desc.rows[e]), desc.reg_bytes == 2 ? 0xffffu : ~0u);
}

/// ldmatrix. Of lanes that do not take part, rows are zeros.
NW_HD inline void load_matrices(Warp& warp, const MemDesc& desc, uint32_t mask,
                                const ResolvedAccess& access) {
  const auto row_of = [&](uint32_t lane) {
    return (mask >> lane & 1) != 0 ? access.host[lane] : nullptr;
  };
  for (uint32_t i = 0; i < desc.matrices; ++i) {
    if (desc.rows[i] == kNoRow) continue;
    uint32_t* const to = row<uint32_t>(warp.rows, desc.rows[i]);
    for_each_lane(mask, [&](uint32_t lane) { to[lane] = dealt_word(desc, i, lane, row_of); });
  }
}

/// General load, any space, width and vector length.
NW_HD inline bool load_general(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  MemDesc& desc = ctx.memory[op.c];
  trace_guard(warp, desc, mask);
  if (mask == 0) return true;
  ctx.polled |= desc.polls != 0;
  ResolvedAccess access;
  if (!resolve(ctx, warp, desc, op, mask, access)) return false;
  if (desc.matrices != 0) {
    load_matrices(warp, desc, mask, access);
    return true;
  }
  with_element(desc, [&]<class T>(T) {
    for (uint32_t e = 0; e < desc.vector; ++e)
      if (desc.rows[e] != kNoRow) load_element<T>(warp, desc, e, mask, access);
  });
  return true;
}

/// Debug builds keep all variables in local memory: what they store there changes nothing for
/// others.
NW_HD NW_INLINE void tell_stored(Context& ctx, const Warp& warp, const MemDesc& desc, uint32_t mask,
                                 const ResolvedAccess& access) {
  bool local = desc.space == MemSpace::kLocal;
  if (desc.space == MemSpace::kGeneric && ctx.local_bytes != 0) {
    const uint64_t bytes = uint64_t{ctx.local_bytes} * kLanes;
    local = true;
    for (uint32_t m = mask; m != 0; m &= m - 1) {
      const uint8_t* p = access.host[__builtin_ctz(m)];
      local = local && p >= warp.local && p < warp.local + bytes;
    }
  }
  (local ? ctx.stored_locally : ctx.stored) = true;
}

/// A store of one element by lane `lane`.
template <class T, class Register>
NW_HD NW_INLINE void store_element(const Warp& warp, const MemDesc& desc, uint32_t e, uint32_t lane,
                                   const ResolvedAccess& access) {
  const T v = static_cast<T>(row<Register>(warp.rows, desc.rows[e])[lane]);
  std::memcpy(access.host[lane] + e * sizeof(T), &v, sizeof(T));
}

/// Lane by lane: of lanes that store to the same place the last one counts.
template <class T, class Register>
NW_HD NW_INLINE void store_lanes(const Warp& warp, const MemDesc& desc, uint32_t mask,
                                 const ResolvedAccess& access) {
  if (desc.vector == 1) {
    for_each_lane(mask,
                  [&](uint32_t lane) { store_element<T, Register>(warp, desc, 0, lane, access); });
  } else {
    for_each_lane(mask, [&](uint32_t lane) {
      for (uint32_t e = 0; e < desc.vector; ++e)
        store_element<T, Register>(warp, desc, e, lane, access);
    });
  }
}

/// General store.
NW_HD inline bool store_general(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  MemDesc& desc = ctx.memory[op.c];
  trace_guard(warp, desc, mask);
  if (mask == 0) return true;
  ResolvedAccess access;
  if (!resolve(ctx, warp, desc, op, mask, access)) return false;
  tell_stored(ctx, warp, desc, mask, access);
  if (desc.matrices != 0) {
    for_each_lane(mask, [&](uint32_t lane) {
      uint8_t bytes[kRowOfMatrixBytes];
      collect_row(warp, desc, lane, bytes);
      std::memcpy(access.host[lane], bytes, sizeof(bytes));
    });
    return true;
  }
  with_element(desc, [&]<class T>(T) {
    if (desc.reg_bytes == 8) {
      store_lanes<T, uint64_t>(warp, desc, mask, access);
    } else {
      store_lanes<T, uint32_t>(warp, desc, mask, access);
    }
  });
  return true;
}

}  // namespace nearwarp::exec
