// How each kind of component is stepped. This header includes the models' code, for backends and
// for tests that stand in for them.
#pragma once

#include "device/cache/l2_slice.h"
#include "device/dram/traffic.h"
#include "device/dram/vault.h"
#include "device/frontend/front_end.h"
#include "device/link/link_port.h"
#include "device/mechanisms/coda/mechanism.h"
#include "device/mechanisms/mpu/mechanism.h"
#include "device/mechanisms/opportunistic/mechanism.h"
#include "device/mechanisms/tom/mechanism.h"
#include "device/noc/crossbar.h"
#include "device/noc/switch.h"
#include "device/sm/sm.h"
#include "kernels/kinds.h"

namespace nearwarp::kernels {

template <uint32_t kWords, class Mechanisms, bool kSpecialised>
NW_HD NW_INLINE StepResult SmKindOf<kWords, Mechanisms, kSpecialised>::step(
    const sm::SmParams& p, sm::SmStateOf<kWords>& s, const sm::SystemView& system,
    const Window& window, Horizon& horizon) {
  // An SM without mechanisms, or only with those that place pages, is stepped by code without their
  // hooks. On the CPU, vector-add on bench80, kmeans on tom and vector-add on gtx480 would take 2,
  // 3 and 2 % more host instructions otherwise (size small, baseline); on a GPU that code is
  // smaller, and a batch of baselines executes nothing else. Wide SMs always run code with hooks.
  if constexpr (kWords == 1 && kSpecialised) {
    if ((s.attached & sm::with_all_hooks(Mechanisms())) == 0) {
#if !defined(__CUDA_ARCH__)  // on a GPU another copy of the code would cost more than it saves
      // Without code for simple SMs vector-add on bench80 takes 7 %, kmeans on tom 13 % more.
      if (s.simple) return sm::step_sm<sm::SimpleOf<Mechanisms>>(p, s, system, window, horizon);
#endif
      return sm::step_sm<sm::NoneOf<Mechanisms>>(p, s, system, window, horizon);
    }
  }
  return sm::step_sm<Mechanisms>(p, s, system, window, horizon);
}

template <class Mechanisms>
NW_HD NW_INLINE StepResult L2SliceKindOf<Mechanisms>::step(const L2SliceParams& p, L2SliceState& s,
                                                           const sm::SystemView& system,
                                                           const Window& window, Horizon& horizon) {
  return step_l2_slice<Mechanisms>(p, s, system.arena, window, horizon);
}

NW_HD NW_INLINE StepResult SwitchKind::step(const Params& p, State& s, const sm::SystemView& system,
                                            const Window& window, Horizon& horizon) {
  return step_switch(p, s, system.arena, window, horizon);
}

template <bool kSpecialised>
NW_HD NW_INLINE StepResult CrossbarKindOf<kSpecialised>::step(const Params& p, State& s,
                                                              const sm::SystemView& system,
                                                              const Window& window,
                                                              Horizon& horizon) {
  return noc::step_crossbar<kSpecialised>(p, s, system.arena, window, horizon);
}

NW_HD NW_INLINE StepResult RouterNetworkKind::step(const Params& p, State& s,
                                                   const sm::SystemView& system,
                                                   const Window& window, Horizon& horizon) {
  return noc::step_channel_network(p, s, system.arena, window, horizon);
}

template <class Mechanisms>
NW_HD NW_INLINE StepResult LinkPortKindOf<Mechanisms>::step(const LinkPortParams& p,
                                                            LinkPortState& s,
                                                            const sm::SystemView& system,
                                                            const Window& window,
                                                            Horizon& horizon) {
  return step_link_port<Mechanisms>(p, s, system.arena, window, horizon);
}

template <class Mechanisms>
NW_HD NW_INLINE StepResult VaultKindOf<Mechanisms>::step(const VaultParams& p, VaultState& s,
                                                         const sm::SystemView& system,
                                                         const Window& window, Horizon& horizon) {
  return step_vault<Mechanisms>(p, s, system.arena, window, horizon);
}

NW_HD NW_INLINE StepResult HostMemoryKind::step(const Params& p, State& s,
                                                const sm::SystemView& system, const Window& window,
                                                Horizon& horizon) {
  return step_host_memory(p, s, system.arena, window, horizon);
}

NW_HD NW_INLINE StepResult StandaloneNetworkKind::step(const Params& p, State& s,
                                                       const sm::SystemView& system,
                                                       const Window& window, Horizon& /*horizon*/) {
  return noc::step_standalone(p, s, system.arena, window);
}

NW_HD NW_INLINE StepResult TrafficKind::step(const Params& p, State& s,
                                             const sm::SystemView& system, const Window& window,
                                             Horizon& horizon) {
  return step_traffic(p, s, system.arena, window, horizon);
}

template <class Mechanisms>
NW_HD NW_INLINE StepResult FrontEndKindOf<Mechanisms>::step(const Params& p, State& s,
                                                            const sm::SystemView& system,
                                                            const Window& window,
                                                            Horizon& horizon) {
  return frontend::step_front_end<Mechanisms>(p, s, system, window, horizon);
}

template <class Family>
NW_HD NW_APART StepResult step_in_lane(const Component& c, std::byte* state,
                                       const sm::SystemView& system, const Window& window,
                                       Horizon& horizon) {
  return Family::step(c, state, system, window, horizon);
}

}  // namespace nearwarp::kernels
