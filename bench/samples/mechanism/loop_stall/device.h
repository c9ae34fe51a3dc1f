// A mechanism of a few lines, as an example: it counts the instances of outermost loops that warps
// come to, and stalls each for a fixed time before its first instruction. This is what runs in the
// machine.
#pragma once

#include "device/sm/cycles.h"
#include "device/sm/mechanisms.h"
#include "device/sm/timer_wheel.h"

namespace nearwarp::loop_stall {

inline constexpr uint16_t kNoLoop = 0xffff;

struct Params {
  uint32_t stall_cycles = 0;
  Ref<uint16_t> loop_of;  ///< by instruction
};

template <uint32_t kWords>
struct State {
  Ref<uint16_t> in_loop;  ///< by warp slot
  uint64_t instances = 0, stalled_cycles = 0;
};

struct OnSm : sm::Hooks {
  template <uint32_t kWords>
  using State = loop_stall::State<kWords>;
  using Params = loop_stall::Params;

  template <class O>
  NW_HD static bool at_cursor(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
    sm::Warp& w = o.v.warps[warp];
    uint16_t& inside = o.s.in_loop.in(o.v.base)[warp];
    const uint16_t here = o.p.loop_of.in(o.v.base)[w.at.pc];
    if (here == inside) return false;
    inside = here;
    const bool enters = here != kNoLoop;
    w.watch = static_cast<uint8_t>(enters ? w.watch | o.bit : w.watch & ~o.bit);
    if (!enters) return false;
    o.s.instances += 1;
    o.s.stalled_cycles += o.p.stall_cycles;
    sm::enter_phase(o.v, warp, sm::Phase::kHeld);
    w.holder = static_cast<uint8_t>(o.bit);
    sm::set_timer(o.v, warp, earliest + o.p.stall_cycles, now);
    return true;
  }
  template <class O>
  NW_HD static void on_warp(O& o, sm::WarpEvent event, uint32_t warp, uint32_t now, uint32_t) {
    if (event == sm::WarpEvent::kTraceEnded) o.s.in_loop.in(o.v.base)[warp] = kNoLoop;
    if (event != sm::WarpEvent::kTimer) return;
    sm::enter_phase(o.v, warp, sm::Phase::kRunning);
    sm::schedule(o.v, warp, now, now);
  }
};

struct Mechanism {
  static constexpr uint32_t kPacketBlock = 200;
  using OnSm = loop_stall::OnSm;
};

}  // namespace nearwarp::loop_stall
