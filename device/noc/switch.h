// A packet switch: input FIFOs, a route table, output arbitration, busy ports.
//
// One template serves the two crossbars, the link ports and the stacks' switches; they differ only
// in their channels, ports and routes. Input channels share input ports (four SMs of a cluster
// share one), output channels share output ports (four SMs of a cluster; the two virtual channels
// of a cross-stack link). A port moves one flit per cycle, so it is busy for ceil(bytes / flit)
// cycles per packet; the packet arrives at the far end when its last flit does.
//
// Allocation is iSLIP with one iteration [McKeown, IEEE/ACM ToN 1999]: every free output port
// grants, in rotating order, one free input port that has a head for it; every granted input port
// accepts one grant in rotating order; the pointers move only when a packet moves, so a failed
// attempt changes nothing.
//
// A step goes from one cycle in which something can move to the next: a head arrives, a port for
// which heads wait becomes free, a credit comes. A head that finds its port, its output and a
// credit, and no other head beside it, is moved at once; others are registered in the masks of
// those who ask for an output. Behind a packet that holds its input port the next head is looked at
// when that is free at the latest; one that goes where the packet before it went stays registered.
//
// Sizing: a channel that shall carry one packet per cycle needs slots for latency + credit latency
// in cycles. A port feeds a wire without gaps if ceil(bytes / flit) cycles are no longer than the
// wire's transfer: 136-byte replies over 80 GB/s (1.7 ns) need flits of at least 68 bytes at
// 1.25 GHz.
//
// Deadlock: requests and replies must come and go on different channels. Then a blocked request
// blocks only the head of its own channel; ports are held for the moment of a transfer, never while
// waiting for a credit, so replies pass. In a stack, requests wait only for vaults and cross-stack
// request channels, vaults only for reply channels, and replies only for SMs, L2 slices' fills and
// the RX link, all of which sink them without sending a request first.
#pragma once

#include "device/core/bits.h"
#include "device/core/packet.h"
#include "device/core/step.h"
#include "device/noc/coming_heads.h"
#include "device/noc/islip.h"
#include "device/noc/switch_state.h"

namespace nearwarp {

namespace switch_detail {

using SwitchHeads = noc::ComingHeads<kSwitchInputWords>;

NW_HD NW_INLINE Tick head_tick(const SwitchInput& in, const std::byte* base) {
  return load_shared_tick(&reinterpret_cast<const Slot*>(base + in.head_slot)->arrive);
}

/// A packet that leaves in `cycle` by a channel, which has a credit and whose port is free.
struct Leaving {
  SwitchOutput& out;
  const Packet& packet;
  uint64_t cycle;
};
/// How a packet leaves: when its first flit does, and for how many cycles it holds its port.
struct Departure {
  Tick start = 0;
  uint32_t cycles = 0;
};
/// A packet leaves.
NW_HD NW_INLINE Departure depart(const SwitchParams& p, SwitchState& s, std::byte* base,
                                 const Leaving& leaving, Horizon& horizon) {
  const Packet& packet = leaving.packet;
  const uint64_t cycle = leaving.cycle;
  SwitchOutPort& port = s.out_ports.in(base)[leaving.out.port];
  Channel& to = *leaving.out.channel.in(base);
  const Tick now = cycle * p.period;
  const uint32_t bytes = packet.bytes;
  const uint32_t flits = (bytes + p.flit_bytes - 1) / p.flit_bytes;
  const uint32_t cycles = flits > 1 ? flits : 1;
  const Tick held = Tick{cycles} * p.period;
  s.counters.packets += 1;
  s.counters.bytes += bytes;
  s.counters.flits += flits;
  s.counters.replies += is_reply(packet.kind) ? 1 : 0;
  s.counters.port_busy_ticks += held;
  // Virtual channels of one port share its wire.
  const Tick start = max_tick(now, port.wire_free_at);
  send(to, base, start, packet, horizon, held - p.period);
  port.wire_free_at = to.producer_side.free_at;
  // The next packet may come up to a cycle before the wire is free, so that a wire whose
  // transfers are no multiple of the cycle has no gaps.
  port.free_from =
      port.wire_free_at < now + held + p.period ? cycle + cycles : port.wire_free_at / p.period;
  port.flits_sent += flits;
  return {start, cycles};
}

/// A switch in a window of at most kSwitchCycles. `kEachHead`: run() moves heads of inputs that are
/// among those coming, or registered, and no others, so that who calls it sees each of them first.
template <bool kEachHead = false>
class Switch {
 public:
  NW_HD NW_INLINE Switch(const SwitchParams& p, SwitchState& s, std::byte* base,
                         const Window& window, Horizon& horizon)
      : p_(p),
        s_(s),
        base_(base),
        inputs_(s.inputs.in(base)),
        outputs_(s.outputs.in(base)),
        in_ports_(s.in_ports.in(base)),
        out_ports_(s.out_ports.in(base)),
        cycles_(s.cycles.in(base)),
        window_end_(window.end),
        horizon_(horizon),
        first_(cycle_at_or_after(window.begin, p.period)),
        first_tick_(first_ * p.period),
        length_(cycle_at_or_after(window.end, p.period) - first_),
        n_words_(s.inputs.count > 64 ? 2 : 1) {}

