// Does every flit move in the cycle in which it does when each router is stepped in every cycle?
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "device/core/arena.h"
#include "device/noc/network.h"
#include "host/timing/noc/wiring.h"
#include "tests/noc/flit_by_flit/build.h"
#include "tests/noc/flit_by_flit/network.h"

namespace nearwarp::testing {
namespace {

struct RandomPacket {
  uint32_t at, destination, flits, vc;
};

/// A flit that reached a terminal, and when.
struct Arrived {
  uint32_t at, terminal, tag, flags, vc, hops;
  bool operator==(const Arrived&) const = default;
};

/// Terminals that send what they are given, in order, and give room back late now and then.
struct Script {
  std::vector<std::vector<RandomPacket>> packets;  ///< [terminal]
  uint32_t slow_sinks = 0;                         ///< one in so many flits is held; 0: none
};

/// In terms of today's model.
struct Today {
  using Flit = noc::Flit;
  using View = noc::NetworkView;
  explicit Today(const noc::NetworkParams&) {}
  template <class TakeFlit>
  void arrivals(const View& v, uint32_t n, uint32_t t, TakeFlit&& f) {
    noc::take_arrival(v, n, t, f);
  }
  bool room(const View& v, uint32_t n, uint32_t vc, bool head, uint32_t t) {
    return head ? noc::may_begin(v, n, vc, t) : noc::has_room(v, n, vc, t);
  }
  void inject(const View& v, uint32_t n, const Flit& f, uint32_t t) { noc::inject(v, n, f, t); }
  void release(const View& v, uint32_t n, uint32_t vc, uint32_t t) { noc::release(v, n, vc, t); }
};

/// And of the other.
struct FlitByFlit {
  using Flit = flit_by_flit::Flit;
  using View = flit_by_flit::NetworkView;
  std::vector<uint32_t> credits;
  explicit FlitByFlit(const noc::NetworkParams& p) : credits(p.terminals * p.vcs, p.depth) {}
  template <class TakeFlit>
  void arrivals(const View& v, uint32_t n, uint32_t t, TakeFlit&& f) {
    flit_by_flit::take_arrivals(
        v, n, t, [&](uint32_t vc) { credits[n * v.p.vcs + vc] += 1; }, f);
  }
  bool room(const View& v, uint32_t n, uint32_t vc, bool head, uint32_t) {
    const uint32_t c = credits[n * v.p.vcs + vc];
    return head ? flit_by_flit::may_begin(v.p, c) : c != 0;
  }
  void inject(const View& v, uint32_t n, const Flit& f, uint32_t t) {
    credits[n * v.p.vcs + f.vc] -= 1;
    flit_by_flit::inject(v, n, f, t);
  }
  void release(const View& v, uint32_t n, uint32_t vc, uint32_t t) {
    flit_by_flit::release(v, n, vc, t);
  }
};

template <class Api>
class Terminals {
 public:
  Terminals(const Script& script, const noc::NetworkParams& p)
      : script_(script), api_(p), next_(p.terminals), sent_(p.terminals), held_(p.terminals) {}
  std::vector<Arrived> arrived;

