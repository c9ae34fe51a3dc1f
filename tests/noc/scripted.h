// A network whose terminals send a test's packets, and record arrivals for it.
#pragma once

#include <algorithm>
#include <vector>

#include "device/core/arena.h"
#include "device/noc/network.h"
#include "host/timing/noc/config.h"
#include "host/timing/noc/wiring.h"

namespace nearwarp::testing {

struct ScriptedPacket {
  noc::Cycle at = 0;
  uint32_t source = 0, destination = 0, flits = 1, vc = 0;
};

struct Arrival {
  noc::Cycle at = 0;
  uint32_t terminal = 0;
  noc::Flit flit;
};

/// Terminals of a ScriptedNetwork; see noc::step_network().
class ScriptedTerminals {
 public:
  std::vector<ScriptedPacket> packets;  ///< tag: position in this list
  std::vector<bool> mute;               ///< [vc]: sinks never return credits on it
  mutable std::vector<Arrival> arrivals;

  void prepare(const noc::NetworkParams& p) { mute.resize(p.vcs, false); }

  void step(const noc::NetworkView& v, uint32_t n, noc::Cycle t) const {
    receive(v, n, t);
    send(v, n, t);
  }

 private:
  void receive(const noc::NetworkView& v, uint32_t n, noc::Cycle t) const {
    noc::take_arrival(v, n, t, [&](const noc::Flit& flit) {
      arrivals.push_back({t, n, flit});
      if (!mute[flit.vc]) noc::release(v, n, flit.vc, t);
    });
  }
  /// Sends one flit of the first packet in the list that can go on; packets of a VC stay in order.
  void send(const noc::NetworkView& v, uint32_t n, noc::Cycle t) const {
    if (next_flit_.empty()) next_flit_.assign(packets.size(), 0);
    std::vector<bool> taken(v.p.vcs, false);
    for (size_t i = 0; i < packets.size(); ++i) {
      const ScriptedPacket& p = packets[i];
      if (p.source != n || next_flit_[i] == p.flits || p.at > t || taken[p.vc]) continue;
      taken[p.vc] = true;
      if (!noc::has_room(v, n, p.vc, t)) continue;
      noc::Flit f;
      f.tag = static_cast<uint32_t>(i);
      f.entered = t;
      f.source = static_cast<uint16_t>(n);
      f.destination = static_cast<uint16_t>(p.destination);
      f.vc = static_cast<uint8_t>(p.vc);
      f.flags = static_cast<uint8_t>((next_flit_[i] == 0 ? noc::kHead : 0) |
                                     (next_flit_[i] + 1 == p.flits ? noc::kTail : 0));
      noc::inject(v, n, f, t);
      next_flit_[i] += 1;
      return;
    }
  }

  mutable std::vector<uint32_t> next_flit_;
};

/// Built as noc::Network builds one, except for the terminals.
struct ScriptedNetwork {
  ArenaBuilder arena;
  noc::Topology topology;
  noc::NetworkParams params;
  noc::NetworkState state;
  ScriptedTerminals terminals;
  noc::Cycle now = 0;

  explicit ScriptedNetwork(const noc::NocConfig& c)
      : topology(noc::make_topology(c.topology, c.size, c.routing)) {
    params = noc::params_of(c, topology);
    state = noc::make_network(arena, params, c.link_latency);
    noc::wire(topology, params, state, arena.base(), c.link_latency);
    terminals.prepare(params);
  }
  void run(noc::Cycle cycles) {
    const noc::NetworkView v = noc::view_of(params, state, arena.base());
    noc::step_network(v, terminals, now, now + cycles);
    now += cycles;
  }
  /// When the tail of packet `i` arrived; 0: it did not.
  noc::Cycle tail_at(size_t i) const {
    for (const Arrival& a : terminals.arrivals)
      if (a.flit.tag == i && (a.flit.flags & noc::kTail) != 0) return a.at;
    return 0;
  }
};

}  // namespace nearwarp::testing