  /// Runs with the heads `coming`, which are not registered. Returns when the switch wakes, with
  /// kPollBit if that may be sooner: a credit is waited for that is not known yet.
  NW_HD NW_INLINE uint64_t run(const SwitchHeads& coming) {
    beyond_ = coming.beyond;
    for (uint32_t w = 0; w < kSwitchInputWords; ++w) {
      for (uint64_t bits = coming.inputs[w]; bits != 0; bits &= bits - 1)
        expect(w * 64 + count_trailing_zeros(bits));
    }
    if (s_.active_ports != 0) begin_waiting();
    while (events_ != 0) {
      const uint32_t k = count_trailing_zeros(events_);
      events_ &= events_ - 1;
      cycle_ = first_ + k;
      now_ = first_tick_ + Tick{k} * p_.period;
      take_heads(cycles_[k]);
      if (s_.active_ports != 0) serve();
    }
    const Tick end = (first_ + length_) * p_.period;
    const Tick wake = max_tick(beyond_, end);
    return s_.active_ports == 0 ? wake : wake_of_waiting(wake, end);
  }

 private:
  // --- when something happens ---

  /// Something can move in `cycle`, if that is in the window.
  NW_HD NW_INLINE void at(uint64_t cycle) {
    const uint64_t k = cycle - first_;
    if (k < length_) events_ |= uint64_t{1} << k;
  }
  /// The head of input `i`, if there is one, is looked at when it has arrived and its port is free.
  NW_HD NW_INLINE void expect(uint32_t i) {
    const SwitchInput& in = inputs_[i];
    const Tick arrival = head_tick(in, base_);
    if (arrival >= window_end_) {
      beyond_ = min_tick(beyond_, arrival);
      return;
    }
    uint64_t cycle = in_ports_[in.port].free_from;
    if (arrival > cycle * p_.period) cycle = cycle_at_or_after(arrival, p_.period);
    const uint64_t k = cycle > first_ ? cycle - first_ : 0;
    if (k < length_) {
      events_ |= uint64_t{1} << k;
      cycles_[k].heads[i / 64] |= uint64_t{1} << (i % 64);
    } else {
      beyond_ = min_tick(beyond_, cycle * p_.period);
    }
  }
  /// f(input port) for those with heads for the channels of an output for which wants(channel).
  template <class Wants, class F>
  NW_HD NW_INLINE void each_asking(const SwitchOutPort& out, Wants&& wants, F&& f) const {
    uint64_t asking = 0;
    for (uint64_t c = out.active; c != 0; c &= c - 1) {
      const SwitchOutput& channel = outputs_[out.first + count_trailing_zeros(c)];
      if (wants(channel)) asking |= channel.requests;
    }
    for (; asking != 0; asking &= asking - 1) f(in_ports_[count_trailing_zeros(asking)]);
  }
  /// Heads have been registered in earlier windows: credits may have come since, and ports become
  /// free.
  NW_HD NW_INLINE void begin_waiting() {
    at(first_);
    for (uint64_t bits = s_.active_ports; bits != 0; bits &= bits - 1) {
      const SwitchOutPort& out = out_ports_[count_trailing_zeros(bits)];
      at(out.free_from);
      each_asking(
          out, [](const SwitchOutput&) { return true; },
          [&](const SwitchInPort& in) { at(in.free_from); });
    }
  }
  /// When registered heads can move behind the window's end `end`; `wake` if that is earlier.
  NW_HD NW_INLINE uint64_t wake_of_waiting(Tick wake, Tick end) const {
    bool unknown = false;
    for (uint64_t bits = s_.active_ports; bits != 0; bits &= bits - 1) {
      const SwitchOutPort& out = out_ports_[count_trailing_zeros(bits)];
      const Tick free = out.free_from * p_.period;
      if (free >= end) {
        wake = min_tick(wake, free);
        continue;
      }
      const auto has_credit = [&](const SwitchOutput& channel) {
        const Tick credit = credit_tick(*channel.channel.in(base_), base_);
        if (credit < window_end_) return true;
        unknown |= credit >= kNever;
        wake = min_tick(wake, max_tick(credit, end));
        return false;
      };
      each_asking(out, has_credit, [&](const SwitchInPort& in) {
        wake = min_tick(wake, max_tick(in.free_from * p_.period, end));
      });
    }
    return wake | (unknown ? kPollBit : 0);
  }

