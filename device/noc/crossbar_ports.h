// A crossbar's ports as a step works with them: who acts when, rings of trains, and credits. What
// acts is in crossbar.h.
#pragma once

#include "device/noc/crossbar_state.h"

namespace nearwarp::noc::crossbar_detail {

NW_HD NW_INLINE bool later(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) > 0; }
NW_HD NW_INLINE uint32_t latest(uint32_t a, uint32_t b) { return later(a, b) ? a : b; }

/// Parameters of a crossbar that its steps ask for again and again.
struct AnyShape {
  /// Log2 of the rounds of a cycle; of the one or two the last one's number.
  uint32_t rounds_shift;
  bool split;  ///< ChannelEndsParams::split
};
static_assert(kMaxSpeedup == 2);
/// The parameters as constants.
template <uint32_t kRoundsShift, bool kSplit>
struct ShapeOf {
  static constexpr uint32_t rounds_shift = kRoundsShift;
  static constexpr bool split = kSplit;
};

/// A crossbar's step through a window.
struct WindowStep {
  const CrossbarParams& p;
  CrossbarState& s;
  std::byte* base;
  Window window;
  Horizon& horizon;
};

/// In one cycle.
template <class Shape>
class Ports {
 public:
  NW_HD NW_INLINE Ports(const Shape& shape, const WindowStep& step)
      : shape_(shape),
        p_(step.p),
        s_(step.s),
        base_(step.base),
        ends_{p_, s_, base_, step.window.end, step.horizon},
        senders_(s_.senders.in(base_)),
        inputs_(s_.in_ports.in(base_)),
        outputs_(s_.out_ports.in(base_)),
        receivers_(s_.receivers.in(base_)),
        events_(s_.events.in(base_)),
        heads_(s_.heads.in(base_)),
        buffers_(s_.buffers.in(base_)),
        held_(s_.held.in(base_)),
        ring_shift_(count_trailing_zeros(p_.ring)),
        ring_mask_(p_.ring - 1) {}

  /// The first cycle from `cycle` on in which something happens; kNever if nothing is known to.
  NW_HD NW_INLINE uint64_t next_event(uint64_t cycle) const {
    uint64_t next = kNever;
    constexpr uint32_t kWords = kEventSlots / 64;
    const uint32_t slot = static_cast<uint32_t>(cycle) % kEventSlots;
    for (uint32_t k = 0; k <= kWords; ++k) {
      uint64_t bits = s_.busy[(slot / 64 + k) % kWords];
      if (k == 0) bits &= ~uint64_t{0} << (slot % 64);
      if (bits == 0) continue;
      const uint32_t at = (slot / 64 + k) % kWords * 64 + count_trailing_zeros(bits);
      next = cycle + (at + kEventSlots - slot) % kEventSlots;
      break;
    }
    return next;
  }

 protected:
  /// The cycle is `cycle` from now on.
  NW_HD NW_INLINE void set_cycle(uint64_t cycle) {
    cycle_ = cycle;
    t_ = static_cast<Cycle>(cycle);
    ends_.now = cycle * p_.period;
  }
  /// Numbers of cycles wrap: what lies in the past is brought up to now before it looks like the
  /// future. `gap`: cycles since the last step; after a long one nothing is under way.
  NW_HD NW_APART void settle(uint64_t gap) {
    const bool all = gap > kEventSlots;
    const auto not_before = [&](Cycle& at, Cycle least) {
      if (all || !later(at, least)) at = least;
    };
    for (uint32_t n = 0; n < p_.senders; ++n) {
      if (all) senders_[n].room.counted = t_ - kCreditCycles;
      count_credits(senders_[n].room);
      not_before(senders_[n].free_at, t_);
      not_before(inputs_[n].idle_from, t_ << shape_.rounds_shift);
    }
    for (uint32_t o = 0; o < p_.receivers; ++o) {
      if (all) outputs_[o].room.counted = t_ - kCreditCycles;
      count_credits(outputs_[o].room);
      not_before(outputs_[o].wire_free, t_ - 1);
      not_before(receivers_[o].free_from, t_);
      if (outputs_[o].owner != kNobody) continue;
      const Round now = t_ << shape_.rounds_shift;
      not_before(outputs_[o].free_from, now);
      if (outputs_[o].free_from == now) s_.unowned |= uint64_t{1} << o;
    }
  }