  void step(const typename Api::View& v, uint32_t n, uint32_t t) {
    api_.arrivals(v, n, t, [&](const typename Api::Flit& f) {
      const uint32_t flags = f.flags & (noc::kHead | noc::kTail | noc::kLast);
      arrived.push_back({t, n, f.tag, flags, f.vc, f.hops});
      const bool late = script_.slow_sinks != 0 && (f.tag + t) % script_.slow_sinks == 0;
      held_[n].push_back({f.vc, late ? t + (f.tag % 5 == 0 ? 90 : 11) : t});
    });
    // In order, as a buffer gives its places back.
    for (size_t i = 0; i < held_[n].size(); ++i) {
      if (held_[n][i].until > t) continue;
      api_.release(v, n, held_[n][i].vc, t);
      held_[n].erase(held_[n].begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    if (next_[n] == script_.packets[n].size()) return;
    const RandomPacket& p = script_.packets[n][next_[n]];
    if (p.at > t || !api_.room(v, n, p.vc, sent_[n] == 0, t)) return;
    typename Api::Flit f;
    f.tag = n << 16 | static_cast<uint32_t>(next_[n]);
    f.source = static_cast<uint16_t>(n);
    f.destination = static_cast<uint16_t>(p.destination);
    f.vc = static_cast<uint8_t>(p.vc);
    f.vnet = static_cast<uint8_t>(p.vc / (v.p.vcs / v.p.vnets));
    const bool tail = sent_[n] + 1 == p.flits;
    f.flags = static_cast<uint8_t>((sent_[n] == 0 ? noc::kHead : 0) | (tail ? noc::kTail : 0));
    api_.inject(v, n, f, t);
    sent_[n] = tail ? 0 : sent_[n] + 1;
    next_[n] += tail ? 1 : 0;
  }

 private:
  struct Held {
    uint32_t vc, until;
  };
  const Script& script_;
  Api api_;
  std::vector<size_t> next_;
  std::vector<uint32_t> sent_;
  std::vector<std::vector<Held>> held_;
};

/// As step_network() wants them.
template <class Api>
struct Stepped {
  Terminals<Api>& terminals;
  void step(const typename Api::View& v, uint32_t n, uint32_t t) const { terminals.step(v, n, t); }
};

struct Seen {
  std::vector<Arrived> arrived;
  std::vector<uint64_t> sent;  ///< by output port
};

/// By cycle and terminal: in which order terminals are stepped within a cycle does not matter.
std::vector<Arrived> in_order(std::vector<Arrived> arrived, uint32_t begin) {
  std::ranges::sort(arrived, {},
                    [&](const Arrived& a) { return std::pair(a.at - begin, a.terminal); });
  return arrived;
}

/// Parameters as a network's layout sets them.
noc::NetworkParams laid_out(const noc::NocConfig& c, const noc::Topology& topology) {
  ArenaBuilder arena;
  noc::NetworkParams p = noc::params_of(c, topology);
  noc::make_network(arena, p, c.link_latency);
  return p;
}

Seen run_today(const noc::NocConfig& c, const noc::Topology& topology, const Script& script,
               uint32_t begin, uint32_t cycles, uint32_t piece) {
  ArenaBuilder arena;
  noc::NetworkParams p = noc::params_of(c, topology);
  const noc::NetworkState state = noc::make_network(arena, p, c.link_latency);
  noc::wire(topology, p, state, arena.base(), c.link_latency);
  const noc::NetworkView v = noc::view_of(p, state, arena.base());
  noc::renew_places(v, begin, true);  // numbers of cycles do not begin at 0
  Terminals<Today> terminals(script, p);
  for (uint32_t t = 0; t < cycles; t += piece)
    noc::step_network(v, Stepped<Today>{terminals}, begin + t, begin + std::min(t + piece, cycles));
  Seen seen{in_order(std::move(terminals.arrived), begin), {}};
  for (uint32_t i = 0; i < state.out_ports.count; ++i)
    seen.sent.push_back(v.out_ports[i].flits_sent);
  return seen;
}

Seen run_flit_by_flit(const noc::NocConfig& c, const noc::Topology& topology, const Script& script,
                      uint32_t begin, uint32_t cycles) {
  ArenaBuilder arena;
  flit_by_flit::NetworkParams p = flit_by_flit::params_like(noc::params_of(c, topology));
  const auto state = flit_by_flit::make_network(arena, p, c.link_latency);
  flit_by_flit::wire(topology, p, state, arena.base(), c.link_latency);
  const auto v = flit_by_flit::view_of(p, state, arena.base());
  Terminals<FlitByFlit> terminals(script, noc::params_of(c, topology));
  flit_by_flit::step_network(v, Stepped<FlitByFlit>{terminals}, begin, begin + cycles);
  Seen seen{in_order(std::move(terminals.arrived), begin), {}};
  for (uint32_t i = 0; i < state.out_ports.count; ++i)
    seen.sent.push_back(v.out_ports[i].flits_sent);
  return seen;
}

/// One of `values`, by chance.
template <class T, size_t kCount>
T one_of(std::mt19937& random, const T (&values)[kCount]) {
  return values[random() % kCount];
}

noc::NocConfig random_network(std::mt19937& random) {
  noc::NocConfig c;
  struct Named {
    const char *topology, *size;
  };
  constexpr Named kShapes[] = {{"mesh", "4x4"},   {"mesh", "5x3"},      {"mesh", "1x6"},
                               {"mesh", "9x8"},   {"butterfly", "2x3"}, {"butterfly", "3x2"},
                               {"crossbar", "6"}, {"crossbar", "9x4"},  {"full", "7"}};
  const Named shape = one_of(random, kShapes);
  c.topology = shape.topology;
  c.size = shape.size;
  if (c.topology == "mesh") c.routing = one_of(random, {"xy", "yx"});
  c.vcs = one_of(random, {1u, 2u, 4u, 8u});
  c.vnets = one_of(random, {1u, 1u, 2u, 4u});
  while (c.vcs % c.vnets != 0) c.vnets /= 2;
  c.buffers = one_of(random, {1u, 1u, 2u, 3u, 8u});
  c.routing_delay = one_of(random, {0u, 1u, 1u, 3u});
  c.vc_alloc_delay = one_of(random, {1u, 1u, 2u, 4u});
  c.sw_alloc_delay = one_of(random, {1u, 1u, 1u, 2u, 3u});
  c.traversal_delay = one_of(random, {1u, 1u, 2u});
  c.credit_delay = one_of(random, {0u, 0u, 3u});
  c.link_latency = one_of(random, {1u, 1u, 4u});
  c.speedup = one_of(random, {1u, 1u, 2u});
  c.input_speedup = std::min(c.vcs, one_of(random, {1u, 1u, 1u, 2u, 4u}));
  c.wait_for_tail_credit = random() % 4 == 0;
  return c;
}

Script random_script(std::mt19937& random, const noc::NocConfig& c, const noc::Topology& t) {
  Script s;
  s.packets.resize(t.terminals.size());
  s.slow_sinks = one_of(random, {0u, 0u, 3u, 20u});
  const uint32_t spacing = one_of(random, {2u, 12u, 60u}), longest = one_of(random, {1u, 5u, 12u});
  for (const uint32_t n : t.senders) {
    uint32_t at = 3;
    for (uint32_t k = 0; k < 40; ++k) {
      at += random() % spacing;
      const uint32_t to = t.receivers[random() % t.receivers.size()];
      s.packets[n].push_back({at, to, static_cast<uint32_t>(1 + random() % longest),
                              static_cast<uint32_t>(random() % c.vcs)});
    }
  }
  return s;
}

TEST(NocEquality, EveryFlitMovesAsItDoesFlitByFlit) {
  size_t flits = 0, stepped[4] = {};  // by noc::Stepping
  for (uint32_t seed = 1; seed <= 600; ++seed) {
    std::mt19937 random(seed);
    const noc::NocConfig c = random_network(random);
    const noc::Topology topology = noc::make_topology(c.topology, c.size, c.routing);
    const Script script = random_script(random, c, topology);
    const uint32_t begin = seed % 5 == 0 ? ~0u - 700 : 0;  // numbers of cycles wrap
    const Seen expected = run_flit_by_flit(c, topology, script, begin, 4000);
    const Seen found = run_today(c, topology, script, begin, 4000, 1 + seed % 7);
    ASSERT_GT(expected.arrived.size(), 100u) << seed;
    ASSERT_TRUE(found.arrived == expected.arrived)
        << "seed " << seed << ": " << c.topology << " " << c.size << ", " << c.vcs << " VCs of "
        << c.buffers << " in " << c.vnets << ", delays " << c.routing_delay << c.vc_alloc_delay
        << c.sw_alloc_delay << ", speed-up " << c.speedup << "/" << c.input_speedup
        << (c.wait_for_tail_credit ? ", tail credits" : "");
    ASSERT_EQ(found.sent, expected.sent) << seed;
    flits += expected.arrived.size();
    ++stepped[static_cast<size_t>(noc::stepping_of(laid_out(c, topology)))];
  }
  EXPECT_GT(flits, 100000u);
  // The usual shape has a test of its own.
  for (const noc::Stepping way : {noc::Stepping::kAny, noc::Stepping::kPlain, noc::Stepping::kWord})
    EXPECT_GT(stepped[static_cast<size_t>(way)], 20u) << static_cast<int>(way);
}

/// Meshes as published ones are, which are stepped by code of their own (noc::is_usual()), full of
/// packets: that happens to few of the random ones.
TEST(NocEquality, LoadedMeshesOfTheUsualShape) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    noc::NocConfig c;
    c.size = one_of(random, {"8x8", "5x7"});
    c.routing_delay = seed % 2;
    const noc::Topology topology = noc::make_topology(c.topology, c.size, c.routing);
    ASSERT_TRUE(noc::is_usual(laid_out(c, topology)));
    Script script = random_script(random, c, topology);
    script.slow_sinks = one_of(random, {0u, 3u, 7u});
    if (seed % 3 == 0)  // many to few
      for (auto& packets : script.packets)
        for (RandomPacket& p : packets) p.destination = p.destination % 4 * 7;
    const uint32_t cycles = 6000;
    const Seen expected = run_flit_by_flit(c, topology, script, 0, cycles);
    const Seen found = run_today(c, topology, script, 0, cycles, 1 + seed % 7);
    ASSERT_GT(expected.arrived.size(), 1000u) << seed;
    ASSERT_TRUE(found.arrived == expected.arrived) << seed;
    ASSERT_EQ(found.sent, expected.sent) << seed;
  }
}

}  // namespace
}  // namespace nearwarp::testing
