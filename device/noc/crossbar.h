// A crossbar of queues between channels: one input-queued router with one virtual channel per port,
// and the interfaces around it, in events instead of cycles.
//
// With one virtual channel a packet that has its output has it alone until its tail has won the
// switch, and so has its input: no flit of it meets another request. When its next flits arrive,
// find room and an idle wire is known from the moment it is connected, so they go as a train,
// in one step: as many as have come or come one per cycle, as have room beyond, and as the queue
// for the wire takes. A train ends where one of these does, and the rest goes on when it is there.
//
// A packet that is there as one train, with room for all of it, needs no step of its own beyond
// that: what becomes of it is known when it gets its output, and, if no other packet can ask for
// that output before it does, when it leaves its interface. So is when the receiving interface has
// it, if nothing is before it there; it is put into its channel ahead of time, with the arrival
// that it has. Its parcel stays its sender's until then.
//
// Each flit does in each cycle what router.h and channel_network.h would have it do (a
// test compares them); `interconnect.flit_by_flit` has them do it.
//
// Events of a cycle: inputs of the crossbar round by round, then receiving, then sending
// interfaces. Nothing that the crossbar does can be felt by an interface in the same cycle, or the
// reverse.
#pragma once

#include <type_traits>

#include "device/noc/coming_heads.h"
#include "device/noc/crossbar_ports.h"

namespace nearwarp::noc {

namespace crossbar_detail {

/// A crossbar in one cycle.
template <class Shape>
class Crossbar : public Ports<Shape> {
  using Base = Ports<Shape>;
  using Base::act_at, Base::back, Base::base_, Base::buffer, Base::count_credits, Base::cycle_,
      Base::cycle_of, Base::ends_, Base::events_, Base::events_at, Base::free_at, Base::heads_,
      Base::heads_at, Base::front, Base::give_back, Base::held, Base::inputs_, Base::next_credit,
      Base::outputs_, Base::p_, Base::pop, Base::push, Base::receive_at, Base::receivers_,
      Base::release, Base::s_, Base::send_at, Base::senders_, Base::set_cycle, Base::settle,
      Base::shape_, Base::t_;

 public:
  using Base::Base;

  /// Receivers that wait for their channel, at the window's begin: those go on that can in it.
  NW_HD NW_INLINE void look_at_stuck(uint64_t first_cycle) {
    set_cycle(first_cycle);
    for (uint64_t bits = s_.stuck; bits != 0; bits &= bits - 1) {
      const uint32_t o = count_trailing_zeros(bits);
      const Tick when = room_at(o);
      if (when >= ends_.window_end) continue;
      s_.stuck &= ~(uint64_t{1} << o);
      retry(o, first_cycle, when);
    }
  }
  /// When the first stuck receiver goes on, as far as is known (kNever: none), and whether there is
  /// one of which it is not known: its credit may come before the others'.
  NW_HD NW_INLINE Tick stuck_until(bool& unknown) const {
    Tick until = kNever;
    for (uint64_t bits = s_.stuck; bits != 0; bits &= bits - 1) {
      const Tick when = room_at(count_trailing_zeros(bits));
      unknown |= when >= kNever;
      until = min_tick(until, when);
    }
    return until;
  }

  NW_HD NW_INLINE void step(uint64_t cycle) {
    set_cycle(cycle);
    if (cycle / kSettleCycles != s_.stepped / kSettleCycles) settle(cycle - s_.stepped);
    s_.stepped = cycle;
    const uint32_t slot = t_ % kEventSlots;
    CrossbarEvents& events = events_[slot];
    const uint32_t words = input_words(s_);
    uint64_t* const coming = heads_ + slot * words;
    for (uint32_t w = 0; w < words; ++w) {
      const uint64_t heads = coming[w];
      if (heads == 0) continue;
      coming[w] = 0;
      for (uint64_t bits = heads; bits != 0; bits &= bits - 1)
        take_head(w * 64 + count_trailing_zeros(bits));
    }
    for (uint32_t round = 0; round <= shape_.rounds_shift; ++round) {
      const uint64_t inputs = events.inputs[round], freed = events.freed[round];
      if ((inputs | freed) == 0) continue;
      events.inputs[round] = events.freed[round] = 0;
      const Round now = (t_ << shape_.rounds_shift) + round;
      s_.unowned |= freed;
      for (uint64_t bits = inputs; bits != 0; bits &= bits - 1)
        act(count_trailing_zeros(bits), now);
      const uint64_t outs = s_.wanted & s_.unowned;
      s_.unowned &= ~outs;
      for (uint64_t bits = outs; bits != 0; bits &= bits - 1)
        connect(count_trailing_zeros(bits), now);
    }
    const uint64_t receivers = events.receivers;
    events.receivers = 0;
    for (uint64_t bits = receivers; bits != 0; bits &= bits - 1)
      receive(count_trailing_zeros(bits));
    const uint64_t senders = events.senders;
    events.senders = 0;
    fresh_ = 0;
    for (uint64_t bits = senders; bits != 0; bits &= bits - 1) send(count_trailing_zeros(bits));
    for (uint64_t bits = fresh_; bits != 0; bits &= bits - 1)
      begin_fresh(count_trailing_zeros(bits));
    s_.busy[slot / 64] &= ~(uint64_t{1} << (slot % 64));
  }

