// A front end with mock SMs and monitors; one tick per cycle, channels of four.
#pragma once

#include <utility>
#include <vector>

#include "device/frontend/front_end.h"
#include "device/frontend/make_front_end.h"
#include "tests/support/program.h"
#include "tests/support/rig.h"

namespace nearwarp::testing {

/// `List`: the front end's mechanisms.
template <class List>
struct FrontEndRig {
  static constexpr uint32_t kWire = 4;
  Rig rig;
  Program program;
  frontend::FrontEndParams p;
  uint32_t num_monitors = 0;
  uint32_t stacks = 1;  ///< each has an equal number of consecutive SMs
  bool on_demand = true;
  Ref<frontend::FrontEndState> state;
  std::vector<std::shared_ptr<MockProducer>> from_sm, from_monitor;
  std::vector<std::shared_ptr<MockConsumer>> to_sm;

  explicit FrontEndRig(uint32_t sms, uint32_t monitors = 0) : num_monitors(monitors) {
    p.num_sms = sms;
    p.launch_gap = 10;
    p.outbox_entries = 49;
  }
  /// Makes the front end. SMs have room for kSmRegisters and plenty of everything else; a group has
  /// consecutive SMs. `attach(FrontEndState&)` adds the state of mechanisms.
  template <class Attach>
  void build(Attach&& attach) {
    ArenaBuilder& a = rig.arena;
    std::vector<frontend::SmRoom> rooms(p.num_sms);
    for (uint32_t i = 0; i < p.num_sms; ++i) {
      rooms[i].free = {64, 64, 2048, kSmRegisters, 49152};
      rooms[i].group = i * p.dispatch.groups / p.num_sms;
      rooms[i].stack = i * stacks / p.num_sms;
      if (p.dispatch.gpcs != 0) rooms[i].gpc = i % p.dispatch.gpcs;
    }
    frontend::FrontEndState s = frontend::make_front_end(a, p, rooms, program.launches);
    s.to_sm = a.allocate<Ref<Channel>>(p.num_sms);
    s.from_sm = a.allocate<Ref<Channel>>(p.num_sms);
    s.from_monitor = a.allocate<Ref<Channel>>(num_monitors);
    attach(s);
    std::vector<Ref<Channel>> inputs;
    const auto channel = [&](uint32_t slots) { return rig.channel({slots, kWire, kWire, 0, 1}); };
    for (uint32_t i = 0; i < p.num_sms; ++i) {
      a.get(s.to_sm)[i] = channel(16);
      inputs.push_back(a.get(s.from_sm)[i] = channel(16));
    }
    for (uint32_t k = 0; k < num_monitors; ++k)
      inputs.push_back(a.get(s.from_monitor)[k] = channel(4));
    state = a.allocate<frontend::FrontEndState>(1);
    *a.get(state) = s;
    rig.add(
        [this](std::byte* base, Window w, Horizon& h) {
          sm::SystemView view;
          view.arena = base;
          view.image = program.view();
          view.on_demand = on_demand;
          return frontend::step_front_end<List>(p, *state.in(base), view, w, h);
        },
        inputs);
    for (uint32_t i = 0; i < p.num_sms; ++i) {
      to_sm.push_back(rig.consumer(a.get(s.to_sm)[i]));
      from_sm.push_back(rig.producer(a.get(s.from_sm)[i]));
    }
    for (uint32_t k = 0; k < num_monitors; ++k)
      from_monitor.push_back(rig.producer(a.get(s.from_monitor)[k]));
  }
  frontend::FrontEndState& s() { return *rig.arena.get(state); }
  void run(Tick end = 300) {
    RunOptions o;
    o.window = kWire;
    rig.run(o, end);
  }
};

}  // namespace nearwarp::testing
