// Does a network keep every flit and credit, and do results depend on nothing but the input?
#include "host/timing/noc/network.h"

#include <gtest/gtest.h>

#include <cstring>

#include "host/core/error.h"
#include "host/timing/noc/bounds.h"
#include "host/timing/noc/measure.h"
#include "kernels/cpu_executor.h"
#include "kernels/emulated_device.h"

namespace nearwarp::testing {
namespace {

/// A network with requests of one flit and replies of four.
noc::NocConfig request_reply(const std::string& topology, const std::string& size) {
  noc::NocConfig c;
  c.topology = topology;
  c.size = size;
  c.vnets = 2;
  c.vcs = 4;
  c.reply_flits = 4;
  return c;
}

std::vector<noc::NocConfig> many_networks() {
  std::vector<noc::NocConfig> all;
  noc::NocConfig c;
  c.size = "5x3";
  all.push_back(c);
  c.packet_flits = 5;
  c.routing = "yx";
  c.vnets = 2;
  all.push_back(c);
  c.vnets = 1;
  c.size = "4x4";
  c.traffic = "transpose";
  c.buffers = 1;
  c.vcs = 1;
  all.push_back(c);
  c = {};
  c.size = "4x4";
  c.traffic = "many-to-few";
  c.sw_alloc_delay = 2;
  c.vc_alloc_delay = 3;
  c.credit_delay = 5;
  c.link_latency = 3;
  c.packet_flits = 3;
  all.push_back(c);
  c = {};
  c.topology = "butterfly";
  c.size = "3x3";
  c.vcs = 3;
  c.routing_delay = 0;
  all.push_back(c);
  c.topology = "crossbar";
  c.size = "56x8";
  all.push_back(c);
  c.topology = "full";
  c.size = "9";
  c.traffic = "hotspot";
  c.hot_share = 0.3;
  c.packet_flits = 2;
  all.push_back(c);
  c = {};
  c.speedup = 2;
  c.size = "4x4";
  c.packet_flits = 3;
  all.push_back(c);
  c.topology = "crossbar";
  c.size = "9x6";
  c.vcs = 1;
  c.buffers = 64;
  all.push_back(c);
  c = {};
  c.topology = "crossbar";
  c.size = "9x6";
  c.speedup = 2;
  c.input_speedup = 4;
  c.wait_for_tail_credit = true;
  c.packet_flits = 3;
  all.push_back(c);
  c = request_reply("mesh", "4x4");
  c.wait_for_tail_credit = true;
  c.input_speedup = 2;
  all.push_back(c);
  all.push_back(request_reply("mesh", "4x4"));
  c = request_reply("crossbar", "8");
  c.traffic = "hotspot";  // the hot node's replies pile up
  c.buffers = 2;
  all.push_back(c);
  return all;
}

std::string name_of(const noc::NocConfig& c) {
  return c.topology + " " + c.size + " " + c.traffic + " " + std::to_string(c.packet_flits);
}

TEST(NocNetwork, RunsEmpty) {
  for (const noc::NocConfig& c : many_networks()) {
    for (const double rate : {0.05, 1.0}) {
      noc::Network n(c);
      n.set_rate(rate);
      n.run(1500);
      EXPECT_GT(n.flits_inside(), 0u) << name_of(c);
      n.set_rate(0);
      n.run(20000);
      const noc::TrafficTotals t = n.totals();
      EXPECT_GT(t.created_packets, 10u) << name_of(c);
      EXPECT_EQ(t.received_packets, t.created_packets) << name_of(c);
      if (c.reply_flits == 0) {
        EXPECT_EQ(t.received_flits, t.created_packets * c.packet_flits) << name_of(c);
      }
      EXPECT_EQ(n.flits_inside(), 0u) << name_of(c);
      EXPECT_TRUE(n.all_credits_home()) << name_of(c);
    }
  }
}

TEST(NocNetwork, PiecesDoNotShow) {
  for (const noc::NocConfig& c : many_networks()) {
    noc::Network whole(c), pieces(c);
    for (noc::Network* n : {&whole, &pieces}) n->set_rate(0.6);
    whole.run(600);
    for (uint64_t done = 0, step = 1; done < 600; done += step, step = step % 37 + 1)
      pieces.run(step = std::min(step, 600 - done));
    ASSERT_EQ(pieces.now(), 600u);
    ASSERT_EQ(pieces.arena().size_bytes(), whole.arena().size_bytes());
    EXPECT_EQ(std::memcmp(pieces.arena().base(), whole.arena().base(), whole.arena().size_bytes()),
              0)
        << name_of(c);
  }
}

TEST(NocNetwork, CycleNumbersMayWrap) {
  // Two networks that differ in their age only.
  noc::NocConfig c;
  c.size = "4x4";
  for (c.speedup = 1; c.speedup <= 2; ++c.speedup) {
    noc::Network young(c), old(c);
    old.skip_to((uint64_t{1} << 32) - 300);
    for (noc::Network* n : {&young, &old}) {
      n->set_rate(0.3);
      n->set_measured(n->now(), n->now() + 100000);
      n->run(1000);
    }
    EXPECT_GT(young.totals().measured_received, 1000u);
    EXPECT_EQ(young.totals().measured_received, old.totals().measured_received);
    EXPECT_EQ(young.totals().latency, old.totals().latency);
  }
}

TEST(NocNetwork, BoundsOfKnownTraffic) {
  const auto bound = [](noc::NocConfig c) { return noc::bounds_of(noc::Network(c), c); };
  noc::NocConfig c;  // 8x8, uniform: the bisection's 8 channels each way carry 64 / 4 packets
  EXPECT_NEAR(bound(c).throughput, 0.5, 1e-9);
  EXPECT_NEAR(bound(c).routers, 1 + 2 * 63.0 / 24, 1e-9);
  EXPECT_NEAR(bound(c).zero_load_latency, 5 * 6.25 + 2, 1e-9);
  c.size = "4x4";
  EXPECT_NEAR(bound(c).throughput, 1.0, 1e-9);
  c.traffic = "transpose";  // the corner's row turns in one column: three packets on its last link
  EXPECT_NEAR(bound(c).throughput, 1.0 / 3, 1e-9);
  c.size = "8x8";
  c.traffic = "many-to-few";  // the last row; each of eight nodes takes an eighth of 64
  EXPECT_NEAR(bound(c).throughput, 0.125, 1e-9);
  c.traffic = "uniform";
  c.topology = "crossbar";
  c.size = "56x8";
  EXPECT_NEAR(bound(c).throughput, 8 / 56.0, 1e-9);
}

TEST(NocNetwork, NothingIsAcceptedBeyondTheBound) {
  noc::MeasureConfig m;
  m.period_cycles = 300;
  for (const noc::NocConfig& c : many_networks()) {
    const noc::LoadPoint p = noc::measure_load(c, m, 1.0);
    EXPECT_LE(p.accepted, noc::bounds_of(noc::Network(c), c).throughput * 1.02) << name_of(c);
    EXPECT_GT(p.accepted, 0) << name_of(c);
    for (const noc::LinkUse& l : p.links) EXPECT_LE(l.utilisation, 1.0);
  }
}

/// A crossbar with one queue per input, as SM2_GTX480 has, offered all it could carry.
double accepted_by_one_queue(uint32_t ports, uint32_t speedup, uint32_t flits) {
  noc::NocConfig c;
  c.topology = "crossbar";
  c.size = std::to_string(ports);
  c.vcs = 1;
  c.buffers = 64;
  c.routing_delay = 0;
  c.packet_flits = flits;
  c.speedup = speedup;
  noc::MeasureConfig m;
  m.min_periods = m.max_periods = 10;
  return noc::measure_load(c, m, 1.0).accepted;
}

TEST(NocNetwork, OneQueuePerInputCarriesWhatKarolFound) {
  // Karol, Hluchyj, Morgan, IEEE Trans. Communications 35(12), 1987, table I: heads of line block
  // all but these shares. A packet's VC allocation adds a cycle or two to its 32.
  EXPECT_NEAR(accepted_by_one_queue(4, 1, 32), 0.6553 * 32 / 33, 0.03);
  EXPECT_NEAR(accepted_by_one_queue(8, 1, 32), 0.6184 * 32 / 33, 0.03);
}

TEST(NocNetwork, InputSpeedUpMakesUpForPortsThatWereMatchedOnce) {
  const auto accepted = [](uint32_t input_speedup) {
    noc::NocConfig c;
    c.topology = "crossbar";
    c.size = "8";
    c.input_speedup = input_speedup;
    noc::MeasureConfig m;
    m.min_periods = m.max_periods = 10;
    return noc::measure_load(c, m, 1.0).accepted;
  };
  const double one = accepted(1), two = accepted(2), eight = accepted(8);
  EXPECT_GT(two, one + 0.02);
  EXPECT_GE(eight, two);
}

TEST(NocNetwork, SourcesWaitForTailCreditsToo) {
  // One pair and one virtual channel: packets of a flit follow each other when the tail's credit is
  // back at the source, every 6 cycles; otherwise as the router gives its channel away, every 3.
  noc::NocConfig c;
  c.topology = "crossbar";
  c.size = "1";
  c.vcs = 1;
  noc::MeasureConfig m;
  m.min_periods = m.max_periods = 5;
  EXPECT_NEAR(noc::measure_load(c, m, 1.0).accepted, 1 / 3.0, 0.002);
  c.wait_for_tail_credit = true;
  EXPECT_NEAR(noc::measure_load(c, m, 1.0).accepted, 1 / 6.0, 0.002);
}

TEST(NocNetwork, SpeedUpMakesUpForHeadsOfLine) {
  // The crossbar of twice the speed carries more than the wires behind it can.
  EXPECT_GT(accepted_by_one_queue(8, 2, 4), 0.85);
}

TEST(NocRequestReply, EveryRequestIsAnswered) {
  for (const double rate : {0.02, 1.0}) {
    noc::NocConfig c = request_reply("mesh", "4x4");
    noc::Network n(c);
    n.set_rate(rate);
    n.run(3000);
    n.set_rate(0);
    n.run(30000);
    const noc::TrafficTotals t = n.totals();
    EXPECT_GT(t.created_packets, 100u);
    EXPECT_EQ(t.received_packets, t.created_packets);
    EXPECT_EQ(t.received_flits, t.created_packets / 2 * (c.packet_flits + c.reply_flits));
  }
}

TEST(NocRequestReply, UnloadedLatencies) {
  const noc::NocConfig c = request_reply("crossbar", "8");
  const noc::LoadPoint p = noc::measure_load(c, {}, 0.005);
  const double request = noc::zero_load_latency(c, 1, c.packet_flits);
  const double reply = noc::zero_load_latency(c, 1, c.reply_flits);
  EXPECT_NEAR(p.request_latency, request, 0.15);
  EXPECT_NEAR(p.reply_latency, reply, 0.15);
  EXPECT_NEAR(p.round_trip, request + reply, 0.3);
  EXPECT_NEAR(p.latency, (request + reply) / 2, 0.2);
  EXPECT_NEAR(noc::bounds_of(noc::Network(c), c).zero_load_latency, (request + reply) / 2, 1e-9);
}

TEST(NocRequestReply, ReplyingNodesBoundTheRate) {
  // All requests go to one node, itself among the senders, which sends four flits for each.
  noc::NocConfig c = request_reply("crossbar", "8");
  c.traffic = "hotspot";
  const double bound = noc::bounds_of(noc::Network(c), c).throughput;
  EXPECT_NEAR(bound, 1 / (8 * 4.0 / 5 + 1.0 / 5), 1e-9);
  noc::MeasureConfig m;
  m.min_periods = m.max_periods = 10;
  const noc::LoadPoint p = noc::measure_load(c, m, 1.0);
  EXPECT_FALSE(p.stable);
  EXPECT_LE(p.accepted, bound * 1.01);
  EXPECT_GE(p.accepted, bound * 0.8);
}

TEST(NocRequestReply, CommonVirtualChannelsAreRefused) {
  for (const uint32_t vnets : {1u, 4u}) {
    noc::NocConfig c = request_reply("mesh", "4x4");
    c.vnets = vnets;
    EXPECT_THROW(noc::Network{c}, UsageError);
  }
  EXPECT_THROW(noc::Network{request_reply("crossbar", "4x2")}, UsageError);  // who would reply?
}

TEST(NocLoads, AskedToStopGiveWhatIsDone) {
  noc::NocConfig c;
  c.size = "4x4";
  noc::MeasureConfig m;
  m.period_cycles = 200;
  const std::vector<double> rates{0.05, 0.1, 0.15, 0.2};
  const auto whole = noc::measure_loads(c, m, rates, 1);
  size_t last = 0;
  const auto stopped = noc::measure_loads(c, m, rates, 1, [&](size_t done, size_t all) {
    EXPECT_EQ(all, rates.size());
    EXPECT_GE(done, last);
    last = done;
    return done < 2;
  });
  ASSERT_EQ(stopped.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(stopped[i].rate, whole[i].rate);
    EXPECT_EQ(stopped[i].latency, whole[i].latency);
  }
  const noc::MeasureLoads none = [](std::span<const double>) {
    return std::vector<noc::LoadPoint>();
  };
  EXPECT_FALSE(noc::find_saturation(none, 0.01).has_value());
}

TEST(NocNetwork, ZeroLoadLatencyIsWhatIsMeasured) {
  for (const uint32_t speedup : {1u, 2u}) {
    noc::NocConfig c;
    c.size = "4x4";
    c.speedup = speedup;
    c.packet_flits = 3;
    const double expected = noc::bounds_of(noc::Network(c), c).zero_load_latency;
    EXPECT_NEAR(noc::measure_load(c, {}, 0.005).latency, expected, 0.02 * expected);
  }
}

TEST(NocNetwork, LinksCarryWhatRoutesSay) {
  // A light load: each link's use is its share of the routes times the rate.
  noc::NocConfig c;
  c.size = "4x4";
  const noc::LoadPoint p = noc::measure_load(c, {}, 0.2);
  ASSERT_TRUE(p.stable) << p.why;
  EXPECT_NEAR(p.accepted, 0.2, 0.004);
  for (const noc::LinkUse& l : p.links) {
    if (l.to_terminal) {
      EXPECT_NEAR(l.utilisation, 0.2, 0.02);
      continue;
    }
    const uint32_t from = std::min(l.router % 4, l.to % 4) + (l.router % 4 == l.to % 4 ? 4 : 0);
    const uint32_t before = from < 4 ? from : std::min(l.router / 4, l.to / 4);
    const double share = (before + 1) * (3 - before) / 4.0;  // of a line of four nodes, one way
    EXPECT_NEAR(l.utilisation, 0.2 * share, 0.02) << l.router << " to " << l.to;
  }
}

TEST(NocNetwork, ThreadsDoNotShow) {
  noc::NocConfig c;
  c.size = "4x4";
  noc::MeasureConfig m;
  m.period_cycles = 200;
  const std::vector<double> rates{0.1, 0.3, 0.9, 0.2, 1.0};
  const auto one = noc::measure_loads(c, m, rates, 1), four = noc::measure_loads(c, m, rates, 4);
  ASSERT_EQ(four.size(), rates.size());
  for (size_t i = 0; i < rates.size(); ++i) {
    EXPECT_EQ(one[i].rate, rates[i]);
    EXPECT_EQ(one[i].latency, four[i].latency);
    EXPECT_EQ(one[i].accepted, four[i].accepted);
    EXPECT_EQ(one[i].packets, four[i].packets);
    EXPECT_EQ(one[i].drain_cycles, four[i].drain_cycles);
  }
}

TEST(NocNetwork, BackendsFindTheSame) {
  noc::MeasureConfig m;
  m.period_cycles = 100;
  m.period_packets = 50;
  m.max_periods = 12;
  const std::vector<double> rates{0.1, 0.3, 1.0};
  for (const noc::NocConfig& c : many_networks()) {
    const auto expected = noc::measure_loads(c, m, rates, 1);
    for (const uint32_t seed : {0u, 7u}) {
      kernels::EmulationOptions emulation;
      emulation.seed = seed;
      emulation.blocks_at_once = 2;
      kernels::EmulatedDevice device(emulation);
      const auto found = noc::measure_loads(c, m, rates, device);
      ASSERT_EQ(found.size(), rates.size());
      for (size_t i = 0; i < rates.size(); ++i) {
        EXPECT_EQ(found[i].latency, expected[i].latency) << name_of(c);
        EXPECT_EQ(found[i].accepted, expected[i].accepted) << name_of(c);
        EXPECT_EQ(found[i].packets, expected[i].packets) << name_of(c);
        EXPECT_EQ(found[i].router_cycles, expected[i].router_cycles) << name_of(c);
      }
    }
  }
}

TEST(NocNetwork, ExecutorsStepItInPieces) {
  noc::NocConfig c;
  c.size = "4x4";
  noc::Network whole(c), stepped(c);
  for (noc::Network* n : {&whole, &stepped}) n->set_rate(0.5);
  whole.run(500);
  const kernels::RunState run = stepped.run_state();
  kernels::Component* const table = run.table.in(stepped.state());
  kernels::CpuExecutor executor({table, run.table.count}, {});
  sm::SystemView view = run.view;
  view.arena = stepped.state();
  for (Tick t = 0; t < 500;) {
    const Tick end = std::min<Tick>(t + 1 + t % 7, 500);
    EXPECT_EQ(executor.step(view, {t, end}), end);
    t = end;
  }
  EXPECT_EQ(stepped.totals().received_flits, whole.totals().received_flits);
  EXPECT_EQ(stepped.totals().sent_flits, whole.totals().sent_flits);
}

TEST(NocNetwork, MeasuresWhatTheUserAsksFor) {
  noc::NocConfig c;
  c.size = "2x2";
  noc::MeasureConfig m;
  m.period_cycles = 100;
  m.period_packets = 1;
  EXPECT_THROW(noc::measure_load(c, m, 0), UsageError);
  EXPECT_THROW(noc::measure_load(c, m, 1.5), UsageError);
  const noc::LoadPoint p = noc::measure_load(c, m, 0.1);
  EXPECT_TRUE(p.stable) << p.why;
  EXPECT_EQ(p.measured_cycles % 100, 0u);
  EXPECT_GE(p.packets, p.measured_cycles * 4 / 10 * 8 / 10);
  EXPECT_LE(p.packets, p.measured_cycles * 4 / 10 * 12 / 10);
}

TEST(NocNetwork, PeriodsAreAsLongAsTheUserAsksFor) {
  noc::NocConfig c;
  c.topology = "crossbar";
  c.size = "1";
  noc::MeasureConfig m;
  m.period_cycles = 300'000;
  m.min_periods = m.max_periods = 2;
  EXPECT_EQ(noc::measure_load(c, m, 0.1).measured_cycles, 600'000u);
}

TEST(NocNetwork, FewPacketsAreStable) {
  // The longest period has some of them or none, by chance; each takes as long as the first.
  noc::NocConfig c;
  c.topology = "crossbar";
  c.size = "1";
  for (const double rate : {1e-6, 1e-5, 3e-5}) {
    const noc::LoadPoint p = noc::measure_load(c, {}, rate);
    EXPECT_TRUE(p.stable) << rate << ": " << p.why;
    EXPECT_GT(p.packets, 1u) << rate;
    EXPECT_EQ(p.latency, 7) << rate;
    EXPECT_EQ(p.latency_error, 0) << rate;
  }
  c = {};  // a mesh, where packets' ways differ
  c.size = "4x4";
  const noc::LoadPoint mesh = noc::measure_load(c, {}, 1e-5);
  EXPECT_TRUE(mesh.stable) << mesh.why;
}

TEST(NocNetwork, ImpossibleConfigurationsAreRefused) {
  const auto refused = [](auto change) {
    noc::NocConfig c;
    change(c);
    EXPECT_THROW(noc::Network{c}, UsageError);
  };
  refused([](auto& c) { c.size = "8"; });
  refused([](auto& c) { c.size = "8x"; });
  refused([](auto& c) { c.size = "0x4"; });
  refused([](auto& c) { c.size = "100x100"; });
  refused([](auto& c) { c.topology = "mash"; });
  refused([](auto& c) { c.routing = "zx"; });
  refused([](auto& c) { c.vcs = 33; });
  refused([](auto& c) { c.vcs = 0; });
  refused([](auto& c) { c.vnets = 3; });
  refused([](auto& c) { c.buffers = 0; });
  refused([](auto& c) { c.packet_flits = 0; });
  refused([](auto& c) { c.speedup = 3; });
  refused([](auto& c) { c.input_speedup = 3; });
  refused([](auto& c) { c.input_speedup = 16; });
  refused([](auto& c) {
    c.vcs = 2;
    c.input_speedup = 4;
  });
  refused([](auto& c) {
    c.topology = "crossbar";
    c.size = "40x8";
    c.input_speedup = 2;
  });
  refused([](auto& c) { c.sw_alloc_delay = 0; });
  refused([](auto& c) { c.traffic = "unifrom"; });
  refused([](auto& c) {
    c.traffic = "hotspot";
    c.hot_nodes = {64};
  });
  refused([](auto& c) {
    c.traffic = "transpose";
    c.size = "4x8";
  });
  refused([](auto& c) {
    c.topology = "crossbar";
    c.size = "65x8";
  });
  refused([](auto& c) {
    c.topology = "butterfly";
    c.size = "1x3";
  });
}

}  // namespace
}  // namespace nearwarp::testing