  /// The heads of `coming` inputs arrive within the window.
  NW_HD NW_INLINE void expect_heads(uint64_t first_cycle, const uint64_t* coming) {
    set_cycle(first_cycle);
    for (uint32_t w = 0; w < input_words(s_); ++w) {
      for (uint64_t bits = coming[w]; bits != 0; bits &= bits - 1) {
        const uint32_t i = w * 64 + count_trailing_zeros(bits);
        expect_head(i, ends_.arrival_at(i));
      }
    }
  }

  Tick arrival_beyond = kNever;  ///< the first of heads beyond the window that came up in it

 private:
  /// The head of input `i` arrives within the window: look at it then, or, if that is far, before.
  NW_HD NW_INLINE void expect_head(uint32_t i, Tick arrival) {
    const uint64_t ahead =
        arrival <= ends_.now ? 0 : cycle_at_or_after(arrival - ends_.now, p_.period);
    const Cycle at = t_ + static_cast<Cycle>(ahead < kEventSlots ? ahead : kEventSlots - 1);
    heads_at(at)[i / 64] |= uint64_t{1} << (i % 64);
  }
  /// Has it arrived?
  NW_HD NW_INLINE void take_head(uint32_t i) {
    const Tick arrival = ends_.arrival_at(i);
    if (arrival > ends_.now) return expect_head(i, arrival);
    wake_sender(ends_.set_ready(i, true));
  }

  // --- the crossbar ---

  NW_HD NW_INLINE void act(uint32_t in, Round now) {
    CrossbarInput& i = inputs_[in];
    if (i.stage == InputStage::kActive) return forward(in, i, now);
    NW_ASSERT(i.stage == InputStage::kRouting);
    i.stage = InputStage::kWaiting;
    CrossbarOutput& out = outputs_[i.out];
    // The first packet that asks for an output while it is taken notes when it becomes free.
    const bool no_owner = out.owner == kNobody, known = (s_.unowned >> i.out & 1) != 0;
    const bool taken = no_owner & !known & later(out.free_from, now);
    const bool free = no_owner & !taken;
    s_.unowned |= uint64_t{free} << i.out;
    free_at(i.out, out.free_from, taken & (out.requests == 0));
    out.requests |= uint64_t{1} << in;
    s_.wanted |= uint64_t{1} << i.out;
  }
  /// When the head of the train at the front asks for its output, which enters the pipeline in
  /// round `now` or when it arrives.
  NW_HD NW_INLINE Round asks_in(const Train& train, Round now) const {
    return first_vc_request(p_.router, latest(now, train.first << shape_.rounds_shift));
  }
  /// The train at the front has a packet's head.
  NW_HD NW_INLINE void begin_packet(uint32_t in, CrossbarInput& i, Round now) {
    const Train& train = front(i.trains, buffer(in));
    i.out = train.out;
    i.stage = InputStage::kRouting;
    act_at(in, asks_in(train, now));
  }
  /// The input is done with a packet, or a part of one that gives its output back, from round
  /// `from` on.
  NW_HD NW_INLINE void go_on(uint32_t in, CrossbarInput& i, Round from) {
    if (i.trains.count != 0) return begin_packet(in, i, from);
    i.stage = InputStage::kIdle;
    i.idle_from = from;
  }
  /// The output can have another owner from round `from` on.
  NW_HD NW_INLINE void give_up(uint32_t o, CrossbarOutput& out, Round from) {
    out.owner = kNobody;
    out.free_from = from;
    free_at(o, from, out.requests != 0);
  }
  /// Grant output `o`, which is free, to the next input that asks for it.
  NW_HD NW_INLINE void connect(uint32_t o, Round now) {
    CrossbarOutput& out = outputs_[o];
    const uint32_t in = pick_from(out.requests, out.next);
    CrossbarInput& i = inputs_[in];
    out.next = static_cast<uint16_t>(in + 1);
    out.requests &= ~(uint64_t{1} << in);
    s_.wanted &= ~(uint64_t{out.requests == 0} << o);
    out.unconnected -= 1;
    Train& train = front(i.trains, buffer(in));
    if (const uint32_t flits = pass(in, o, train, now + 1); flits != 0) {
      leave(i, train, flits);
      return go_on(in, i, out.free_from);
    }
    out.owner = static_cast<uint16_t>(in);
    i.stage = InputStage::kActive;
    act_at(in, now + 1);
  }

