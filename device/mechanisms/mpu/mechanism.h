// MPU: a SIMT pipeline that is split between the base logic die and units beside the DRAM banks.
//
// Source: X. Xie et al., "MPU: Towards Bandwidth-abundant SIMT Processor via Near-bank Computing"
// (MPU), section IV.
#pragma once

#include "device/mechanisms/mpu/offload_engine.h"

namespace nearwarp::mpu {

struct OnSm : sm::Hooks {
  static constexpr bool kOnWideSms = false;
  template <uint32_t kWords>
  using State = SmSideState<kWords>;
  using Params = SmSideParams;

  template <class O>
  NW_HD static bool at_cursor(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
    return come_to_instruction(o, warp, now, earliest);
  }
  template <class O>
  NW_HD NW_INLINE static void on_warp(O& o, sm::WarpEvent event, uint32_t warp, uint32_t now,
                                      uint32_t) {
    if (event == sm::WarpEvent::kTimer) let_go(o, warp, now, now);
    if (event == sm::WarpEvent::kOperationEnded) held_operation_ended(o, warp, now, now + 1);
  }
  template <class O>
  NW_HD static void issue_elsewhere(O& o, uint32_t warp, const sm::ImageInstr& in, uint32_t now) {
    issue_near(o, warp, in, now);
  }
  template <class O>
  NW_HD static bool on_access(O& o, uint32_t warp) {
    return side_of(o, warp).near_access;
  }
  template <class O>
  NW_HD static bool take_access(O& o, const sm::LsuOp& op, uint32_t now) {
    offload_line(o, op, now);
    return true;
  }
  template <class O>
  NW_HD static bool take_shared_access(O& o, const sm::LsuOp& op, uint32_t ready, uint32_t now) {
    return issue_shared(o, op, ready, now);
  }
  template <class O>
  NW_HD static bool take_loaded(O& o, uint32_t entry, uint32_t at, uint32_t now) {
    return write_near(o, entry, at, now);
  }
  template <class O>
  NW_HD static void on_packet(O& o, const Packet& p, uint32_t now) {
    const NearMessage m = NearMessage::of(p);
    if (p.kind == kCommit) {
      commit(o, m.warp, m.number, now);
    } else {
      NW_ASSERT(p.kind == kRegisterToFar);
      moved(o, m.warp, now);
    }
  }
  template <class O>
  NW_HD static Tick own_arrival(const O& o, bool& poll) {
    return near_side_tick(o, poll);
  }
  template <class O>
  NW_HD NW_INLINE static void step(O& o, sm::CyclePart part, uint32_t now) {
    if (part == sm::CyclePart::kBegin) step_near_side(o, now);
  }
};

struct Mechanism {
  static constexpr uint32_t kPacketBlock = mpu::kPacketBlock;
  using OnSm = mpu::OnSm;
};

}  // namespace nearwarp::mpu
