// What a front end in a rig needs to dispatch the launches of a program.
#pragma once

#include "device/frontend/dispatcher.h"
#include "tests/support/program.h"
#include "tests/support/rig.h"

namespace nearwarp::testing {

/// SMs with room for kSmRegisters and plenty of everything else, dealt to the groups in rows.
inline frontend::DispatchState make_dispatch(Rig& rig, const Program& program,
                                             const frontend::FrontEndParams& p) {
  ArenaBuilder& a = rig.arena;
  frontend::DispatchState d;
  const uint32_t queues = p.dispatch.max_running * p.dispatch.groups;
  d.rooms = a.allocate<frontend::SmRoom>(p.num_sms);
  for (uint32_t i = 0; i < p.num_sms; ++i) {
    frontend::SmRoom& room = a.get(d.rooms)[i];
    room = {{64, 64, 2048, kSmRegisters, 49152}, 0, frontend::kNoLaunch, 0};
    room.group = i * p.dispatch.groups / p.num_sms;
  }
  d.done_log = a.allocate<uint32_t>(1000);
  d.running = a.allocate<uint32_t>(p.dispatch.max_running);
  d.taken = a.allocate<uint32_t>(queues);
  d.ready = a.allocate<uint32_t>(queues);
  const auto launches = static_cast<uint32_t>(program.launches.size());
  d.launches = a.allocate<frontend::LaunchState>(launches + 1);
  frontend::enter_program(d, a.base(), program.launches.data(), launches,
                          Tick{p.launch_gap} * p.period);
  return d;
}

}  // namespace nearwarp::testing