  /// Flits that wait for the wire when one wins the switch in round `won`: there are none without a
  /// speed-up.
  NW_HD NW_INLINE uint32_t queued(const CrossbarOutput& out, Round won) const {
    const Cycle ahead = out.wire_free - crossed(won);
    const bool queue = shape_.rounds_shift != 0 && ahead <= kOutputQueue;  // else it is free
    return ahead & (0u - static_cast<uint32_t>(queue));
  }
  /// As in router.h: a flit that wins the switch in round `won` begins to cross it in the next one.
  NW_HD NW_INLINE Cycle crossed(Round won) const { return cycle_of(won + 1) - 1; }
  /// `flits` of a train whose first one is there from cycle `first` on win the switch, one by one,
  /// from round `won` on. Returns when the first of them is at its receiver.
  NW_HD NW_INLINE Cycle cross(uint32_t in, CrossbarOutput& out, Cycle first, uint32_t flits,
                              Round won) {
    const Cycle leaves = crossed(won) + queued(out, won);
    out.wire_free = leaves + flits;
    out.flits_sent += flits;
    out.room.flits -= flits;
    give_back(in, won, first, flits);
    return leaves + kLeaveDelay;
  }
  /// The round after the one in which the last of them does.
  NW_HD NW_INLINE Round after(Cycle first, uint32_t flits, Round won) const {
    return latest(won + flits - 1, (first + flits - 1) << shape_.rounds_shift) + 1;
  }

  /// The first `flits` of a train have gone on.
  NW_HD NW_INLINE static void leave(Train& train, uint32_t flits) {
    train.first += flits;
    train.flits = static_cast<uint16_t>(train.flits - flits);
  }
  /// Flits of the train at the front of an input have gone on.
  NW_HD NW_INLINE void leave(CrossbarInput& i, Train& train, uint32_t flits) const {
    leave(train, flits);
    if (train.flits == 0) pop(i.trains);
  }
  /// A packet that is there as one train, with room for all of it, passes through the crossbar as
  /// soon as it has its output, from round `won` on: what becomes of each flit is known then. So
  /// does the first flit of packets that are split. Returns how many flits pass; 0 if the packet
  /// has to go in parts. (The input, too, is free when the output is.)
  NW_HD NW_APART_ON_GPU uint32_t pass(uint32_t in, uint32_t o, const Train& train, Round won) {
    const uint32_t flits = shape_.split ? 1 : train.flits;
    const bool last = train.last != 0 && flits == train.flits;
    if (!last && !shape_.split) return 0;
    CrossbarOutput& out = outputs_[o];
    if (out.room.flits < flits) count_credits(out.room);
    if (out.room.flits < flits || flits + queued(out, won) > kOutputQueue) return 0;
    const Cycle arrives = cross(in, out, train.first, flits, won);
    if (!receive_ahead(o, train.tag, arrives, flits, last))
      deliver(o, Train{train.tag, arrives, static_cast<uint16_t>(flits), 0, uint32_t{last}});
    give_up(o, out, after(train.first, flits, won));
    return flits;
  }
  /// A sender's packet that is not in any buffer yet; all senders have had their turns. If no other
  /// packet can ask for its output before it does, it passes now: who begins later asks later.
  NW_HD NW_INLINE void begin_fresh(uint32_t n) {
    const CrossbarSender& sender = senders_[n];
    CrossbarInput& i = inputs_[n];
    CrossbarOutput& out = outputs_[sender.out];
    Train train{sender.tag, t_ + kEnterDelay, sender.fresh_flits, sender.out, 1};
    const Round asks = asks_in(train, i.idle_from);
    const bool owned = out.owner != kNobody || later(out.free_from, asks);
    if (out.unconnected == asks_for(train.flits) && !owned &&
        !later(i.idle_from, train.first << shape_.rounds_shift)) {
      if (const uint32_t flits = pass(n, sender.out, train, asks + 1); flits != 0) {
        out.unconnected -= 1;
        out.next = static_cast<uint16_t>(n + 1);
        s_.unowned &= ~(uint64_t{1} << sender.out);
        i.idle_from = out.free_from;
        leave(train, flits);
        if (train.flits == 0) return;
      }
    }
    enter(n, train, true);
  }
  /// How often a packet asks for its output.
  NW_HD NW_INLINE uint32_t asks_for(uint32_t flits) const { return shape_.split ? flits : 1; }

