// The router of router.h where all of a router's input virtual channels are bits of one word.
//
// For plain networks (is_plain() in router.h) of one virtual network whose routers have at most 64
// input virtual channels, as meshes of published machines have. What takes part in an allocation
// then is a few operations on words: heads at an output are its members without a virtual channel,
// flits for the switch are those that are there, have a channel, and do not lack a credit. No
// request is registered or taken back. Results are those of router.h to the bit.
#pragma once

#include "device/noc/pipeline.h"
#include "device/noc/places.h"

namespace nearwarp::noc {

/// Is a network stepped by WordRouter? Of those without speed-ups and waiting for tail credits.
NW_HD NW_INLINE bool fits_a_word(const NetworkParams& p) {
  return p.vnets == 1 && p.input_shift + p.vc_shift <= 6;
}

/// A router that has something to do, and where it says so.
struct DueRouter {
  uint64_t* flags;  ///< by slot, of routers that share a word
  uint32_t router;
  uint32_t number;  ///< among these: its bit
};

namespace router_detail {

/// log2 of ports, virtual channels, flits of a buffer and time slots of a usual network
/// (is_usual() in router.h).
inline constexpr uint32_t kUsualShift = 3;

/// kUsual: of a usual network, whose addresses are made without asking for its strides.
///
/// It is made for a visit of some cycles one after the other, and has the router's words meanwhile.
template <bool kUsual>
class WordRouter {
 public:
  /// `head_delay`: cycles from a head's beginning to its first request.
  NW_HD NW_INLINE WordRouter(const NetworkView& v, const DueRouter& due, uint32_t head_delay)
      : v_(v),
        r_(due.router),
        head_delay_(head_delay),
        block_(v.units + size_t{r_} * layout().bytes),
        ports_(v.out_ports + (size_t{r_} << output_shift())),
        due_(due.flags),
        number_(due.number),
        w_(work()) {}

  /// Step it through the cycles [begin, end), two at most.
  NW_HD NW_INLINE void step(Cycle begin, Cycle end) {
    uint64_t* const first = coming_in(begin);
    const uint64_t waiting = w_.stalled | w_.va_outputs;
    if ((waiting | ((end - begin) ^ 2)) == 0) {
      uint64_t* const second = coming_in(begin + 1);
      const uint64_t all = first[0] | first[1] | second[0] | second[1] | (w_.present & w_.open);
      if (!has_several(all)) return step_alone(count_trailing_zeros(all), first, second, begin);
    }
    for (Cycle t = begin; t != end; ++t) step_all(t);
    if ((w_.present & w_.open) != 0 || w_.va_outputs != 0) mark_due(end);
  }

