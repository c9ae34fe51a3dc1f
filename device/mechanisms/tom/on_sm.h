// TOM on an SM: which hook does what. Main SMs offload (requester.h), stack SMs execute what was
// offloaded (stack_side.h).
#pragma once

#include "device/mechanisms/tom/stack_side.h"

namespace nearwarp::tom {

/// Does the SM execute what others offload?
template <class O>
NW_HD NW_INLINE bool in_stack(const O& o) {
  return !std::remove_reference_t<decltype(o.v)>::kHasBlocks || o.p.in_stack;
}

struct OnSm : sm::Hooks {
  template <uint32_t kWords>
  using State = SmSideState<kWords>;
  using Params = SmSideParams;

  template <class O>
  NW_HD static bool at_cursor(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
    if (!in_stack(o)) return look_at(o, warp, now, earliest);
    const uint32_t pc = o.v.warps[warp].at.pc;
    const WarpSide& t = side_of(o, warp);
    if (o.p.program(o.v.base).is_in(pc, t.candidate))
      return o.p.tuning.on && is_head(o, t, pc) && begin_near_round(o, warp, now, earliest);
    sm::finish_warp(o.v, warp, now);  // the warp has left its candidate block
    return true;
  }
  template <class O>
  NW_HD static void go_on_draining(O& o, uint32_t warp, uint32_t now) {
    if (o.p.no_overhead) {
      try_direct(o, warp, now);
    } else {
      try_ask(o, warp, now);
    }
  }
  template <class O>
  NW_HD static void decide_or_go_on(O& o, uint32_t warp, uint32_t now) {
    if (in_stack(o)) {
      return_directly(o, warp, now);
    } else if (side_of(o, warp).step == Step::kDeciding) {
      decide(o, warp, now);
    } else {
      NW_ASSERT(side_of(o, warp).step == Step::kDraining);
      go_on_draining(o, warp, now);
    }
  }
  template <class O>
  NW_HD NW_INLINE static void on_warp(O& o, sm::WarpEvent event, uint32_t warp, uint32_t now,
                                      uint32_t) {
    if (event == sm::WarpEvent::kTimer) decide_or_go_on(o, warp, now);
    if (event == sm::WarpEvent::kOperationEnded && side_of(o, warp).step == Step::kDraining)
      go_on_draining(o, warp, now);
    if (event == sm::WarpEvent::kGuestFinished) try_return(o, warp, now);
    if (event == sm::WarpEvent::kTraceEnded && !in_stack(o)) {
      leave_candidate(o, warp, now);
      side_of(o, warp).barred = 0;
    }
  }
  template <class O>
  NW_HD static void after_issue(O& o, uint32_t warp, uint32_t threads) {
    WarpSide& t = side_of(o, warp);
    NW_ASSERT(t.step == Step::kSearching);
    t.searched += 1;
    t.searched_threads += threads;
  }

  template <class O>
  NW_HD static bool on_access(O& o, uint32_t warp) {
    if (in_stack(o)) return true;
    if (!side_of(o, warp).analyzed) return false;
    expect_access(o, warp);
    return true;
  }
  template <class O>
  NW_HD static uint32_t store_packets(const O& o, uint32_t warp, LineAddr line) {
    return in_stack(o) && !o.p.no_overhead && dirty_overflows(o, warp, line) ? 1 : 0;
  }
  template <class O>
  NW_HD static void on_store(O& o, uint32_t warp, LineAddr line, uint32_t now) {
    if (in_stack(o) && !o.p.no_overhead) remember_dirty(o, warp, line, now);
  }
  template <class O>
  NW_HD static void on_line(O& o, uint32_t warp, LineAddr virtual_line, LineAddr line,
                            sm::LineUse use) {
    if (!in_stack(o)) {
      analyze_line(o, warp, virtual_line);
    } else if (use == sm::LineUse::kMiss || use == sm::LineUse::kStore) {
      count_place(o, warp, line);
    }
  }
  template <class O>
  NW_HD static void on_access_end(O& o, uint32_t warp) {
    if (!in_stack(o)) access_seen(o, warp);
  }
  template <class O>
  NW_HD static void on_store_ack(O& o, uint32_t now) {
    o.s.draining.each([&](uint32_t warp) { try_ask(o, warp, now); });
  }

  template <class O>
  NW_HD static Tick accept_tick(const O& o, const Packet& p) {
    return p.kind == kOffloadDirty ? send_tick(*o.s.invalidations.in(o.v.base), o.v.base) : 0;
  }
  template <class O>
  NW_HD static void on_packet(O& o, const Packet& p, uint32_t now) {
    if (class_of(p.kind) == MessageClass::kControl) {
      on_control(o, p, now);
    } else if (p.kind == kOffloadRequest) {
      spawn(o, p, static_cast<uint16_t>(p.src), now);
    } else if (p.kind == kOffloadDirty) {
      on_dirty(o, p.line, now);
    } else if (p.kind == kMergeRow) {
      on_merge_row(o, p, now);
    } else if (p.kind == kTableRow) {
      tuning::take_port(o.v, now, 1, tuning::kCopyCycles);
    } else {
      NW_ASSERT(p.kind == kOffloadAck);
      on_ack(o, p, now);
    }
  }
  template <class O>
  NW_HD static void on_control(O& o, const Packet& p, uint32_t now) {
    if (p.kind == kChannelBusy) {
      o.s.busy_channels = StatusBits::of(p).bits;
    } else if (p.kind == kLearningStop) {
      stop(o);
    } else if (p.kind == kLearningResume) {
      resume(o);
    } else {
      on_answer(o, p, now);
    }
  }
  template <class O>
  NW_HD static Tick own_arrival(const O& o, bool&) {
    return direct_arrival(o);
  }
  template <class O>
  NW_HD NW_INLINE static void step(O& o, sm::CyclePart part, uint32_t now) {
    if (part != sm::CyclePart::kBegin) return;
    each_direct(o, now, [&](uint32_t number, const Packet& p) {
      if (in_stack(o)) {
        on_direct_request(o, number, p, now);
      } else {
        on_direct(o, number, p, now);
      }
    });
  }
  template <class O>
  NW_HD static void use_network(O& o, uint32_t now) {
    if (in_stack(o)) {
      send_return(o, now);
    } else {
      send_request(o, now);
    }
  }
  template <class O>
  NW_HD static void use_control(O& o, uint32_t now) {
    send_control(o, now);
  }
  template <class O>
  NW_HD static bool control_ready(const O& o) {
    return has_control(o);
  }
};

}  // namespace nearwarp::tom
