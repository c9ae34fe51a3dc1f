// Terminals that make and swallow synthetic traffic.
//
// A source decides in every cycle, by its own random numbers, whether a packet is created
// (Bernoulli process); packets wait in an unlimited queue at the source. The queue needs no memory:
// the source draws for a cycle only when it has sent what was created before, and so is behind the
// network's time by what waits. One flit per cycle and terminal enters the network; virtual
// networks take turns. A head takes the first virtual channel with room, in rotating order.
//
// A sink takes one flit per cycle and gives its room back at once.
//
// Request-reply traffic: virtual network 0 carries requests, 1 their replies. A request's tail is
// taken only when the terminal has room to remember the reply that it owes; without it, requests
// stay in the sink's buffers, whose credits are missed up the way. Replies are always taken, so
// they drain whatever requests do, as long as they have virtual channels of their own.
#pragma once

#include "tests/noc/flit_by_flit/network_state.h"

namespace nearwarp::flit_by_flit {

/// A stretch of the destination table, from which a source chooses evenly.
struct DestinationSet {
  uint32_t first = 0, count = 0;
};

inline constexpr uint32_t kOwedReplies = 16;  ///< replies that a terminal remembers to send

/// A reply that a terminal owes.
struct OwedReply {
  Cycle created = 0;          ///< when the request's tail arrived
  Cycle request_created = 0;  ///< when the request was created
  uint16_t destination = 0;
  uint16_t reserved = 0;
};

/// Replies of a terminal under request-reply traffic.
struct Responder {
  uint32_t head = 0, count = 0;  ///< ring of the replies that it owes
  uint32_t waiting = 0;          ///< virtual channels with requests that have not been taken
  uint32_t next = 0;             ///< virtual channel that is looked at first
};

/// One virtual network's packets at one terminal.
struct Source {
  uint64_t random = 0;         ///< state of splitmix64
  uint64_t threshold = 0;      ///< a packet per cycle with probability threshold / 2^32; 0: never
  uint64_t hot_threshold = 0;  ///< likewise, that its destination is one of `hot`
  DestinationSet others, hot;
  Cycle next_draw = 0;      ///< the first cycle that has not been decided yet
  Cycle created = 0;        ///< when the packet being sent was created
  Cycle entered = 0;        ///< of a reply: when its request was created
  uint32_t flits_left = 0;  ///< flits of that packet not yet sent; 0: there is no packet
  uint16_t destination = 0;
  uint8_t vc = 0;        ///< virtual channel of the packet, once its head has been sent
  uint8_t last_vc = 0;   ///< virtual channel of the packet before
  bool waiting = false;  ///< the head has not been sent yet
  uint64_t created_packets = 0, sent_flits = 0;
  uint64_t measured_packets = 0;  ///< created packets that the measurement counts
};

struct Sink {
  uint64_t flits = 0, packets = 0;
  uint64_t measured = 0;         ///< packets of the measurement that have come
  uint64_t latency = 0;          ///< sum of cycles from creation to the tail's arrival
  uint64_t network_latency = 0;  ///< sum of cycles from the head's entry (of replies: from their
                                 ///< request's creation, so that it is the round trip)
  uint64_t hops = 0;             ///< routers that their tails passed
  Cycle max_latency = 0;
};

struct TrafficParams {
  uint32_t packet_flits = 1;
  uint32_t reply_flits = 0;  ///< request-reply traffic: flits of a reply; 0: one way
  Cycle measure_begin = 0, measure_end = 0;  ///< packets created in between are measured
};

struct TrafficState {
  TrafficParams params;
  Ref<Source> sources;         ///< [terminal * vnets + vnet]
  Ref<uint8_t> last_vnet;      ///< [terminal]: the last to send
  Ref<uint16_t> credits;       ///< [terminal * vcs + vc]: room at the network's entrance
  Ref<Sink> sinks;             ///< [terminal * vnets + vnet]
  Ref<uint16_t> destinations;  ///< the table of destination sets
  // State of request-reply traffic; empty otherwise.
  Ref<Responder> responders;    ///< [terminal]
  Ref<OwedReply> owed;          ///< [terminal * kOwedReplies + position]
  Ref<Flit> held;               ///< [(terminal * vcs + vc) * depth + position]: requests not taken
  Ref<StageQueue> held_queues;  ///< [terminal * vcs + vc]
};

NW_HD NW_INLINE uint64_t next_random(uint64_t& state) {  // splitmix64
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/// The synthetic terminals of a network; see NetworkStepper.
class SyntheticTerminals {
 public:
  NW_HD SyntheticTerminals(const TrafficState& s, std::byte* base)
      : params_(s.params),
        sources_(s.sources.in(base)),
        last_vnet_(s.last_vnet.in(base)),
        credits_(s.credits.in(base)),
        sinks_(s.sinks.in(base)),
        destinations_(s.destinations.in(base)),
        responders_(s.responders.in(base)),
        owed_(s.owed.in(base)),
        held_(s.held.in(base)),
        held_queues_(s.held_queues.in(base)) {}

  /// Terminal `n` in cycle `t`: take what arrives, make packets, send a flit. Apart, so that what
  /// this object holds is in no registers while routers are stepped.
  NW_HD NW_APART void step(const NetworkView& v, uint32_t n, Cycle t) const {
    receive(v, n, t);
    step_source(v, n, t);
  }

 private:
  NW_HD NW_INLINE bool one_way() const { return params_.reply_flits == 0; }

  NW_HD NW_INLINE void receive(const NetworkView& v, uint32_t n, Cycle t) const {
    bool took = false;
    take_arrivals(
        v, n, t, [&](uint32_t vc) { credits_[n * v.p.vcs + vc] += 1; },
        [&](const Flit& flit) {
          took = one_way() || flit.vnet != 0 || take_request(v, n, flit, t);
          if (took) finish(v, n, flit, t);
        });
    if (!took && !one_way() && responders_[n].waiting != 0) take_held(v, n, t);
  }
  NW_HD NW_INLINE void finish(const NetworkView& v, uint32_t n, const Flit& flit, Cycle t) const {
    swallow(sinks_[n * v.p.vnets + flit.vnet], flit, t);
    release(v, n, flit.vc, t);
  }

  /// A flit of a request that has just come: false if it has to wait.
  NW_HD NW_INLINE bool take_request(const NetworkView& v, uint32_t n, const Flit& flit,
                                    Cycle t) const {
    Responder& r = responders_[n];
    if ((r.waiting >> flit.vc & 1) == 0 && owe_reply(v, n, flit, t)) return true;
    const uint32_t vc = n * v.p.vcs + flit.vc;
    StageQueue& q = held_queues_[vc];
    held_[vc * v.p.depth + (uint32_t{q.head} + q.count) % v.p.depth] = flit;
    q.count = static_cast<uint16_t>(q.count + 1);
    r.waiting |= 1u << flit.vc;
    return false;
  }
  /// Take one of the flits that had to wait.
  NW_HD NW_INLINE void take_held(const NetworkView& v, uint32_t n, Cycle t) const {
    Responder& r = responders_[n];
    for (uint32_t left = r.waiting; left != 0;) {
      const uint32_t number = pick_from(left, r.next), vc = n * v.p.vcs + number;
      left &= ~(1u << number);
      StageQueue& q = held_queues_[vc];
      const Flit flit = held_[vc * v.p.depth + q.head];
      if (!owe_reply(v, n, flit, t)) continue;
      q.head = static_cast<uint16_t>((q.head + 1u) % v.p.depth);
      q.count = static_cast<uint16_t>(q.count - 1);
      if (q.count == 0) r.waiting &= ~(1u << number);
      r.next = number + 1;
      finish(v, n, flit, t);
      return;
    }
  }
  /// A request's tail brings a reply to owe; false if there is no room to remember it.
  NW_HD NW_INLINE bool owe_reply(const NetworkView& v, uint32_t n, const Flit& flit,
                                 Cycle t) const {
    if ((flit.flags & kTail) == 0) return true;
    Responder& r = responders_[n];
    if (r.count == kOwedReplies) return false;
    owed_[n * kOwedReplies + (r.head + r.count) % kOwedReplies] = {t, flit.tag, flit.source, 0};
    r.count += 1;
    Source& replies = sources_[n * v.p.vnets + 1];
    replies.created_packets += 1;
    replies.measured_packets += is_measured(flit.tag) ? 1 : 0;
    return true;
  }
  /// Begin with the next reply that is owed.
  NW_HD NW_INLINE void draw_reply(uint32_t n, Source& s) const {
    Responder& r = responders_[n];
    if (r.count == 0) return;
    const OwedReply& reply = owed_[n * kOwedReplies + r.head];
    s.created = reply.created;
    s.entered = reply.request_created;
    s.destination = reply.destination;
    s.flits_left = params_.reply_flits;
    s.waiting = true;
    r.head = (r.head + 1) % kOwedReplies;
    r.count -= 1;
  }

  NW_HD NW_INLINE bool is_measured(Cycle created) const {
    return created - params_.measure_begin < params_.measure_end - params_.measure_begin;
  }

  NW_HD NW_INLINE void swallow(Sink& sink, const Flit& flit, Cycle t) const {
    sink.flits += 1;
    if ((flit.flags & kTail) == 0) return;
    sink.packets += 1;
    // A reply belongs to the measurement that its request belongs to.
    if (!is_measured(one_way() || flit.vnet == 0 ? flit.tag : flit.entered)) return;
    const Cycle latency = t - flit.tag;
    sink.measured += 1;
    sink.latency += latency;
    sink.network_latency += t - flit.entered;
    sink.hops += flit.hops;
    sink.max_latency = latency > sink.max_latency ? latency : sink.max_latency;
  }

  /// Decide cycles up to `t` until a packet is created.
  NW_HD NW_INLINE void draw(Source& s, Cycle t) const {
    while (static_cast<int32_t>(t - s.next_draw) >= 0) {
      const Cycle at = s.next_draw++;
      if (next_random(s.random) >> 32 >= s.threshold) continue;
      s.created = at;
      s.flits_left = params_.packet_flits;
      s.waiting = true;
      const bool hot = s.hot_threshold != 0 && next_random(s.random) >> 32 < s.hot_threshold;
      const DestinationSet& set = hot ? s.hot : s.others;
      s.destination = destinations_[set.first + ((next_random(s.random) >> 32) * set.count >> 32)];
      s.created_packets += 1;
      s.measured_packets += is_measured(at) ? 1 : 0;
      return;
    }
  }

  /// A virtual channel for the packet's head; false if all are full.
  NW_HD NW_INLINE bool choose_vc(const NetworkView& v, uint32_t n, uint32_t vnet, Source& s) const {
    const uint32_t first = vnet * v.vcs_per_vnet;
    uint32_t k = s.last_vc;
    for (uint32_t i = 0; i < v.vcs_per_vnet; ++i) {
      k = k + 1 == v.vcs_per_vnet ? 0 : k + 1;
      if (!may_begin(v.p, credits_[n * v.p.vcs + first + k])) continue;
      s.vc = static_cast<uint8_t>(first + k);
      s.last_vc = static_cast<uint8_t>(k);
      return true;
    }
    return false;
  }

  /// Send the next flit of a packet if there is room.
  NW_HD NW_INLINE bool send(const NetworkView& v, uint32_t n, uint32_t vnet, Source& s,
                            Cycle t) const {
    if (s.waiting) {
      if (!choose_vc(v, n, vnet, s)) return false;
      if (one_way() || vnet == 0) s.entered = t;
    } else if (credits_[n * v.p.vcs + s.vc] == 0) {
      return false;
    }
    credits_[n * v.p.vcs + s.vc] -= 1;
    Flit flit;
    flit.tag = s.created;
    flit.entered = s.entered;
    flit.source = static_cast<uint16_t>(n);
    flit.destination = s.destination;
    flit.flags = static_cast<uint8_t>((s.waiting ? kHead : 0) | (s.flits_left == 1 ? kTail : 0));
    flit.vc = s.vc;
    flit.vnet = static_cast<uint8_t>(vnet);
    inject(v, n, flit, t);
    s.waiting = false;
    s.flits_left -= 1;
    s.sent_flits += 1;
    return true;
  }

  NW_HD NW_INLINE void step_source(const NetworkView& v, uint32_t n, Cycle t) const {
    const uint32_t vnets = v.p.vnets;
    for (uint32_t i = 0; i < vnets; ++i) {
      Source& s = sources_[n * vnets + i];
      if (s.threshold != 0 && s.flits_left == 0) draw(s, t);
    }
    if (!one_way() && sources_[n * vnets + 1].flits_left == 0)
      draw_reply(n, sources_[n * vnets + 1]);
    uint32_t vnet = last_vnet_[n];
    for (uint32_t i = 0; i < vnets; ++i) {
      vnet = vnet + 1 >= vnets ? 0 : vnet + 1;
      Source& s = sources_[n * vnets + vnet];
      if (s.flits_left == 0 || !send(v, n, vnet, s, t)) continue;
      last_vnet_[n] = static_cast<uint8_t>(vnet);
      return;
    }
  }

  TrafficParams params_;
  Source* sources_;
  uint8_t* last_vnet_;
  uint16_t* credits_;
  Sink* sinks_;
  const uint16_t* destinations_;
  Responder* responders_;
  OwedReply* owed_;
  Flit* held_;
  StageQueue* held_queues_;
};

}  // namespace nearwarp::flit_by_flit