 private:
  /// All through cycle `t`.
  NW_HD NW_INLINE void step_all(Cycle t) {
    t_ = t;
    uint64_t* const coming = coming_in(t);
    const uint64_t flits = coming[0];
    uint64_t heads = coming[1];
    if ((flits | heads) != 0) {
      coming[0] = coming[1] = 0;
      heads |= take_flits(flits);
    }
    if (w_.stalled != 0) take_credits();
    // Both allocators see the state of the cycle's beginning: the switch is decided first, and
    // tails give their channels back last.
    uint64_t moving = w_.present & w_.open;
    if (has_several(moving)) moving = allocate_switch(moving);
    if ((heads | w_.va_outputs) != 0) allocate_vcs(heads);
    for (; moving != 0; moving &= moving - 1) traverse(count_trailing_zeros(moving));
  }
  /// A virtual channel that is alone in its router.
  struct Alone {
    uint32_t vc;
    InputVc& in;
    uint64_t mine;
    uint32_t count;
    bool open;
    OutputPort* to;
    OutputVc* o;
  };
  /// Through two cycles in which only virtual channel `vc` has something to do; what comes in them
  /// is `first` and `second`.
  NW_HD NW_INLINE void step_alone(uint32_t vc, uint64_t* first, uint64_t* second, Cycle begin) {
    InputVc& in = input(vc);
    const uint64_t mine = bit(vc);
    Alone a{vc, in, mine, in.count, (w_.open & mine) != 0, &ports_[in.out], &output(in.to)};
    t_ = begin;
    step_alone(a, first);
    // A channel has become free that others wait for, or a credit is lacked that may come at once.
    const bool joined = (w_.stalled | w_.va_outputs) != 0;
    if (!joined) {
      t_ = begin + 1;
      step_alone(a, second);
    }
    in.count = static_cast<uint16_t>(a.count);
    w_.present = a.count != 0 ? w_.present | mine : w_.present & ~mine;
    w_.open = a.open ? w_.open | mine : w_.open & ~mine;
    if (joined) step_all(begin + 1);
    if ((w_.present & w_.open) != 0 || w_.va_outputs != 0) mark_due(begin + 2);
  }
  NW_HD NW_INLINE void step_alone(Alone& a, uint64_t* coming) {
    bool asks = coming[1] != 0;
    coming[1] = 0;
    if (coming[0] != 0) {
      coming[0] = 0;
      if (a.count == 0 && !a.open) {
        if (head_delay_ == 0) {
          asks = true;
        } else {
          begin_later(a.mine, t_ + head_delay_);
        }
      }
      a.count += 1;
    }
    if (a.open) {
      if (a.count == 0) return;
      a.count -= 1;
      const uint32_t flags = move(a.vc, a.in, *a.to, *a.o);
      if ((flags & kTail) != 0) {
        a.open = false;
        end_packet(a.in, a.mine, *a.to);
        if (a.count != 0) begin_later(a.mine, t_ + 1 + head_delay_);
      } else if (!is_free(v_.place(a.o->place), t_)) {
        a.open = false;
        stall(a.mine, a.o->place);
      }
    } else if (asks) {
      a.to = &route(a.in, a.mine);
      if (a.to->free == 0) return;
      a.open = give(a.vc, a.in, a.mine, *a.to, a.to->free);
      a.o = &output(a.in.to);
    }
  }
  static constexpr uint32_t kShift = kUsualShift;
  NW_HD NW_INLINE uint32_t vc_shift() const { return kUsual ? kShift : v_.p.vc_shift; }
  NW_HD NW_INLINE uint32_t input_shift() const { return kUsual ? kShift : v_.p.input_shift; }
  NW_HD NW_INLINE uint32_t output_shift() const { return kUsual ? kShift : v_.p.output_shift; }
  NW_HD NW_INLINE uint32_t slot_mask() const { return kUsual ? (1u << kShift) - 1 : v_.slot_mask; }
  NW_HD NW_INLINE BlockLayout layout() const {
    constexpr uint32_t kSize = 1u << kShift;
    constexpr BlockLayout kLayout = block_layout(kSize * 2, kSize, kSize, kSize, kSize);
    return kUsual ? kLayout : v_.layout;
  }
  NW_HD NW_INLINE static uint64_t bit(uint32_t n) { return uint64_t{1} << n; }
  NW_HD NW_INLINE uint32_t behind(uint32_t place) const {
    if (!kUsual) return next_place(v_, place);
    constexpr uint32_t kRing = sizeof(Flit) << kShift;
    const uint32_t next = place + sizeof(Flit);
    return next % kRing == 0 ? next - kRing : next;
  }
  // Parts of the router's block.
  NW_HD NW_INLINE VcWords& work() const {
    return reinterpret_cast<RouterWork*>(block_ + layout().work)->vcs;
  }
  NW_HD NW_INLINE InputVc& input(uint32_t vc) const {
    return reinterpret_cast<InputVc*>(block_ + layout().inputs)[vc];
  }
  NW_HD NW_INLINE OutputVc& output(uint32_t vc) const {
    return reinterpret_cast<OutputVc*>(block_ + layout().outputs)[vc];
  }
  NW_HD NW_INLINE SwitchLast& last(uint32_t port) const {
    return reinterpret_cast<SwitchLast*>(block_ + layout().lasts)[port];
  }
  /// For cycle `t`: virtual channels that a flit reaches, and those whose head asks for a channel.
  NW_HD NW_INLINE uint64_t* coming_in(Cycle t) const {
    return reinterpret_cast<uint64_t*>(block_) + (t & slot_mask()) * 2;
  }
  /// Notes that the router has something to do in cycle `t`.
  NW_HD NW_INLINE void mark_due(Cycle t) const { add_bits(due_ + (t & slot_mask()), bit(number_)); }
  /// Input virtual channels whose packet has an output's.
  NW_HD NW_INLINE uint64_t active() const { return w_.open | w_.stalled; }

  NW_HD NW_INLINE void take_credits() {
    for (uint64_t left = w_.stalled; left != 0; left &= left - 1) {
      const uint32_t vc = count_trailing_zeros(left);
      if (!has_credit(v_, output(input(vc).to), t_)) continue;
      w_.stalled &= ~bit(vc);
      w_.open |= bit(vc);
    }
  }