  /// Sends what can go of the packet at the front of a connected input.
  NW_HD NW_APART void forward(uint32_t in, CrossbarInput& i, Round now) {
    if (i.trains.count == 0) {
      i.starved = true;
      return;
    }
    Train& train = front(i.trains, buffer(in));
    if (later(train.first, t_)) return act_at(in, train.first << shape_.rounds_shift);
    CrossbarOutput& out = outputs_[i.out];
    if (out.room.flits < train.flits) count_credits(out.room);
    if (out.room.flits == 0) {
      out.owner_waits = out.room.coming == 0;
      if (!out.owner_waits) act_at(in, next_credit(out.room) << shape_.rounds_shift);
      return;
    }
    const uint32_t room = kOutputQueue - queued(out, now);
    if (room == 0) return act_at(in, ((crossed(now) + 2) << shape_.rounds_shift) - 1);
    uint32_t flits = train.flits < out.room.flits ? train.flits : out.room.flits;
    flits = flits < kTrainFlits ? flits : kTrainFlits;
    flits = flits < room ? flits : room;
    if (shape_.split) flits = 1;
    const Cycle arrives = cross(in, out, train.first, flits, now);
    const Round next = after(train.first, flits, now);
    const bool ends = flits == train.flits, whole = ends && train.last != 0;
    deliver(i.out, Train{train.tag, arrives, static_cast<uint16_t>(flits), 0, uint32_t{whole}});
    leave(i, train, flits);
    if (!whole && !shape_.split) return act_at(in, next);
    give_up(i.out, out, next);
    go_on(in, i, next);
  }
  /// A train is on its way to input `in`; `begins`: its packet does. If it follows at once, it is
  /// one with the train before it.
  NW_HD NW_INLINE void enter(uint32_t in, const Train& train, bool begins) {
    CrossbarInput& i = inputs_[in];
    if (!begins && i.trains.count != 0) {
      Train& before = back(i.trains, buffer(in));
      if (before.first + before.flits == train.first && before.flits + train.flits <= kTrainFlits) {
        before.flits = static_cast<uint16_t>(before.flits + train.flits);
        before.last = train.last;
        return;
      }
    }
    push(i.trains, buffer(in), train);
    if (i.stage == InputStage::kIdle) {
      begin_packet(in, i, i.idle_from);
    } else if (i.starved) {
      i.starved = false;
      act_at(in, train.first << shape_.rounds_shift);
    }
  }

  // --- receiving interfaces ---

