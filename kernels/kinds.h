// The kinds of components that this simulator has, as a family (kernels/family.h): what a machine's
// parts are, for every backend. Of most the types alone: how they are stepped is in
// kernels/component.h, which those include that step.
#pragma once

#include "device/cache/l2_slice_state.h"
#include "device/dram/traffic_state.h"
#include "device/dram/vault_state.h"
#include "device/frontend/front_end_state.h"
#include "device/link/host_memory.h"
#include "device/link/link_port_state.h"
#include "device/noc/channel_network.h"
#include "device/noc/crossbar_state.h"
#include "device/noc/standalone.h"
#include "device/sm/sm_view.h"
#include "kernels/family.h"

// Device code of mechanisms from elsewhere (host/mechanisms/list.h): ", NAME::Mechanism" for each.
#ifdef NW_MORE_DEVICE_CODE_HEADER
#include NW_MORE_DEVICE_CODE_HEADER
#else
#define NW_MORE_DEVICE_CODE
#endif

namespace nearwarp::tom {
struct Mechanism;
}
namespace nearwarp::opportunistic {
struct Mechanism;
}
namespace nearwarp::mpu {
struct Mechanism;
}
namespace nearwarp::coda {
struct Mechanism;
}

namespace nearwarp::kernels {

// Weights are estimated, from profiles of the CPU backend: host instructions of kmeans and
// vector-add on machine tom, per component.

/// `Mechanisms`: the sm::MechanismList that its family has.
/// `kSpecialised`: by code for what the component is, where there is some; see GeneralFamilyWith.
template <uint32_t kWords, class Mechanisms, bool kSpecialised>
struct SmKindOf : KindOf<sm::SmParams, sm::SmStateOf<kWords>> {
  static constexpr const char* kName = kWords == 1 ? "SM" : "wide SM";
  NW_HD NW_INLINE static StepResult step(const sm::SmParams& p, sm::SmStateOf<kWords>& s,
                                         const sm::SystemView& system, const Window& window,
                                         Horizon& horizon);
  NW_HD static uint64_t committed(const sm::SmStateOf<kWords>& s) {
    return s.counters.issued() - s.counters.redundant;
  }
  static uint32_t weight(uint32_t /*inputs*/) { return 24; }
};

/// A kind whose State has a fault word.
template <class P, class S>
struct FallibleKindOf : KindOf<P, S> {
  NW_HD static const Fault* fault(const S& s) { return &s.fault; }
};

template <class Mechanisms>
struct L2SliceKindOf : FallibleKindOf<L2SliceParams, L2SliceState> {
  static constexpr const char* kName = "L2 slice";
  NW_HD NW_INLINE static StepResult step(const L2SliceParams& p, L2SliceState& s,
                                         const sm::SystemView& system, const Window& window,
                                         Horizon& horizon);
  static uint32_t weight(uint32_t /*inputs*/) { return 16; }
};

struct SwitchKind : FallibleKindOf<SwitchParams, SwitchState> {
  static constexpr const char* kName = "switch";
  NW_HD NW_INLINE static StepResult step(const Params& p, State& s, const sm::SystemView& system,
                                         const Window& window, Horizon& horizon);
  static uint32_t weight(uint32_t inputs) { return 8 + inputs; }
};

template <bool kSpecialised>
struct CrossbarKindOf : FallibleKindOf<noc::CrossbarParams, noc::CrossbarState> {
  static constexpr const char* kName = "crossbar";
  NW_HD NW_INLINE static StepResult step(const Params& p, State& s, const sm::SystemView& system,
                                         const Window& window, Horizon& horizon);
  static uint32_t weight(uint32_t /*inputs*/) { return 300; }
};

struct RouterNetworkKind : FallibleKindOf<noc::ChannelNetworkParams, noc::ChannelNetworkState> {
  static constexpr const char* kName = "network of routers";
  NW_HD NW_INLINE static StepResult step(const Params& p, State& s, const sm::SystemView& system,
                                         const Window& window, Horizon& horizon);
  static uint32_t weight(uint32_t /*inputs*/) { return 600; }
};

template <class Mechanisms>
struct LinkPortKindOf : KindOf<LinkPortParams, LinkPortState> {
  static constexpr const char* kName = "link port";
  NW_HD NW_INLINE static StepResult step(const LinkPortParams& p, LinkPortState& s,
                                         const sm::SystemView& system, const Window& window,
                                         Horizon& horizon);
  NW_HD static const Fault* fault(const LinkPortState& s) { return &s.ports.fault; }
  static uint32_t weight(uint32_t /*inputs*/) { return 24; }
};

template <class Mechanisms>
struct VaultKindOf : FallibleKindOf<VaultParams, VaultState> {
  static constexpr const char* kName = "vault";
  NW_HD NW_INLINE static StepResult step(const VaultParams& p, VaultState& s,
                                         const sm::SystemView& system, const Window& window,
                                         Horizon& horizon);
};

struct HostMemoryKind : FallibleKindOf<HostMemoryParams, HostMemoryState> {
  static constexpr const char* kName = "CPU memory";
  NW_HD NW_INLINE static StepResult step(const Params& p, State& s, const sm::SystemView& system,
                                         const Window& window, Horizon& horizon);
};

struct StandaloneNetworkKind : KindOf<noc::NetworkParams, noc::StandaloneState> {
  static constexpr const char* kName = "network by itself";
  NW_HD NW_INLINE static StepResult step(const Params& p, State& s, const sm::SystemView& system,
                                         const Window& window, Horizon& /*horizon*/);
  static uint32_t weight(uint32_t /*inputs*/) { return 64; }
};

struct TrafficKind : KindOf<TrafficParams, TrafficState> {
  static constexpr const char* kName = "source of accesses";
  NW_HD NW_INLINE static StepResult step(const Params& p, State& s, const sm::SystemView& system,
                                         const Window& window, Horizon& horizon);
};

template <class Mechanisms>
struct FrontEndKindOf : FallibleKindOf<frontend::FrontEndParams, frontend::FrontEndState> {
  static constexpr const char* kName = "front end";
  NW_HD NW_INLINE static StepResult step(const Params& p, State& s, const sm::SystemView& system,
                                         const Window& window, Horizon& horizon);
  static uint32_t weight(uint32_t /*inputs*/) { return 48; }
};

template <class Mechanisms, bool kSpecialised>
using AnyFamilyWith =
    Family<SmKindOf<1, Mechanisms, kSpecialised>,
           SmKindOf<sm::kWideWords, Mechanisms, kSpecialised>, L2SliceKindOf<Mechanisms>,
           SwitchKind, CrossbarKindOf<kSpecialised>, RouterNetworkKind, LinkPortKindOf<Mechanisms>,
           VaultKindOf<Mechanisms>, HostMemoryKind, StandaloneNetworkKind, TrafficKind,
           FrontEndKindOf<Mechanisms>>;
/// All kinds, in the order of ComponentKind, with mechanisms of one's own.
template <class Mechanisms>
using FamilyWith = AnyFamilyWith<Mechanisms, true>;
/// The family without code for special cases. Tests compare both.
template <class Mechanisms>
using GeneralFamilyWith = AnyFamilyWith<Mechanisms, false>;

/// The mechanisms that come with the program; a mechanism's number is its place. A type by itself:
/// as template arguments of every view, all of them would be where calls of one look for functions.
struct Mechanisms : sm::MechanismList<tom::Mechanism, opportunistic::Mechanism, mpu::Mechanism,
                                      coda::Mechanism NW_MORE_DEVICE_CODE> {};
/// The product's family.
using ProductFamily = FamilyWith<Mechanisms>;
static_assert(ProductFamily::kind_of<sm::SmState>() == ComponentKind::kSm);
static_assert(ProductFamily::kind_of<sm::WideSmState>() == ComponentKind::kWideSm);
static_assert(ProductFamily::kind_of<L2SliceState>() == ComponentKind::kL2Slice);
static_assert(ProductFamily::kind_of<SwitchState>() == ComponentKind::kSwitch);
static_assert(ProductFamily::kind_of<noc::CrossbarState>() == ComponentKind::kCrossbar);
static_assert(ProductFamily::kind_of<noc::ChannelNetworkState>() == ComponentKind::kRouterNetwork);
static_assert(ProductFamily::kind_of<LinkPortState>() == ComponentKind::kLinkPort);
static_assert(ProductFamily::kind_of<VaultState>() == ComponentKind::kVault);
static_assert(ProductFamily::kind_of<HostMemoryState>() == ComponentKind::kHostMemory);
static_assert(ProductFamily::kind_of<noc::StandaloneState>() == ComponentKind::kStandaloneNetwork);
static_assert(ProductFamily::kind_of<TrafficState>() == ComponentKind::kTraffic);
static_assert(ProductFamily::kind_of<frontend::FrontEndState>() == ComponentKind::kFrontEnd);

constexpr bool is_sm(ComponentKind kind) {
  return kind == ComponentKind::kSm || kind == ComponentKind::kWideSm;
}

}  // namespace nearwarp::kernels