  /// Count flits that arrive. Returns the heads that ask for a channel at once.
  NW_HD NW_INLINE uint64_t take_flits(uint64_t flits) {
    for (uint64_t left = flits; left != 0; left &= left - 1) {
      InputVc& in = input(count_trailing_zeros(left));
      NW_ASSERT(in.count < v_.p.depth);
      in.count = static_cast<uint16_t>(in.count + 1);
    }
    const uint64_t heads = flits & ~(w_.present | active());
    w_.present |= flits;
    if (head_delay_ == 0 || heads == 0) return heads;
    begin_later(heads, t_ + head_delay_);
    return 0;
  }
  /// Heads that ask for a channel from cycle `due` on.
  NW_HD NW_INLINE void begin_later(uint64_t heads, Cycle due) const {
    coming_in(due)[1] |= heads;
    mark_due(due);
  }

  /// Connections of a cycle between several flits: the input virtual channels that win.
  NW_HD NW_INLINE uint64_t allocate_switch(uint64_t ready) const {
    uint64_t ports = 0;
    for (uint64_t left = ready; left != 0;) {
      const uint32_t vc = count_trailing_zeros(left);
      const uint64_t mine = left & ports_[input(vc).out].members, port = bit(vc >> vc_shift());
      if (((mine & (mine - 1)) | (ports & port)) != 0) return arbitrate(ready);
      ports |= port;
      left &= ~mine;
    }
    return ready;
  }
  /// Allocates where several want an output, or an input port has several that could win.
  NW_HD NW_INLINE uint64_t arbitrate(uint64_t ready) const {
    const uint32_t numbers = low_bits32(vc_shift());
    uint64_t grants[kMaxPorts];
    uint64_t matched = 0;
    for (uint64_t left = ready; left != 0;) {
      const uint32_t out = input(count_trailing_zeros(left)).out;
      const uint64_t mine = left & ports_[out].members;
      left &= ~mine;
      const uint32_t in = pick_from(mine, (ports_[out].sa_last | numbers) + 1) >> vc_shift();
      const bool more = (matched >> in & 1) != 0;
      grants[in] = (more ? grants[in] : 0) | bit(out);
      matched |= bit(in);
    }
    uint64_t winners = 0;
    for (; matched != 0; matched &= matched - 1) {
      const uint32_t in = count_trailing_zeros(matched), first = in << vc_shift();
      const SwitchLast before = last(in);
      const uint32_t out = pick_from(grants[in], before.port + 1u);
      const uint64_t vcs = (ready & ports_[out].members) >> first & low_bits(1u << vc_shift());
      winners |= bit(first + pick_from(vcs, (before.vc & numbers) + 1));
    }
    return winners;
  }

  /// Allocates the free channels to heads that have asked for one, with new ones `heads`.
  NW_HD NW_INLINE void allocate_vcs(uint64_t heads) {
    uint64_t outs = w_.va_outputs, more = 0;
    for (; heads != 0; heads &= heads - 1) {
      const uint32_t vc = count_trailing_zeros(heads);
      const OutputPort& to = route(input(vc), bit(vc));
      outs |= uint64_t{to.free != 0} << input(vc).out;
    }
    for (; outs != 0; outs &= outs - 1) {
      const uint32_t out = count_trailing_zeros(outs);
      OutputPort& port = ports_[out];
      const uint64_t wanting = port.members & ~active();
      if (!has_several(wanting)) {  // alone: everything is granted
        give(count_trailing_zeros(wanting), port, port.free);
        continue;
      }
      grant(out, wanting);
      if (port.free != 0 && (port.members & ~active()) != 0) more |= bit(out);
    }
    w_.va_outputs = more;
  }
  /// The head of `in` asks for a channel of the output port that it has to leave by.
  NW_HD NW_INLINE OutputPort& route(InputVc& in, uint64_t mine) const {
    const uint32_t out = v_.routes[size_t{r_} * v_.p.terminals + v_.place(in.front).destination];
    in.out = static_cast<uint8_t>(out);
    ports_[out].members |= mine;
    return ports_[out];
  }
  /// Grant and accept between several heads and the output's free channels.
  NW_HD NW_INLINE void grant(uint32_t out, uint64_t wanting) {
    uint8_t winners[kMaxVcs];
    uint32_t channels[kMaxVcs];
    uint32_t n = 0;
    for (uint32_t b = ports_[out].free; b != 0; b &= b - 1) {
      const uint32_t k = count_trailing_zeros(b);
      const uint32_t vc = pick_from(wanting, output((out << vc_shift()) + k).last + 1u);
      uint32_t i = 0;
      while (i < n && winners[i] != vc) ++i;
      channels[i] = (i < n ? channels[i] : 0) | 1u << k;
      winners[i] = static_cast<uint8_t>(vc);
      n += i == n ? 1 : 0;
    }
    for (uint32_t i = 0; i < n; ++i) give(winners[i], ports_[out], channels[i]);
  }
  NW_HD NW_INLINE void give(uint32_t vc, OutputPort& to, uint32_t granted) {
    if (give(vc, input(vc), bit(vc), to, granted)) w_.open |= bit(vc);
  }
  /// The head of `vc` takes one of the output's virtual channels `granted`. Returns whether that
  /// has a credit.
  NW_HD NW_INLINE bool give(uint32_t vc, InputVc& in, uint64_t mine, OutputPort& to,
                            uint32_t granted) {
    const uint32_t before = in.to, first = uint32_t{in.out} << vc_shift();  // none: of no port
    // Behind the one that it had before, if that was one of this port's.
    const uint32_t behind = before - first, vcs = low_bits32(vc_shift());
    const uint32_t taken = pick_from(granted, behind <= vcs ? behind + 1 : 0);
    in.out_vc = static_cast<uint8_t>(taken);
    in.to = static_cast<uint16_t>(first + taken);
    in.far_bit = static_cast<uint8_t>(to.flits.first + taken);
    OutputVc& o = output(first + taken);
    o.last = static_cast<uint16_t>(vc);
    to.free &= ~(1u << taken);
    if (is_free(v_.place(o.place), t_)) return true;
    stall(mine, o.place);
    return false;
  }