  // --- heads ---

  /// Output channel of the packet at the head of an input; kNoRoute if there is no way.
  NW_HD NW_INLINE uint16_t output_of(const SwitchInput& in) const {
    const Packet& packet = slot_at(base_, in.head_slot).packet;
    const uint32_t row = is_reply(packet.kind) ? p_.endpoints : 0;
    return node_of(packet.dst) < p_.endpoints ? s_.routes.in(base_)[row + node_of(packet.dst)]
                                              : kNoRoute;
  }
  /// The heads that are to be looked at now.
  NW_HD NW_INLINE void take_heads(SwitchCycle& cycle) {
    const uint64_t low = cycle.heads[0], high = n_words_ > 1 ? cycle.heads[1] : 0;
    if ((low | high) == 0) return;
    cycle = {};
    if (high == 0 && !has_several(low)) {
      const uint32_t i = count_trailing_zeros(low);
      return take(i, output_of(inputs_[i]), 0, 0);
    }
    take_several(low, high);
  }
  /// Takes several heads: those without a competitor are moved without being registered.
  NW_HD NW_INLINE void take_several(uint64_t low, uint64_t high) {
    // Input and output ports of these heads, and those of several.
    uint64_t from = 0, from_several = 0, to = 0, to_several = 0;
    each_head(low, high, [&](uint32_t i) {
      SwitchInput& in = inputs_[i];
      in.output = output_of(in);
      const uint64_t in_bit = uint64_t{1} << in.port;
      const uint64_t out_bit = in.output == kNoRoute ? 0 : uint64_t{1} << outputs_[in.output].port;
      from_several |= from & in_bit;
      from |= in_bit;
      to_several |= to & out_bit;
      to |= out_bit;
    });
    each_head(low, high, [&](uint32_t i) {
      const uint16_t output = inputs_[i].output;
      inputs_[i].output = kNoRoute;
      take(i, output, from_several, to_several);
    });
  }
  template <class F>
  NW_HD NW_INLINE static void each_head(uint64_t low, uint64_t high, F&& f) {
    for (; low != 0; low &= low - 1) f(count_trailing_zeros(low));
    for (; high != 0; high &= high - 1) f(64 + count_trailing_zeros(high));
  }
  /// The head of input `i` goes to `output`. Several heads that are looked at in this cycle come by
  /// the input ports `contested_in`, and several go to the output ports `contested_out`.
  NW_HD NW_INLINE void take(uint32_t i, uint16_t output, uint64_t contested_in,
                            uint64_t contested_out) {
    if ((contested_in >> inputs_[i].port & 1) == 0 && passes(inputs_[i], output, contested_out)) {
      transfer(i, output);
      expect(i);
    } else {
      register_head(i, output);
    }
  }
  /// Can a head whose port has no other be moved without being registered? No other head asks
  /// for its output, which is free as its port is, so it wins both. Not to output ports
  /// `contested`.
  NW_HD NW_INLINE bool passes(const SwitchInput& in, uint16_t output, uint64_t contested) const {
    if (output == kNoRoute) return false;
    const SwitchOutput& out = outputs_[output];
    if (((s_.active_ports | contested) >> out.port & 1) != 0) return false;
    const SwitchInPort& from = in_ports_[in.port];
    return out_ports_[out.port].free_from <= cycle_ && from.heads == 0 &&
           from.free_from <= cycle_ && credit_tick(*out.channel.in(base_), base_) <= now_;
  }
  /// Enter the head of input `i` into the request masks.
  NW_HD NW_INLINE void register_head(uint32_t i, uint16_t output) {
    SwitchInput& in = inputs_[i];
    in.output = output;
    s_.registered[i / 64] |= uint64_t{1} << (i % 64);
    if (output == kNoRoute) {
      const Tick came = cycle_at_or_after(head_tick(in, base_), p_.period) * p_.period;
      record_fault(s_.fault, kFaultNoRoute, p_.component, came);
      return;
    }
    SwitchInPort& from = in_ports_[in.port];
    from.heads += 1;
    SwitchOutput& out = outputs_[output];
    out.requests |= uint64_t{1} << in.port;
    SwitchOutPort& to = out_ports_[out.port];
    to.active |= uint64_t{1} << (output - to.first);
    s_.active_ports |= uint64_t{1} << out.port;
    if (to.free_from > cycle_) at(to.free_from);
    if (from.free_from > cycle_) at(from.free_from);
  }
  /// Take the head of input `i` out of the request masks.
  NW_HD NW_INLINE void unregister_head(uint32_t i) {
    const uint16_t output = inputs_[i].output;
    s_.registered[i / 64] &= ~(uint64_t{1} << (i % 64));
    inputs_[i].output = kNoRoute;
    SwitchInPort& port = in_ports_[inputs_[i].port];
    port.heads -= 1;
    if (port.heads != 0) {
      for (uint32_t k = port.first; k < uint32_t{port.first} + port.count; ++k) {
        if (inputs_[k].output == output) return;  // another head of the port wants the same
      }
    }
    SwitchOutput& out = outputs_[output];
    out.requests &= ~(uint64_t{1} << inputs_[i].port);
    if (out.requests != 0) return;
    SwitchOutPort& to = out_ports_[out.port];
    to.active &= ~(uint64_t{1} << (output - to.first));
    if (to.active == 0) s_.active_ports &= ~(uint64_t{1} << out.port);
  }

