// A link port between neighbours that the test plays.
#pragma once

#include <gtest/gtest.h>

#include "device/link/link_port.h"
#include "device/mechanisms/tom/packets.h"
#include "tests/memory/period.h"
#include "tests/support/rig.h"

namespace nearwarp::testing {

/// Two slices (endpoints 0, 1), an SM (2), memory (3) behind a link of one byte per tick.
struct LinkRig {
  static constexpr uint32_t kHop = 20;
  static constexpr uint32_t kInterval = 1000;
  using Step = StepResult (*)(const LinkPortParams&, LinkPortState&, std::byte*, Window, Horizon&);

  Rig rig;
  LinkPortParams params;
  Ref<LinkPortState> state;
  std::vector<std::shared_ptr<MockProducer>> slice_out;
  std::shared_ptr<MockProducer> offload, rx;
  std::vector<std::shared_ptr<MockConsumer>> slice_in;
  std::shared_ptr<MockConsumer> sms, tx, control;
  Ref<Channel> tx_channel;

  explicit LinkRig(Step step = step_link_port<>) {
    params.ports.period = kPeriod;
    params.ports.flit_bytes = 0xffff;
    params.ports.endpoints = 4;
    params.monitor = 1;
    params.interval_ticks = kInterval;
    params.threshold_percent = 80;
    params.endpoint = Endpoint{9};
    params.front_end = Endpoint{10};
    params.control_bytes = 8;
    params.status_kind = tom::kChannelBusy;
    const ChannelSpec spec{16, kHop, kHop, 0, 1}, link{32, kHop, kHop, 1, 1};
    std::vector<SwitchLink> in, out;
    for (uint16_t i = 0; i < 3; ++i) in.push_back({rig.channel(spec), i});
    in.push_back({rig.channel(link), 3});
    for (uint16_t i = 0; i < 3; ++i) out.push_back({rig.channel(spec), i});
    out.push_back({rig.channel(link), 3});
    const Ref<Channel> control_channel = rig.channel(spec);
    tx_channel = out[3].channel;
    const LinkPortState s =
        make_link_port(rig.arena, params, {in, out, tx_channel, in[3].channel, control_channel});
    set_route(params.ports, s.ports, rig.arena.base(), 0, kNoRoute, 0);
    set_route(params.ports, s.ports, rig.arena.base(), 1, kNoRoute, 1);
    set_route(params.ports, s.ports, rig.arena.base(), 2, kNoRoute, 2);
    set_route(params.ports, s.ports, rig.arena.base(), 3, 3, kNoRoute);
    state = rig.arena.allocate<LinkPortState>(1);
    *rig.arena.get(state) = s;
    std::vector<Ref<Channel>> inputs;
    for (const auto& l : in) inputs.push_back(l.channel);
    for (int i = 0; i < 2; ++i) slice_out.push_back(rig.producer(in[i].channel, kPeriod));
    offload = rig.producer(in[2].channel, kPeriod);
    rx = rig.producer(in[3].channel, kPeriod);
    rig.add([this, step](std::byte* base, Window w,
                         Horizon& h) { return step(params, *state.in(base), base, w, h); },
            inputs);
    for (int i = 0; i < 2; ++i) slice_in.push_back(rig.consumer(out[i].channel, kPeriod));
    sms = rig.consumer(out[2].channel, kPeriod);
    tx = rig.consumer(tx_channel, 1);
    control = rig.consumer(control_channel, 1);
  }
  void run(Tick window = kHop) {
    rig.run({window}, 1000000);
    EXPECT_TRUE(rig.drained());
    EXPECT_EQ(rig.arena.get(state)->ports.fault.code, 0u);
  }
  const LinkPortCounters& counters() { return rig.arena.get(state)->counters; }
};

}  // namespace nearwarp::testing
