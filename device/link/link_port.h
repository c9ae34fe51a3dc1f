// The GPU's end of one stack's off-chip link, with the channel busy monitor.
//
// Its inputs are the slices' requests, offload requests from the request crossbar, and the RX link;
// its outputs are the TX link, the slices' replies, and replies that go straight to SMs (reply
// crossbar). Packets are chosen round robin, one per port and interconnect cycle. The channels of
// the links enforce bandwidth.
//
// The monitor measures each direction over intervals of fixed length and tells the front end when a
// direction becomes busy or idle (TOM, section 4.2). Idle intervals do not wake the machine: after
// the last interval with traffic there is at most one more evaluation.
#pragma once

#include "device/core/dispatch_messages.h"
#include "device/link/link_mechanisms.h"

namespace nearwarp {

namespace link_detail {

/// Must the current interval be evaluated at its end? Only if there was traffic, or a direction is
/// busy so far.
NW_HD NW_INLINE bool must_evaluate(const LinkPortState& s, std::byte* base) {
  return s.busy_bits != 0 || s.tx.in(base)->producer_side.busy != s.tx_busy_before ||
         s.rx.in(base)->consumer_side.bytes != s.rx_bytes_before;
}

/// Decide at the end of an interval which directions are busy, and begin the next interval.
NW_HD NW_INLINE void evaluate(const LinkPortParams& p, LinkPortState& s, std::byte* base) {
  const Channel& tx = *s.tx.in(base);
  const Channel& rx = *s.rx.in(base);
  const uint64_t tx_ticks = tx.producer_side.busy - s.tx_busy_before;
  const uint64_t rx_bytes = rx.consumer_side.bytes - s.rx_bytes_before;
  const uint64_t limit = uint64_t{p.interval_ticks} * p.threshold_percent;
  const uint32_t tx_busy = tx_ticks * 100 >= limit ? 1 : 0;
  const uint32_t rx_busy =
      rx_bytes * rx.ticks_per_byte_num * 100 >= limit * rx.ticks_per_byte_den ? 1 : 0;
  s.tx_busy_before = tx.producer_side.busy;
  s.rx_bytes_before = rx.consumer_side.bytes;
  s.busy_bits = tx_busy | rx_busy << 1;
  s.counters.intervals += 1;
  s.counters.tx_busy_intervals += tx_busy;
  s.counters.rx_busy_intervals += rx_busy;
}

/// Tell the front end which directions are busy.
NW_HD NW_INLINE void tell(const LinkPortParams& p, LinkPortState& s, std::byte* base, Tick now,
                          Horizon& horizon) {
  Packet message;
  message.src = p.endpoint;
  message.dst = p.front_end;
  message.bytes = p.control_bytes;
  StatusBits{s.busy_bits}.put(p.status_kind, message);
  send(*s.control.in(base), base, now, message, horizon);
  s.told_bits = s.busy_bits;
  s.counters.messages += 1;
}

/// Step the link port's switch through a window.
template <class List>
NW_HD NW_INLINE StepResult step_ports(const LinkPortParams& p, LinkPortState& s, std::byte* base,
                                      const Window& window, Horizon& horizon) {
  if constexpr (memory_hooks::any<link::View<List>>(List())) {
    if (s.attached.bits != 0) return step_with_mechanisms<List>(p, s, base, window, horizon);
  }
  return step_switch(p.ports, s.ports, base, window, horizon);
}

}  // namespace link_detail

/// Step a link port through a window.
///
/// Reads:  slices, request crossbar, RX link; sends to TX link, slices, reply crossbar, front end.
/// Units:  times in ticks of the machine's base clock; messages carry bit 0: TX busy, bit 1: RX.
template <class List = NoMechanisms>
NW_HD NW_APART inline StepResult step_link_port(const LinkPortParams& p, LinkPortState& s,
                                                std::byte* base, Window window, Horizon& horizon) {
  using namespace link_detail;
  if (p.monitor == 0) return step_ports<List>(p, s, base, window, horizon);
  const Tick interval = p.interval_ticks;
  StepResult result;
  Tick from = window.begin;
  Tick boundary = (from + interval - 1) / interval * interval;
  Tick tell_at = kNever;  // when a waiting message can go; kNever with `no_credit`: not known yet
  bool no_credit = false;
  while (true) {
    // Intervals are evaluated before anything moves at their end.
    if (from == boundary) {
      const bool due = must_evaluate(s, base);
      if (due) evaluate(p, s, base);
      boundary += interval;
    }
    // A message that could not go waits for its credit; the bits may change back meanwhile.
    tell_at = kNever;
    no_credit = false;
    if (s.told_bits != s.busy_bits) {
      const Tick credit = send_tick(*s.control.in(base), base);
      const Tick when = cycle_at_or_after(max_tick(credit, from), p.ports.period) * p.ports.period;
      if (when < window.end && when < boundary) {
        tell(p, s, base, when, horizon);
      } else {
        tell_at = when;
        no_credit = credit >= kNever;
      }
    }
    const Tick to = min_tick(boundary, window.end);
    result = step_ports<List>(p, s, base, Window{from, to}, horizon);
    if (to == window.end) break;
    from = to;
  }
  result.poll |= no_credit;
  if (tell_at < kNever) result.wake = min_tick(result.wake, max_tick(tell_at, window.end));
  if (must_evaluate(s, base)) result.wake = min_tick(result.wake, boundary);
  return result;
}

/// The channels of a link port: its inputs and outputs as make_switch() takes them, and those of
/// them that are the link.
struct LinkPortChannels {
  std::span<const SwitchLink> inputs, outputs;
  Ref<Channel> tx;       ///< among the outputs
  Ref<Channel> rx;       ///< among the inputs
  Ref<Channel> control;  ///< LinkPortState::control
};

/// Lay out a link port.
template <class Allocator>
LinkPortState make_link_port(Allocator& arena, const LinkPortParams& params,
                             const LinkPortChannels& channels) {
  LinkPortState s;
  s.ports = make_switch(arena, params.ports, channels.inputs, channels.outputs);
  s.passed_by = arena.template allocate<uint8_t>(static_cast<uint32_t>(channels.inputs.size()));
  s.tx = channels.tx;
  s.rx = channels.rx;
  s.control = channels.control;
  return s;
}

}  // namespace nearwarp
