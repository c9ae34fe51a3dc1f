// Terminals that make and swallow synthetic traffic.
//
// A source decides in every cycle, by its own random numbers, whether a packet is created
// (Bernoulli process); packets wait in an unlimited queue at the source. The queue needs no memory:
// the source draws for a cycle only when it has sent what was created before, and so is behind the
// network's time by what waits. One flit per cycle and terminal enters the network; virtual
// networks take turns. A head takes the first virtual channel with room, in rotating order.
//
// A sink takes one flit per cycle and gives its room back at once.
#pragma once

#include "device/noc/network_state.h"

namespace nearwarp::noc {

/// A stretch of the destination table, from which a source chooses evenly.
struct DestinationSet {
  uint32_t first = 0, count = 0;
};

/// One virtual network's packets at one terminal.
struct Source {
  uint64_t random = 0;         ///< state of splitmix64
  uint64_t threshold = 0;      ///< a packet per cycle with probability threshold / 2^32; 0: never
  uint64_t hot_threshold = 0;  ///< likewise, that its destination is one of `hot`
  DestinationSet others, hot;
  Cycle next_draw = 0;  ///< the first cycle that has not been decided yet
  Cycle created = 0;    ///< of the packet that is being sent
  Cycle entered = 0;
  uint32_t flits_left = 0;  ///< of that packet; 0: there is none
  uint16_t destination = 0;
  uint8_t vc = 0;        ///< once the head has been sent
  uint8_t last_vc = 0;   ///< of the packet before
  bool waiting = false;  ///< the head has not been sent yet
  uint64_t created_packets = 0, sent_flits = 0;
  uint64_t measured_packets = 0;  ///< of those created, ones that the measurement counts
};

struct Sink {
  uint64_t flits = 0, packets = 0;
  uint64_t measured = 0;         ///< packets of the measurement that have come
  uint64_t latency = 0;          ///< their cycles from creation to the tail's arrival, summed
  uint64_t network_latency = 0;  ///< and from the head's entering the network
  uint64_t hops = 0;             ///< routers that their tails passed
  Cycle max_latency = 0;
};

struct TrafficParams {
  uint32_t packet_flits = 1;
  Cycle measure_begin = 0, measure_end = 0;  ///< packets created in between are measured
};

struct TrafficState {
  TrafficParams params;
  Ref<Source> sources;         ///< [terminal * vnets + vnet]
  Ref<uint8_t> last_vnet;      ///< [terminal]: the last to send
  Ref<uint16_t> credits;       ///< [terminal * vcs + vc]: room at the network's entrance
  Ref<Sink> sinks;             ///< [terminal * vnets + vnet]
  Ref<uint16_t> destinations;  ///< the table of destination sets
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
        destinations_(s.destinations.in(base)) {}

  /// Terminal `n` in cycle `t`: take what arrives, make packets, send a flit.
  NW_HD NW_INLINE void step(const NetworkView& v, uint32_t n, Cycle t) const {
    receive(v, n, t);
    step_source(v, n, t);
  }

 private:
  NW_HD NW_INLINE void receive(const NetworkView& v, uint32_t n, Cycle t) const {
    take_arrivals(
        v, n, t, [&](uint32_t vc) { credits_[n * v.p.vcs + vc] += 1; },
        [&](const Flit& flit) {
          swallow(sinks_[n * v.p.vnets + flit.vnet], flit, t);
          release(v, n, flit.vc, t);
        });
  }

  NW_HD NW_INLINE bool is_measured(Cycle created) const {
    return created - params_.measure_begin < params_.measure_end - params_.measure_begin;
  }

  NW_HD NW_INLINE void swallow(Sink& sink, const Flit& flit, Cycle t) const {
    sink.flits += 1;
    if ((flit.flags & kTail) == 0) return;
    sink.packets += 1;
    if (!is_measured(flit.tag)) return;
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
      if (credits_[n * v.p.vcs + first + k] == 0) continue;
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
      s.entered = t;
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
};

}  // namespace nearwarp::noc
