// A family of components: the list of kinds that a backend steps, each described by its traits, and
// the functions that dispatch over the list. A component's kind is its index in the list, so that
// no virtual calls are needed.
//
// A kind is a struct with
//   using Params, State;
//   static constexpr const char* kName;
//   static StepResult step(g, params, state, system, window, horizon);
//   static const Fault* fault(state);       the State's fault word, or null
//   static uint64_t committed(state);       warp-instructions that the component has committed
//   static uint32_t weight(num_inputs);     work in a busy window, relative to other kinds
// KindOf below has defaults for all but step().
#pragma once

#include <span>
#include <type_traits>
#include <utility>

#include "device/core/channel.h"
#include "device/core/step.h"
#include "device/sm/kernel_image.h"

namespace nearwarp::kernels {

/// A kind's place in its family's list. The names are those of the product's own family,
/// kernels/kinds.h.
enum class ComponentKind : uint8_t {
  kSm,
  kWideSm,  ///< an SM with more than 64 warps: sm::WideSmState
  kL2Slice,
  kSwitch,
  kCrossbar,       ///< a crossbar with queues, and its interfaces: noc::CrossbarState
  kRouterNetwork,  ///< all routers of a network and their interfaces: noc::ChannelNetworkState
  kLinkPort,
  kVault,
  kHostMemory,
  kStandaloneNetwork,  ///< a network alone, under synthetic traffic: noc::StandaloneState
  kTraffic,            ///< a source of accesses for a memory channel that is simulated alone
  kFrontEnd
};

/// One component; its endpoint number is its position in the system's component table.
struct Component {
  uint32_t state = 0;        ///< arena offset of its State
  uint32_t params = 0;       ///< arena offset of its Params (components of a kind may share them)
  Ref<Ref<Channel>> inputs;  ///< channels that wake it
  Tick wake = 0;             ///< when it has something to do by itself
  ComponentKind kind = ComponentKind::kSm;
  bool poll = false;            ///< it waits for a credit, so it is stepped in every window
  uint16_t cluster = 0;         ///< see kernels/clusters.h; 0: none
  uint32_t cluster_window = 0;  ///< length of the cluster's own windows in ticks; 0: no cluster
};

template <class T>
NW_HD NW_INLINE T& at_offset(std::byte* base, uint32_t offset) {
  return *reinterpret_cast<T*>(base + offset);
}

template <class T>
NW_HD NW_INLINE T& as(std::byte* at) {
  return *reinterpret_cast<T*>(at);
}

/// Traits of a kind that commits nothing and cannot fail.
template <class P, class S>
struct KindOf {
  using Params = P;
  using State = S;
  NW_HD static const Fault* fault(const State&) { return nullptr; }
  NW_HD static uint64_t committed(const State&) { return 0; }
  static uint32_t weight(uint32_t /*inputs*/) { return 6; }
};

template <class... Kinds>
class Family {
 public:
  static constexpr uint32_t kCount = sizeof...(Kinds);

  /// The kind with this State.
  template <class State>
  static constexpr ComponentKind kind_of() {
    constexpr bool same[] = {std::is_same_v<State, typename Kinds::State>...};
    static_assert((std::is_same_v<State, typename Kinds::State> + ...) == 1,
                  "a State belongs to one kind");
    uint8_t i = 0;
    while (!same[i]) ++i;
    return static_cast<ComponentKind>(i);
  }

  /// Bytes of a kind's State, without the arrays that it refers to.
  NW_HD static constexpr uint32_t state_bytes(ComponentKind kind) {
    return state_bytes_of<Kinds...>(static_cast<uint32_t>(kind));
  }

  /// Step one component through a window. `state` is its State, in the arena or in the copy that a
  /// backend is working on.
  NW_HD NW_INLINE static StepResult step(const Component& c, std::byte* state,
                                         const sm::SystemView& system, const Window& window,
                                         Horizon& horizon) {
    return step_of<Kinds...>(static_cast<uint32_t>(c.kind), c, state, system, window, horizon);
  }

  /// Warp-instructions that a component has committed; 0 for those that execute none.
  NW_HD static uint64_t committed(const Component& c, std::byte* base) {
    return committed_of<Kinds...>(static_cast<uint32_t>(c.kind), base + c.state);
  }

  /// A component's fault word; null if its kind has none. This and the functions below are for the
  /// host only.
  static const Fault* fault(const Component& c, std::byte* base) {
    const Fault* found = nullptr;
    visit(c.kind, [&]<class K>(K) { found = K::fault(as<typename K::State>(base + c.state)); });
    return found;
  }
  static uint32_t weight(const Component& c) {
    uint32_t found = 0;
    visit(c.kind, [&]<class K>(K) { found = K::weight(c.inputs.count); });
    return found;
  }
  static const char* name(ComponentKind kind) {
    const char* found = "";
    visit(kind, [&]<class K>(K) { found = K::kName; });
    return found;
  }

  /// Call f with the kind's traits.
  template <class F>
  static void visit(ComponentKind kind, F&& f) {
    uint32_t i = 0;
    ((i++ == static_cast<uint32_t>(kind) ? f(Kinds{}) : void()), ...);
  }

 private:
  template <class First, class... Rest>
  NW_HD static constexpr uint32_t state_bytes_of(uint32_t kind) {
    if constexpr (sizeof...(Rest) != 0) {
      if (kind != 0) return state_bytes_of<Rest...>(kind - 1);
    }
    return sizeof(typename First::State);
  }

  template <class First, class... Rest>
  NW_HD NW_INLINE static StepResult step_of(uint32_t kind, const Component& c, std::byte* state,
                                            const sm::SystemView& system, const Window& window,
                                            Horizon& horizon) {
    if constexpr (sizeof...(Rest) != 0) {
      if (kind != 0) return step_of<Rest...>(kind - 1, c, state, system, window, horizon);
    }
    return First::step(at_offset<const typename First::Params>(system.arena, c.params),
                       as<typename First::State>(state), system, window, horizon);
  }

  template <class First, class... Rest>
  NW_HD static uint64_t committed_of(uint32_t kind, const std::byte* state) {
    if constexpr (sizeof...(Rest) != 0) {
      if (kind != 0) return committed_of<Rest...>(kind - 1, state);
    }
    return First::committed(*reinterpret_cast<const typename First::State*>(state));
  }
};

/// The earliest tick at which the component can have something to do: its own wake-up, or the
/// arrival of a packet that is on its way to it. (A packet that is being sent concurrently may be
/// missed; its sender notes the arrival in the horizon.)
NW_HD NW_INLINE Tick due_tick(const Component& c, std::byte* base) {
  Tick due = c.wake;
  const Ref<Channel>* input = c.inputs.in(base);
  for (const Ref<Channel>* const end = input + c.inputs.count; input != end; ++input)
    due = min_tick(due, head_arrival(*input->in(base), base));
  return due;
}

/// Step a component with one lane of a device. It is a function of its own, defined in
/// kernels/component.h, so that the models are compiled once for all the ways of stepping systems.
template <class Family>
NW_HD NW_APART StepResult step_in_lane(const Component& c, std::byte* state,
                                       const sm::SystemView& system, const Window& window,
                                       Horizon& horizon);

/// Step a component through a window. Returns the tick at which it wants to be stepped again.
template <class Family>
NW_INLINE Tick step_component(Component& c, const sm::SystemView& system, const Window& window,
                              Horizon& horizon) {
  const StepResult r = Family::step(c, system.arena + c.state, system, window, horizon);
  c.wake = r.wake;
  c.poll = r.poll;
  return r.wake;
}

}  // namespace nearwarp::kernels