  // --- events ---

  NW_HD NW_INLINE CrossbarEvents& events_at(Cycle t) {
    NW_ASSERT(t - t_ < kEventSlots);
    return events_of(t);
  }
  /// Inputs whose head is to be looked at in cycle `t`: words of bits.
  NW_HD NW_INLINE uint64_t* heads_at(Cycle t) {
    events_at(t);
    return heads_ + t % kEventSlots * input_words(s_);
  }
  /// An event of a cycle of which only the lower bits are known; of use if there is an event.
  NW_HD NW_INLINE CrossbarEvents& events_of(Cycle t, bool event = true) {
    const uint32_t slot = t % kEventSlots;
    s_.busy[slot / 64] |= uint64_t{event} << (slot % 64);
    return events_[slot];
  }
  /// The cycle of a round near now: rounds have as many bits as cycles, and wrap more often.
  NW_HD NW_INLINE Cycle cycle_of(Round r) const {
    return t_ + static_cast<Cycle>(static_cast<int32_t>(r - (t_ << shape_.rounds_shift)) >>
                                   shape_.rounds_shift);
  }
  NW_HD NW_INLINE void act_at(uint32_t in, Round r) {
    NW_ASSERT(cycle_of(r) - t_ < kEventSlots);
    events_of(r >> shape_.rounds_shift).inputs[r & shape_.rounds_shift] |= uint64_t{1} << in;
  }
  /// Note that output `o` becomes free in round `r`, if `wanted`. (Without a branch, which could
  /// not be predicted.)
  NW_HD NW_INLINE void free_at(uint32_t o, Round r, bool wanted) {
    NW_ASSERT(!wanted || cycle_of(r) - t_ < kEventSlots);
    CrossbarEvents& events = events_of(r >> shape_.rounds_shift, wanted);
    events.freed[r & shape_.rounds_shift] |= uint64_t{wanted} << o;
  }
  NW_HD NW_INLINE void receive_at(uint32_t o, Cycle t) {
    events_at(t).receivers |= uint64_t{1} << o;
  }
  NW_HD NW_INLINE void send_at(uint32_t n, Cycle t) { events_at(t).senders |= uint64_t{1} << n; }

  // --- rings ---

  template <class T>
  NW_HD NW_INLINE T& front(const TrainQueue& q, T* ring) const {
    return ring[q.head];
  }
  /// The last one; there is one.
  template <class T>
  NW_HD NW_INLINE T& back(const TrainQueue& q, T* ring) const {
    return ring[(uint32_t{q.head} + q.count - 1) & ring_mask_];
  }
  template <class T>
  NW_HD NW_INLINE void push(TrainQueue& q, T* ring, const T& item) const {
    NW_ASSERT(q.count < p_.ring);
    ring[(uint32_t{q.head} + q.count) & ring_mask_] = item;
    q.count = static_cast<uint16_t>(q.count + 1);
  }
  /// An empty ring begins anew, so that ports with little traffic touch few cache lines.
  NW_HD NW_INLINE void pop(TrainQueue& q) const {
    q.count = static_cast<uint16_t>(q.count - 1);
    q.head = static_cast<uint16_t>(q.count == 0 ? 0 : (q.head + 1u) & ring_mask_);
  }
  NW_HD NW_INLINE Train* buffer(uint32_t in) const { return buffers_ + (in << ring_shift_); }
  NW_HD NW_INLINE Train* held(uint32_t o) const { return held_ + (o << ring_shift_); }

  // --- credits ---