  /// Move the flit at the front of `vc` into the far buffer. Returns its flags.
  NW_HD NW_INLINE uint32_t move(uint32_t vc, InputVc& in, OutputPort& to, OutputVc& o) const {
    Flit& from = v_.place(in.front);
    Flit& far = v_.place(o.place);
    NW_ASSERT(is_free(far, t_));
    const uint32_t flags = from.flags;
    far = from;
    far.hops = static_cast<uint8_t>(far.hops + 1);
    from.tag = t_ + in.credit_delay;
    from.flags = 0;
    in.front = behind(in.front);
    o.place = behind(o.place);
    if ((flags & kAwaited) != 0) {
      far.flags = static_cast<uint8_t>(flags & ~kAwaited);
      wake_sender(v_, (r_ << input_shift()) + (vc >> vc_shift()), t_);
    }
    const uint32_t slot = (t_ + to.flits.delay) & slot_mask();
    add_bits(v_.word(to.flits.word + slot * 2), bit(in.far_bit));
    add_bits(v_.word(to.flits.due + slot), bit(to.flits.bit));
    to.flits_sent += 1;
    to.sa_last = vc;
    last(vc >> vc_shift()) = {in.out, static_cast<uint8_t>(vc)};
    return flags;
  }
  /// The packet of virtual channel `mine` lacks a credit for a place.
  NW_HD NW_INLINE void stall(uint64_t mine, uint32_t place) {
    w_.stalled |= mine;
    await_apart(v_, r_, v_.place(place));
  }
  /// A tail has gone.
  NW_HD NW_INLINE void end_packet(const InputVc& in, uint64_t mine, OutputPort& to) {
    to.members &= ~mine;
    to.free |= 1u << in.out_vc;
    if ((to.members & ~active()) != 0) w_.va_outputs |= bit(in.out);
  }
  /// Move the flit at the front of `vc`, of several.
  NW_HD NW_INLINE void traverse(uint32_t vc) {
    InputVc& in = input(vc);
    const uint64_t mine = bit(vc);
    OutputPort& to = ports_[in.out];
    OutputVc& o = output(in.to);
    const uint32_t flags = move(vc, in, to, o);
    in.count = static_cast<uint16_t>(in.count - 1);
    if (in.count == 0) w_.present &= ~mine;
    if ((flags & kTail) != 0) {
      w_.open &= ~mine;
      end_packet(in, mine, to);
      if (in.count != 0) begin_later(mine, t_ + 1 + head_delay_);
    } else if (!is_free(v_.place(o.place), t_)) {
      w_.open &= ~mine;
      stall(mine, o.place);
    }
  }

  const NetworkView& v_;
  uint32_t r_;
  uint32_t head_delay_;
  Cycle t_ = 0;
  std::byte* block_;
  OutputPort* ports_;
  uint64_t* due_;
  uint32_t number_;
  VcWords& w_;
};

}  // namespace router_detail
}  // namespace nearwarp::noc