  /// A train is on its way to receiver `o`.
  NW_HD NW_INLINE void deliver(uint32_t o, const Train& train) {
    CrossbarReceiver& r = receivers_[o];
    push(r.trains, held(o), train);
    if (r.trains.count == 1) expect(o, r);
  }
  /// Nothing is before the train at the front: its flits are taken one by one as they come. A
  /// packet's last one is, if its channel has room.
  NW_HD NW_INLINE void expect(uint32_t o, CrossbarReceiver& r) {
    const Train& train = front(r.trains, held(o));
    const Cycle first = latest(train.first, r.free_from);
    const uint32_t certain = train.flits - train.last;
    if (certain != 0) release(o, first, certain);
    r.free_from = first + certain;
    receive_at(o, first + train.flits - 1);
  }
  /// Receives ahead of time, if nothing is before the train. A packet that has come with it, as its
  /// `last`, is sent on, if its channel has room now; that keeps in order what comes.
  NW_HD NW_INLINE bool receive_ahead(uint32_t o, uint32_t tag, Cycle arrives, uint32_t flits,
                                     bool last) {
    CrossbarReceiver& r = receivers_[o];
    if (r.trains.count != 0) return false;
    const Cycle first = latest(arrives, r.free_from), end = first + flits - 1;
    const Cycle ahead = end - t_;
    if (ahead > kAheadCycles) return false;
    if (last) {
      if (!ends_.deliver_ahead(tag, ends_.now + Tick{ahead} * p_.period,
                               Tick{first - arrives} * p_.period))
        return false;
      if (senders_[tag / kParcels].waits_for_parcel) send_at(tag / kParcels, end);
    }
    release(o, first, flits);
    r.free_from = end + 1;
    s_.flits_inside -= flits;
    return true;
  }
  NW_HD NW_APART void receive(uint32_t o) {
    CrossbarReceiver& r = receivers_[o];
    const Train& train = front(r.trains, held(o));
    if (train.last != 0) {
      const Cycle came = train.first + train.flits - 1;
      if (!ends_.deliver(train.tag, Tick{t_ - came} * p_.period)) {
        const Tick when = room_at(o);
        if (when < ends_.window_end) return retry(o, cycle_ + 1, when);
        s_.stuck |= uint64_t{1} << o;
        return;
      }
      CrossbarSender& sender = senders_[train.tag / kParcels];
      if (sender.waits_for_parcel) {
        sender.waits_for_parcel = false;
        wake_sender(train.tag / kParcels);
      }
      release(o, t_, 1);
      r.free_from = t_ + 1;
    }
    s_.flits_inside -= train.flits;
    pop(r.trains);
    if (r.trains.count != 0) expect(o, r);
  }
  /// When the channel that receiver `o` waits for has room.
  NW_HD NW_INLINE Tick room_at(uint32_t o) const {
    return send_tick(ends_.channel_of(front(receivers_[o].trains, held(o)).tag), base_);
  }
  /// Try again when the channel has room, from `cycle` on; or sooner, if that is far.
  NW_HD NW_INLINE void retry(uint32_t o, uint64_t cycle, Tick when) {
    uint64_t at = cycle_at_or_after(when, p_.period);
    at = at < cycle ? cycle : at;
    const uint64_t farthest = cycle + kEventSlots / 2;
    receive_at(o, static_cast<Cycle>(at < farthest ? at : farthest));
  }

  // --- sending interfaces ---

  /// Sender `n` may have something to send that it had not.
  NW_HD NW_INLINE void wake_sender(uint32_t n) { send_at(n, latest(t_, senders_[n].free_at)); }

  NW_HD NW_APART void send(uint32_t n) {
    CrossbarSender& sender = senders_[n];
    if (later(sender.free_at, t_)) return;  // it was woken for a parcel, and has got another one
    const SendingEnd& end = s_.ends.in(base_)[n];
    if (sender.flits_left == 0 && end.ready == 0) return;
    if (sender.room.flits == 0) count_credits(sender.room);
    if (sender.room.flits == 0) {
      sender.waits_for_room = sender.room.coming == 0;
      if (!sender.waits_for_room) send_at(n, next_credit(sender.room));
      return;
    }
    const bool begins = sender.flits_left == 0;
    if (begins && !take_packet(n, sender, end)) return;
    if (sender.room.flits < sender.flits_left) count_credits(sender.room);
    uint32_t flits = sender.flits_left < sender.room.flits ? sender.flits_left : sender.room.flits;
    flits = flits < kTrainFlits ? flits : kTrainFlits;
    sender.room.flits -= flits;
    sender.flits_left -= flits;
    sender.free_at = t_ + flits;
    s_.flits_inside += flits;
    const bool last = sender.flits_left == 0;
    if (begins && last && inputs_[n].stage == InputStage::kIdle) {
      fresh_ |= uint64_t{1} << n;
      sender.fresh_flits = static_cast<uint16_t>(flits);
    } else {
      enter(n,
            Train{sender.tag, t_ + kEnterDelay, static_cast<uint16_t>(flits), sender.out,
                  uint32_t{last}},
            begins);
    }
    if (sender.flits_left != 0 || end.ready != 0) send_at(n, sender.free_at);
  }
  /// Input `i` has a new head, or has none.
  NW_HD NW_INLINE void look_at(uint32_t i) {
    const Tick arrival = ends_.arrival_at(i);
    if (arrival <= ends_.now) return;  // as the one before it has
    ends_.set_ready(i, false);
    if (arrival < ends_.window_end) {
      expect_head(i, arrival);
    } else {
      arrival_beyond = min_tick(arrival_beyond, arrival);
    }
  }
  NW_HD NW_INLINE bool take_packet(uint32_t n, CrossbarSender& sender, const SendingEnd& end) {
    if (end.free == 0) {
      const Tick next = ends_.free_parcels(n);
      if (end.free == 0) {
        sender.waits_for_parcel = true;
        if (next < kNever) send_at(n, t_ + static_cast<Cycle>((next - ends_.now) / p_.period));
        return false;
      }
    }
    const ChannelEnds::Begun begun = ends_.take_packet(
        n, [](const Packet&, uint32_t) { return true; }, [&](uint32_t input) { look_at(input); });
    if (begun.flits == 0) return false;
    sender.tag = begun.tag;
    sender.flits_left = begun.flits;
    sender.out = static_cast<uint16_t>(s_.outputs.in(base_)[begun.output].terminal);
    outputs_[sender.out].unconnected += asks_for(begun.flits);
    return true;
  }