  /// Count the credits that have come by now: who has room enough need not.
  NW_HD NW_INLINE void count_credits(Room& room) const {
    const uint32_t passed = t_ - room.counted;
    room.counted = t_;
    if (passed >= kCreditCycles) {
      room.flits += population_count(room.coming) + population_count(room.second);
      room.coming = room.second = 0;
      return;
    }
    const uint64_t come = (uint64_t{1} << passed) - 1;
    room.flits += population_count(room.coming & come) + population_count(room.second & come);
    room.coming >>= passed;
    room.second >>= passed;
  }
  /// When the next credit comes, behind count_credits(). There is one.
  NW_HD NW_INLINE Cycle next_credit(const Room& room) const {
    return room.counted + 1 + count_trailing_zeros(room.coming);
  }
  /// The place of cycle `at`, which is yet to come, and of `more` behind it, among those of
  /// credits.
  NW_HD NW_INLINE uint32_t place_of(Room& room, Cycle at, uint32_t more) const {
    if (at - room.counted + more > kCreditCycles) count_credits(room);
    NW_ASSERT(later(at, t_) && at - room.counted + more <= kCreditCycles);
    return at - room.counted - 1;
  }
  /// Gives credits to the sender of a train that begins to win the switch in round `round`: the
  /// k-th leaves in the round max(round + k, first round of cycle first + k).
  NW_HD NW_INLINE void give_back(uint32_t n, Round round, Cycle first, uint32_t flits) {
    CrossbarSender& sender = senders_[n];
    Room& room = sender.room;
    const uint32_t at = place_of(room, latest(cycle_of(round), first) + kCreditDelay, flits - 1);
    if (shape_.rounds_shift == 0) {
      room.coming |= low_bits(flits) << at;
    } else {
      give_by_rounds(room, at, round, first, flits);
    }
    if (!sender.waits_for_room) return;
    sender.waits_for_room = false;
    send_at(n, cycle_of(round) + kCreditDelay);
  }
  /// Gives credits with two rounds per cycle; the first comes in the cycle at place `at`. Flits
  /// that have waited win in successive rounds until none is behind, the others in the cycle that
  /// they come in.
  NW_HD NW_INLINE static void give_by_rounds(Room& room, uint32_t at, Round round, Cycle first,
                                             uint32_t flits) {
    if (flits == 1) {
      const uint64_t bit = uint64_t{1} << at;
      room.second |= room.coming & bit;
      room.coming |= bit;
      return;
    }
    const uint32_t behind = later(round, first << 1) ? round - (first << 1) : 0;
    const uint32_t waited = flits < behind ? flits : behind;
    const uint32_t odd = round & uint32_t{waited != 0};  // then the first of them wins by itself
    const uint32_t cycles = flits - waited + ((waited + odd + 1) >> 1);
    const uint64_t in_pairs = low_bits((waited - odd) >> 1) << (at + odd);
    const uint64_t all = low_bits(cycles) << at;
    room.second |= (room.coming & all) | in_pairs;
    room.coming |= all;
  }
  /// Gives an output credits for flits that its receiver takes one per cycle from `first` on.
  NW_HD NW_INLINE void release(uint32_t o, Cycle first, uint32_t flits) {
    CrossbarOutput& out = outputs_[o];
    const uint32_t at = place_of(out.room, first + kCreditDelay, flits - 1);
    out.room.coming |= low_bits(flits) << at;
    if (!out.owner_waits) return;
    out.owner_waits = false;
    act_at(out.owner, (first + kCreditDelay) << shape_.rounds_shift);
  }

  Shape shape_;
  const CrossbarParams& p_;
  CrossbarState& s_;
  std::byte* base_;
  ChannelEnds ends_;
  CrossbarSender* senders_;
  CrossbarInput* inputs_;
  CrossbarOutput* outputs_;
  CrossbarReceiver* receivers_;
  CrossbarEvents* events_;
  uint64_t* heads_;
  Train *buffers_, *held_;
  uint32_t ring_shift_, ring_mask_;
  uint64_t cycle_ = 0;
  Cycle t_ = 0;
};

}  // namespace nearwarp::noc::crossbar_detail