  // --- allocation ---

  /// Request, grant and accept of a cycle.
  NW_HD NW_INLINE void serve() {
    uint64_t granted = 0;
    for (uint64_t bits = s_.active_ports; bits != 0; bits &= bits - 1) {
      const uint32_t o = count_trailing_zeros(bits);
      const SwitchOutPort& port = out_ports_[o];
      if (port.free_from > cycle_) continue;
      const uint64_t candidates = free_of(candidates_for(port));
      if (candidates == 0) continue;
      const uint32_t i = noc::pick_from(candidates, port.next_in);
      granted |= uint64_t{1} << i;
      in_ports_[i].grants |= uint64_t{1} << o;
    }
    for (uint64_t bits = granted; bits != 0; bits &= bits - 1) {
      const uint32_t at_port = count_trailing_zeros(bits);
      const uint32_t i = choose(at_port);
      const uint32_t output = inputs_[i].output;
      // An output whose grant was refused is free for others in the next cycle.
      if (has_several(in_ports_[at_port].grants)) at(cycle_ + 1);
      in_ports_[at_port].grants = 0;
      transfer(i, output);
      // The next head may stand where this one has.
      if (kEachHead || !is_behind(i, output)) {
        unregister_head(i);
        expect(i);
      }
      if (in_ports_[at_port].heads != 0) at(in_ports_[at_port].free_from);
      const SwitchOutPort& out = out_ports_[outputs_[output].port];
      if (out.active != 0) at(out.free_from);
    }
  }
  /// Does the new head of input `i`, whose port has just become busy, go to the same output, and
  /// come by the next cycle? (The port is not free before.)
  NW_HD NW_INLINE bool is_behind(uint32_t i, uint32_t output) const {
    const SwitchInput& in = inputs_[i];
    const Tick arrival = head_tick(in, base_);
    return arrival < window_end_ && arrival <= now_ + p_.period && output_of(in) == output;
  }
  /// Input ports with heads for channels of an output that have a credit.
  NW_HD NW_INLINE uint64_t candidates_for(const SwitchOutPort& port) {
    uint64_t candidates = 0;
    for (uint64_t c = port.active; c != 0; c &= c - 1) {
      const SwitchOutput& out = outputs_[port.first + count_trailing_zeros(c)];
      const Tick credit = credit_tick(*out.channel.in(base_), base_);
      if (credit <= now_) {
        candidates |= out.requests;
      } else if (credit < window_end_) {
        at(cycle_at_or_after(credit, p_.period));
      }
    }
    return candidates;
  }
  /// The ports among `ports` that are not busy.
  NW_HD NW_INLINE uint64_t free_of(uint64_t ports) {
    for (uint64_t bits = ports & busy_; bits != 0; bits &= bits - 1) {
      const uint32_t i = count_trailing_zeros(bits);
      busy_ &= ~(uint64_t{in_ports_[i].free_from <= cycle_} << i);
    }
    return ports & ~busy_;
  }
  /// The accept phase at input port `at_port`: the input channel to serve.
  NW_HD NW_INLINE uint32_t choose(uint32_t at_port) const {
    const SwitchInPort& port = in_ports_[at_port];
    if (port.count == 1) return port.first;
    const SwitchOutPort& out = out_ports_[noc::pick_from(port.grants, port.next_out)];
    uint32_t k = port.next_channel < port.count ? port.next_channel : 0;
    for (uint32_t n = 0; n < port.count; ++n) {
      const uint32_t output = inputs_[port.first + k].output;  // kNoRoute lies beyond every port
      if (output - out.first < out.count &&
          (out.count == 1 || credit_tick(*outputs_[output].channel.in(base_), base_) <= now_))
        return port.first + k;
      k = k + 1 == port.count ? 0 : k + 1;
    }
    return port.first;
  }