  uint64_t fresh_ = 0;  ///< senders with a packet for begin_fresh()
};

using CrossbarHeads = ComingHeads<kInputWords>;

/// A crossbar's events in a window, with the heads `coming`.
/// Returns when it wakes, with kPollBit if that may be sooner: a credit is waited for that is not
/// known yet.
template <class Shape>
NW_HD NW_CALLED uint64_t run(const Shape& shape, const WindowStep& step,
                             const CrossbarHeads& coming) {
  Crossbar<Shape> crossbar(shape, step);
  const Window& window = step.window;
  const uint32_t period = step.p.period;
  const uint64_t end = cycle_at_or_after(window.end, period);
  uint64_t cycle = cycle_at_or_after(window.begin, period);
  crossbar.expect_heads(cycle, coming.inputs);
  crossbar.look_at_stuck(cycle);
  while ((cycle = crossbar.next_event(cycle)) < end) crossbar.step(cycle++);
  Tick wake = cycle >= kNever ? kNever : cycle * period;
  wake = min_tick(wake, min_tick(coming.beyond, crossbar.arrival_beyond));
  if (step.s.stuck == 0) return wake;
  bool unknown = false;
  const Tick until = crossbar.stuck_until(unknown);
  return min_tick(wake, max_tick(until, window.end)) | (unknown ? kPollBit : 0);
}

}  // namespace crossbar_detail

/// Step a crossbar through a window.
///
/// Reads:  heads of all input channels; sends to the output channels.
/// Units:  times in ticks of the machine's base clock, a cycle of the crossbar every `period`
/// ticks. `kSpecialised`: by code for the crossbar's shape; else by code for any, which tests
/// compare it with.
template <bool kSpecialised = true>
NW_HD NW_APART StepResult step_crossbar(const CrossbarParams& p, CrossbarState& s, std::byte* base,
                                        Window window, Horizon& horizon) {
  const Ref<Channel>* const inputs = s.inputs.in(base);
  crossbar_detail::CrossbarHeads coming = find_coming<kInputWords>(
      s.inputs.count, window, [&](size_t i) { return head_arrival(*inputs[i].in(base), base); });
  // Heads that are known to be there came before: they are none of these.
  for (uint32_t w = 0; w < input_words(s); ++w) coming.inputs[w] &= ~s.ready[w];
  const crossbar_detail::WindowStep step{p, s, base, window, horizon};
  const auto run = [&](const auto& shape) {
    return result_of(crossbar_detail::run(shape, step, coming));
  };
  const uint32_t shift = p.router.speedup - 1;
#if defined(__CUDA_ARCH__)
  // The usual shape alone: all of them are more code than is saved.
  using Usual = crossbar_detail::ShapeOf<1, false>;
  if (shift == Usual::rounds_shift && !p.split) return run(Usual{});
  return run(crossbar_detail::AnyShape{shift, p.split});
#else
  // Shapes of two rounds, as constants: without them vector-add on gtx480, whose packets are split,
  // takes 1.8 % more host instructions, kmeans on tom, whose are not, 0.6 % (size small, baseline).
  if constexpr (kSpecialised) {
    using crossbar_detail::ShapeOf;
    if (shift == 1) return p.split ? run(ShapeOf<1, true>{}) : run(ShapeOf<1, false>{});
  }
  return run(crossbar_detail::AnyShape{shift, p.split});
#endif
}

}  // namespace nearwarp::noc
