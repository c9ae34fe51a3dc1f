// A simulated system: all components of a machine, laid out in one arena.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/core/arena.h"
#include "host/config/machine.h"
#include "host/timing/program/image_builder.h"
#include "kernels/component.h"

namespace nearwarp::sim {

/// What a channel is for; counters and reports are grouped by it.
enum class ChannelClass : uint8_t {
  kSmToNetwork,
  kNetworkToSm,
  kControl,
  kOnChip,  ///< crossbar - slice - link port
  kInvalidation,
  kGpuToMemory,     ///< TX links
  kMemoryToGpu,     ///< RX links
  kMemoryToMemory,  ///< cross-stack links
  kInStack,         ///< switch - vault, switch - stack SM
  kPcie,            ///< crossbars - the CPU's memory
};

struct ChannelInfo {
  Ref<Channel> channel;
  ChannelClass kind = ChannelClass::kOnChip;
};

struct ComponentName {
  std::string name;  ///< e.g. "sm 3", "vault 17 (stack 1)"
};

/// Endpoint numbers; a component's endpoint is its index in the component table.
struct Endpoints {
  uint32_t num_sms = 0, num_stacks = 0, num_slices = 0, vaults_per_stack = 0;
  uint16_t first_sm = 0, first_stack_sm = 0, first_slice = 0, first_vault = 0, first_port = 0,
           first_switch = 0, request_crossbar = 0, reply_crossbar = 0, invalidation_crossbar = 0,
           host_memory = 0, front_end = 0, count = 0;
  bool offloading = false;  ///< there are stack SMs and an invalidation network
  bool learning = false;    ///< there is the CPU's memory
};

struct System {
  ArenaBuilder arena;
  Endpoints ends;
  Ref<kernels::Component> table;     ///< by endpoint; in the arena, so that the arena is all state
  std::vector<ComponentName> names;  ///< by endpoint
  std::vector<ChannelInfo> channels;
  Tick window = 1;        ///< W: the shortest latency of any channel or credit
  uint64_t base_mhz = 1;  ///< ticks per microsecond
  uint32_t core_period = 1;
  MemoryMap map;                            ///< of every component
  std::vector<Ref<Channel>> invalidations;  ///< by main SM: to the L2 slices; with stack SMs only

  kernels::Component& component(uint32_t endpoint) { return arena.get(table)[endpoint]; }
  std::span<kernels::Component> components() { return {arena.get(table), table.count}; }
  /// A main SM.
  sm::SmState& sm(uint32_t i) { return state<sm::SmState>(i); }
  frontend::FrontEndState& front_end() { return state<frontend::FrontEndState>(ends.front_end); }
  template <class P>
  P& params(uint32_t endpoint) {
    return kernels::at_offset<P>(arena.base(), component(endpoint).params);
  }
  template <class S>
  S& state(uint32_t endpoint) {
    return kernels::at_offset<S>(arena.base(), component(endpoint).state);
  }
};

/// f(state) for the SM at `endpoint`, which may be of either width: f takes an `auto&`.
template <class F>
decltype(auto) with_sm(System& system, uint32_t endpoint, F&& f) {
  if (system.component(endpoint).kind == kernels::ComponentKind::kWideSm)
    return f(system.state<sm::WideSmState>(endpoint));
  return f(system.state<sm::SmState>(endpoint));
}

/// What mechanisms ask of the machine that they are to run on.
struct MachineNeeds {
  bool stack_sms =
      false;  ///< SMs in the stacks, monitors of their links, invalidations of L2 lines
  bool host_memory = false;  ///< the CPU's memory
  bool all_local = false;    ///< stack SMs find all data in their own stack: a bound, not a design
  bool own_mapping = false;  ///< pages may get an address map other than the baseline's ...
  uint64_t remapped_lines = 0;  ///< ... those of the first so many lines

  void add(const MachineNeeds& n) {
    stack_sms |= n.stack_sms;
    host_memory |= n.host_memory;
    all_local |= n.all_local;
    own_mapping |= n.own_mapping;
    remapped_lines = std::max(remapped_lines, n.remapped_lines);
  }
};

/// Lay out a machine. Throws nearwarp::Error for combinations that cannot be built.
System build_system(const config::MachineConfig& machine, const ImageTables& image,
                    const MachineNeeds& needs);

/// Warp-instructions committed so far by all SMs (what was executed twice counts once).
uint64_t committed_instructions(System& system);

}  // namespace nearwarp::sim
