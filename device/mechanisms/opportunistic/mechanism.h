// Opportunistic computing: chains of loads, arithmetic and stores executed where their data is.
//
// Source: A. Pattnaik et al., "Opportunistic Computing in GPU Architectures", ISCA 2019 (OC).
#pragma once

#include "device/mechanisms/opportunistic/offload_queue.h"
#include "device/mechanisms/opportunistic/slice_service.h"

namespace nearwarp::opportunistic {

struct OnSm : sm::Hooks {
  static constexpr bool kOnWideSms = false;
  template <uint32_t kWords>
  using State = SmSideState<kWords>;
  using Params = SmSideParams;

  template <class O>
  NW_HD static bool at_cursor(O& o, uint32_t warp, uint32_t now, uint32_t earliest) {
    return come_to_chain(o, warp, now, earliest);
  }
  template <class O>
  NW_HD NW_INLINE static void on_warp(O& o, sm::WarpEvent event, uint32_t warp, uint32_t now,
                                      uint32_t issue) {
    if (event == sm::WarpEvent::kTimer) on_timer(o, warp, now);
    if (event == sm::WarpEvent::kFetched) fetch_more(o, warp, now, issue);
    if (event == sm::WarpEvent::kOperationEnded && side_of(o, warp).step == Step::kWaiting)
      wait_for_operands(o, warp, now, now + 1);
  }
  template <class O>
  NW_HD static void on_packet(O& o, const Packet& p, uint32_t now) {
    if (p.kind == kOperandReply) {
      if ((p.tag & kServiceTag) != 0) {
        service_of(o).came.push(o.v.base, p.tag & (kServiceTag - 1));
      } else {
        on_operand(o, p, now);
      }
    } else if (p.kind == kComputeRefusal) {
      on_refusal(o, p);
    } else {
      NW_ASSERT(p.kind == kComputeReply);
      finish_part(o, ChainPart::of(p).warp, now, now + 1);
    }
  }
  template <class O>
  NW_HD static void on_own_store_ack(O& o, const Packet& p, uint32_t now) {
    service::stored(service_of(o), o.v.base, p.tag & (sm::kOwnStoreTag - 1), now);
  }
  template <class O>
  NW_HD static void use_network(O& o, uint32_t now) {
    send_next(o, now);
  }
  // Only an SM with a service queue has channels of its own.
  template <class O>
  NW_HD static Tick own_arrival(const O& o, bool& poll) {
    return sm_service::next_event(o.v, service_of(o), poll);
  }
  template <class O>
  NW_HD NW_INLINE static void step(O& o, sm::CyclePart part, uint32_t now) {
    if (part != sm::CyclePart::kEnd) return;
    step_service(o, now);
    note_network(o);
  }
};

struct Mechanism {
  static constexpr uint32_t kPacketBlock = kServiceBlock;
  using OnSm = opportunistic::OnSm;
  using OnL2Slice = opportunistic::OnL2Slice;
};

}  // namespace nearwarp::opportunistic
