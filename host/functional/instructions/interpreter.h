// The interpreter: runs one warp until it exits, waits, or has used up its budget.
//
// Divergence follows a stack of reconvergence points (immediate post-dominators). The reconvergence
// test, instruction counts, trace record and budget are handled at block heads only.
#pragma once

#include "host/functional/instructions/atomic.h"
#include "host/functional/instructions/codes.h"
#include "host/functional/instructions/long_rows.h"
#include "host/functional/instructions/memory_fast.h"
#include "host/functional/instructions/warp_ops.h"

namespace nearwarp::exec {

/// The part of a warp's control state that the interpreter keeps in registers.
struct Flow {
  uint32_t block, reconverge, active;
};

/// Take the next entry with live lanes from the stack; false if there is none.
NW_HD NW_INLINE bool pop(Warp& warp, Flow& flow) {
  do {
    if (warp.depth == 0) return false;
    const StackEntry& e = warp.stack[--warp.depth];
    flow = {e.block, e.reconverge, e.mask & ~warp.exited};
  } while (flow.active == 0);
  return true;
}

NW_HD NW_INLINE void push(Warp& warp, uint32_t block, uint32_t reconverge, uint32_t mask) {
  warp.stack[warp.depth++] = {block, reconverge, mask};
}

/// Lanes `taken` go to `target`, the other active ones to `fall`; neither set is empty.
NW_HD inline void diverge(Warp& warp, Flow& flow, uint32_t taken, uint32_t target, uint32_t fall,
                          uint32_t ipdom) {
  const uint32_t r = ipdom == kNoBlock ? flow.reconverge : ipdom;
  const uint32_t rest = flow.active & ~taken;
  if (r != flow.reconverge) push(warp, r, flow.reconverge, flow.active);
  if (target == r) {  // those lanes wait in the entry at r
    flow = {fall, r, rest};
  } else if (fall == r) {
    flow = {target, r, taken};
  } else {
    push(warp, target, r, taken);
    flow = {fall, r, rest};
  }
}

/// brx.idx: lanes part by target.
NW_HD inline void diverge_table(const Context& ctx, Warp& warp, Flow& flow, const Op& op,
                                uint32_t ipdom) {
  const uint32_t* index = row<uint32_t>(warp.rows, op.a);
  const uint32_t* table = ctx.tables + op.imm;
  const uint32_t first = table[index[__builtin_ctz(flow.active)]];
  uint32_t same = 0;
  for_each_lane(flow.active, [&](uint32_t lane) {
    same |= static_cast<uint32_t>(table[index[lane]] == first) << lane;
  });
  if (same == flow.active) {
    flow.block = first;
    return;
  }
  const uint32_t r = ipdom == kNoBlock ? flow.reconverge : ipdom;
  if (r != flow.reconverge) push(warp, r, flow.reconverge, flow.active);
  uint32_t rest = flow.active;
  Flow next{kNoBlock, r, 0};
  while (rest != 0) {
    const uint32_t target = table[index[__builtin_ctz(rest)]];
    uint32_t group = 0;
    for_each_lane(rest, [&](uint32_t lane) {
      group |= static_cast<uint32_t>(table[index[lane]] == target) << lane;
    });
    rest &= ~group;
    if (target == r) continue;
    if (next.active != 0) push(warp, next.block, r, next.active);
    next = {target, r, group};
  }
  flow = next;  // two targets at least, so one differs from r
}

/// Run `warp`. `budget` counts down in warp-instructions; kYield is returned at the first block
/// head after it is used up.
NW_HD inline Status run_warp(Context& ctx, Warp& warp, int64_t& budget) {
  uint8_t* const rows = warp.rows;
  uint32_t* const predicates = warp.predicates;
  Flow flow{warp.block, warp.reconverge, warp.active};
  Status status = Status::kExited;
  // The lanes of `active` for which predicate operand `p` holds.
  const auto holds = [&](uint16_t p) {
    return predicates[p >> 1] ^ (0u - static_cast<uint32_t>(p & 1));
  };
  for (;;) {
    while (flow.block == flow.reconverge) {
      if (!pop(warp, flow)) goto finished;
    }
    {
      const BlockInfo& info = ctx.blocks[flow.block];
      if (budget < 0) {
        status = Status::kYield;
        break;
      }
      if (warp.trace != nullptr) {
        if (warp.trace_size + info.trace_words > warp.trace_capacity) {
          status = Status::kTraceFull;
          break;
        }
        // Is it the block of the last word under the same mask, at less than the most repetitions?
        const uint64_t word = trace::control_word(flow.active, flow.block, 1);
        uint64_t& last = warp.trace[warp.trace_last];
        if (((last ^ word) << 12) == 0 && last < (uint64_t{trace::kMaxRepeats - 1} << 52)) {
          last += uint64_t{1} << 52;
        } else {
          warp.trace_last = warp.trace_size;
          warp.trace[warp.trace_size++] = word;
        }
      }
      budget -= info.count + 1;
      ctx.warp_instructions += info.count;
      ctx.thread_instructions +=
          uint64_t{info.count} * static_cast<uint32_t>(__builtin_popcount(flow.active));
      const uint32_t active = flow.active;
      const Op* pc = ctx.ops + (active == kFullMask ? info.full : info.partial);
      for (bool in_block = true; in_block; ++pc) {
        switch (pc->code) {
#define NW_UNARY(name, D, A, expression)                                                        \
  case k##name:                                                                                 \
    unary<D, A>(rows, *pc, [&](A a) -> D { return expression; });                               \
    break;                                                                                      \
  case k##name##M:                                                                              \
    unary_masked<D, A>(rows, *pc, active & holds(pc->x), [&](A a) -> D { return expression; }); \
    break;
#define NW_BINARY(name, D, A, B, expression)                               \
  case k##name:                                                            \
    binary<D, A, B>(rows, *pc, [&](A a, B b) -> D { return expression; }); \
    break;                                                                 \
  case k##name##M:                                                         \
    binary_masked<D, A, B>(rows, *pc, active & holds(pc->x),               \
                           [&](A a, B b) -> D { return expression; });     \
    break;
#define NW_TERNARY(name, D, A, B, C, expression)                                   \
  case k##name: {                                                                  \
    const Op& op = *pc;                                                            \
    ternary<D, A, B, C>(rows, op, [&](A a, B b, C c) -> D { return expression; }); \
    break;                                                                         \
  }                                                                                \
  case k##name##M: {                                                               \
    const Op& op = *pc;                                                            \
    ternary_masked<D, A, B, C>(rows, op, active & holds(op.x),                     \
                               [&](A a, B b, C c) -> D { return expression; });    \
    break;                                                                         \
  }
#define NW_COMPARE(name, T, expression)                                            \
  case kSetp##name: {                                                              \
    const uint32_t m = active & holds(pc->x);                                      \
    const uint32_t r = compare<T>(rows, *pc, [](T a, T b) { return expression; }); \
    predicates[pc->d] = (predicates[pc->d] & ~m) | (r & m);                        \
    break;                                                                         \
  }
          NW_EXEC_UNARY(NW_UNARY)
          NW_EXEC_BINARY(NW_BINARY)
          NW_EXEC_TERNARY(NW_TERNARY)
          NW_EXEC_COMPARE(NW_COMPARE)
#undef NW_UNARY
#undef NW_BINARY
#undef NW_TERNARY
#undef NW_COMPARE
          case kCvtF32S64:
            convert_longs<true>(rows, *pc);
            break;
          case kCvtF32S64M:
            convert_longs_masked<true>(rows, *pc, active & holds(pc->x));
            break;
          case kCvtF32U64:
            convert_longs<false>(rows, *pc);
            break;
          case kCvtF32U64M:
            convert_longs_masked<false>(rows, *pc, active & holds(pc->x));
            break;
#define NW_PREDICATE(name, expression)                               \
  case name: {                                                       \
    const uint32_t m = active & holds(pc->x);                        \
    const uint32_t a = holds(pc->a), b = holds(pc->b);               \
    predicates[pc->d] = (predicates[pc->d] & ~m) | ((expression)&m); \
    break;                                                           \
  }
            NW_PREDICATE(kPredicateAnd, a & b)
            NW_PREDICATE(kPredicateOr, a | b)
            NW_PREDICATE(kPredicateXor, a ^ b)
#undef NW_PREDICATE
          case kSelect32:
            select<uint32_t>(rows, *pc, kFullMask, holds(pc->c));
            break;
          case kSelect32M:
            select<uint32_t>(rows, *pc, active & holds(pc->x), holds(pc->c));
            break;
          case kSelect64:
            select<uint64_t>(rows, *pc, kFullMask, holds(pc->c));
            break;
          case kSelect64M:
            select<uint64_t>(rows, *pc, active & holds(pc->x), holds(pc->c));
            break;
#define NW_MEMORY(name, call)  \
  case name:                   \
    if (!(call)) {             \
      status = Status::kFault; \
      goto stopped;            \
    }                          \
    break;
            NW_MEMORY(kLoadGlobal32Full, load_global_full<uint32_t>(ctx, warp, *pc))
            NW_MEMORY(kLoadGlobal64Full, load_global_full<uint64_t>(ctx, warp, *pc))
            NW_MEMORY(kLoadGlobal32M,
                      load_global_masked<uint32_t>(ctx, warp, *pc, active & holds(pc->x)))
            NW_MEMORY(kLoadGlobal64M,
                      load_global_masked<uint64_t>(ctx, warp, *pc, active & holds(pc->x)))
            NW_MEMORY(kStoreGlobal32M,
                      store_global_masked<uint32_t>(ctx, warp, *pc, active & holds(pc->x)))
            NW_MEMORY(kStoreGlobal64M,
                      store_global_masked<uint64_t>(ctx, warp, *pc, active & holds(pc->x)))
            NW_MEMORY(kStoreGlobal32Full, store_global_full<uint32_t>(ctx, warp, *pc))
            NW_MEMORY(kStoreGlobal64Full, store_global_full<uint64_t>(ctx, warp, *pc))
            NW_MEMORY(kLoadShared32Full, (load_shared_full<uint32_t, uint32_t>(ctx, warp, *pc)))
            NW_MEMORY(kLoadShared64Full, (load_shared_full<uint64_t, uint32_t>(ctx, warp, *pc)))
            NW_MEMORY(kLoadShared32Known, load_shared_known<uint32_t>(ctx, warp, *pc))
            NW_MEMORY(kLoadShared64Known, load_shared_known<uint64_t>(ctx, warp, *pc))
            NW_MEMORY(kStoreShared32Full, (store_shared_full<uint32_t, uint32_t>(ctx, warp, *pc)))
            NW_MEMORY(kStoreShared64Full, (store_shared_full<uint64_t, uint32_t>(ctx, warp, *pc)))
            NW_MEMORY(kLoadShared32FullA64, (load_shared_full<uint32_t, uint64_t>(ctx, warp, *pc)))
            NW_MEMORY(kStoreShared32FullA64,
                      (store_shared_full<uint32_t, uint64_t>(ctx, warp, *pc)))
            NW_MEMORY(kLoad, load_general(ctx, warp, *pc, active & holds(pc->x)))
            NW_MEMORY(kStore, store_general(ctx, warp, *pc, active & holds(pc->x)))
            NW_MEMORY(kAtomic, atomic_general(ctx, warp, *pc, active & holds(pc->x)))
            NW_MEMORY(kExtended, execute_extended(ctx, warp, *pc, active & holds(pc->x)))
            NW_MEMORY(kCheckedAccess, execute_checked(ctx, warp, *pc, active & holds(pc->x)))
            NW_MEMORY(kCheckedSync, execute_checked(ctx, warp, *pc, active & holds(pc->x)))
#undef NW_MEMORY
          case kShuffle: {
            const uint32_t m = active & holds(pc->x);
            const uint32_t in_range = shuffle(rows, *pc, m);
            if (const uint32_t p = static_cast<uint32_t>(pc->imm) >> 8; p != 0)
              predicates[p - 1] = (predicates[p - 1] & ~m) | (in_range & m);
            break;
          }
          case kVote: {
            const uint32_t m = active & holds(pc->x);
            const uint32_t yes = holds(pc->a);
            const Vote mode = static_cast<Vote>(pc->imm);
            // Lanes that name different members (tiles of a warp) vote apart from each other.
            for (uint32_t left = m; left != 0;) {
              const uint32_t members = row<uint32_t>(rows, pc->b)[__builtin_ctz(left)];
              const uint32_t group = lanes_with(rows, pc->b, members, left);
              const uint32_t r = vote(mode, yes, m & members);
              if (mode == Vote::kBallot) {
                uint32_t* d = row<uint32_t>(rows, pc->d);
                for (uint32_t i = 0; i < kLanes; ++i) d[i] = (group >> i & 1) ? r : d[i];
              } else {
                predicates[pc->d] = (predicates[pc->d] & ~group) | (r & group);
              }
              left &= ~group;
            }
            break;
          }
          case kActiveMask: {
            const uint32_t m = active & holds(pc->x);
            uint32_t* d = row<uint32_t>(rows, pc->d);
            for (uint32_t i = 0; i < kLanes; ++i) d[i] = (m >> i & 1) ? m : d[i];
            break;
          }
          case kNext:
            ++flow.block;
            in_block = false;
            break;
          case kJump:
            flow.block = static_cast<uint32_t>(pc->imm);
            in_block = false;
            break;
          case kBranch: {
            const uint32_t taken = active & holds(pc->x);
            const uint32_t target = static_cast<uint32_t>(pc->imm);
            if (taken == active)
              flow.block = target;
            else if (taken == 0)
              ++flow.block;
            else
              diverge(warp, flow, taken, target, flow.block + 1, info.ipdom);
            in_block = false;
            break;
          }
          case kBranchTable: {
            const uint32_t entries = uint32_t{pc->d} | uint32_t{pc->b} << 16;
            const uint32_t* index = row<uint32_t>(rows, pc->a);
            uint32_t bad = 0;
            for_each_lane(active, [&](uint32_t lane) {
              bad |= static_cast<uint32_t>(index[lane] >= entries) << lane;
            });
            if (bad != 0) {
              const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(bad));
              ctx.fault = Fault{};
              ctx.fault.kind = FaultKind::kBadBranch;
              ctx.fault.lane = lane;
              ctx.fault.address = index[lane];
              ctx.fault.instruction = pc->c | uint32_t{pc->x} << 16;
              status = Status::kFault;
              goto stopped;
            }
            diverge_table(ctx, warp, flow, *pc, info.ipdom);
            in_block = false;
            break;
          }
          case kExit: {
            const uint32_t leaving = active & holds(pc->x);
            warp.exited |= leaving;
            flow.active &= ~leaving;
            ++flow.block;
            in_block = false;
            if (flow.active == 0 && !pop(warp, flow)) goto finished;
            break;
          }
          case kBarrier:
          case kSystem: {
            const uint32_t m = active & holds(pc->x);
            ++flow.block;
            in_block = false;
            if (m == 0) break;
            warp.barrier = static_cast<uint32_t>(pc->imm);
            warp.barrier_mask = m;
            status = pc->code == kBarrier ? Status::kBarrier : Status::kSystem;
            goto stopped;
          }
          case kPhaseWait: {
            const uint32_t m = active & holds(pc->x);
            status = wait_for_phases(ctx, warp, *pc, m, predicates[pc->b] & m);
            if (status == Status::kTries) {
              ctx.retried_warp_instructions += info.count;
              ctx.retried_thread_instructions +=
                  uint64_t{info.count} * static_cast<uint32_t>(__builtin_popcount(active));
              goto stopped;
            }
            if (status == Status::kFault) goto stopped;
            ++flow.block;
            in_block = false;
            break;
          }
          case kTrap: {
            const uint32_t m = active & holds(pc->x);
            if (m == 0) break;
            ctx.fault = Fault{};
            ctx.fault.kind = FaultKind::kTrap;
            ctx.fault.lane = static_cast<uint32_t>(__builtin_ctz(m));
            ctx.fault.instruction = static_cast<uint32_t>(pc->imm);
            status = Status::kFault;
            goto stopped;
          }
#define NW_SLOW(name, ...) case k##name:
            NW_EXEC_SLOW(NW_SLOW)
#undef NW_SLOW
          case kFloatRounded:
          case kConvert:
          case kCarry:
          case kHalf:
          case kHalfCompare:
          case kConvertSmall:
          case kConvertPair:
          case kVideo:
          case kSzext:
          case kFns:
          case kMatch:
          case kRedux:
          case kElect:
          case kClock:
          case kIsSpace: {
            const uint32_t m = active & holds(pc->x);
            if (m != 0) execute_slow(ctx, warp, *pc, m);
            break;
          }
          default:  // all codes are named: the jump need not be guarded
            NW_ASSERT(false);
            __builtin_unreachable();
        }
      }
    }
  }
stopped:
  warp.block = flow.block;
  warp.reconverge = flow.reconverge;
  warp.active = flow.active;
  return status;
finished:
  warp.active = 0;
  return Status::kExited;
}

}  // namespace nearwarp::exec