  /// Move the head of input `i` through its port and those of `output`.
  NW_HD NW_INLINE void transfer(uint32_t i, uint32_t output) {
    SwitchInput& in = inputs_[i];
    SwitchOutput& out = outputs_[output];
    SwitchInPort& pi = in_ports_[in.port];
    Channel& from = *in.channel.in(base_);
    const Departure left =
        depart(p_, s_, base_, {out, slot_at(base_, in.head_slot).packet, cycle_}, horizon_);
    out.waited += left.start - head_tick(in, base_);
    pop(from, base_, now_, horizon_);
    in.head_slot = from.consumer_side.head;
    pi.free_from = cycle_ + left.cycles;
    busy_ |= uint64_t{1} << in.port;
    pi.next_channel = static_cast<uint16_t>(i - pi.first + 1);
    pi.next_out = static_cast<uint16_t>(out.port + 1);
    out_ports_[out.port].next_in = static_cast<uint16_t>(in.port + 1);
  }

  const SwitchParams& p_;
  SwitchState& s_;
  std::byte* base_;
  SwitchInput* inputs_;
  SwitchOutput* outputs_;
  SwitchInPort* in_ports_;
  SwitchOutPort* out_ports_;
  SwitchCycle* cycles_;
  Tick window_end_;
  Horizon& horizon_;
  uint64_t first_;  ///< cycle of the window
  Tick first_tick_;
  uint64_t length_;               ///< of the window, in cycles
  uint32_t n_words_;              ///< of bits of inputs
  uint64_t events_ = 0;           ///< cycles in which something can happen; bit 0: `first_`
  uint64_t busy_ = ~uint64_t{0};  ///< input ports that may not be free
  Tick beyond_ = kNever;          ///< the first arrival behind the window, as far as is known
  uint64_t cycle_ = 0;            ///< in which the switch is, and its tick
  Tick now_ = 0;
};

/// Heads that are not registered.
NW_HD NW_INLINE SwitchHeads find_heads(const SwitchState& s, const std::byte* base,
                                       const Window& window, Horizon& horizon) {
  const SwitchInput* const inputs = s.inputs.in(base);
  if (!horizon.knows_inputs()) {
    SwitchHeads all = noc::find_coming<kSwitchInputWords>(
        s.inputs.count, window, [&](size_t i) { return head_tick(inputs[i], base); });
    for (uint32_t w = 0; w < kSwitchInputWords; ++w) all.inputs[w] &= ~s.registered[w];
    return all;
  }
  SwitchHeads coming;
  for (uint32_t w = 0; w * 64 < s.inputs.count; ++w) {
    uint64_t look = low_bits(s.inputs.count - w * 64) & ~s.registered[w] & horizon.unseen(w);
    for (; look != 0; look &= look - 1) {
      const uint32_t i = count_trailing_zeros(look);
      const Tick arrival = head_tick(inputs[w * 64 + i], base);
      if (arrival < window.end) {
        coming.inputs[w] |= uint64_t{1} << i;
      } else if (arrival < kNever) {
        coming.beyond = min_tick(coming.beyond, arrival);
      } else {
        horizon.found_empty(w, i);
      }
    }
  }
  return coming;
}

/// Step a switch through a window of at most kSwitchCycles.
NW_HD NW_INLINE StepResult step_part(const SwitchParams& p, SwitchState& s, std::byte* base,
                                     const Window& window, Horizon& horizon) {
  const SwitchHeads coming = find_heads(s, base, window, horizon);
  return result_of(Switch<>(p, s, base, window, horizon).run(coming));
}

}  // namespace switch_detail

/// Step a switch through a window.
///
/// Reads:  heads of all input channels; sends to the output channels.
/// State:  request masks by output channel and port, rotating pointers, busy ports.
/// Units:  times in ticks of the machine's base clock.
NW_HD NW_APART inline StepResult step_switch(const SwitchParams& p, SwitchState& s, std::byte* base,
                                             Window window, Horizon& horizon) {
  StepResult result;
  do {
    const Tick farthest = window.begin + Tick{kSwitchCycles} * p.period;
    const Window part{window.begin, min_tick(window.end, farthest)};
    result = switch_detail::step_part(p, s, base, part, horizon);
    window.begin = part.end;
  } while (window.begin < window.end);
  return result;
}

}  // namespace nearwarp
