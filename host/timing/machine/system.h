// A simulated system: all components of a machine under a policy, laid out in one arena.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/core/arena.h"
#include "host/config/machine.h"
#include "host/config/policy.h"
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
  bool learning = false;    ///< there is a learning phase, and the CPU's memory for it
};

struct System {
  ArenaBuilder arena;
  Endpoints ends;
  Ref<kernels::Component> table;     ///< by endpoint; in the arena, so that the arena is all state
  std::vector<ComponentName> names;  ///< by endpoint
  std::vector<ChannelInfo> channels;
  Tick window = 1;  ///< W: the shortest latency of any channel or credit that leaves a cluster
  uint64_t base_mhz = 1;  ///< ticks per microsecond
  uint32_t core_period = 1;
  MemoryMap map;  ///< of every component

  kernels::Component& component(uint32_t endpoint) { return arena.get(table)[endpoint]; }
  std::span<kernels::Component> components() { return {arena.get(table), table.count}; }
  /// A main SM.
  sm::SmState& sm(uint32_t i) { return state<sm::SmState>(i); }
  frontend::FrontEndState& front_end() { return state<frontend::FrontEndState>(ends.front_end); }
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

/// What a program's data asks of the machine that it is to run on.
struct DataPlan {
  std::vector<offload::LineRange> ranges;  ///< memory allocation table, by address, disjoint
  uint64_t learning_instances = 0;         ///< the learning phase ends with this one; 0: none
};

/// Lay out a machine. Throws nearwarp::Error for combinations that cannot be built.
System build_system(const config::MachineConfig& machine, const config::PolicyConfig& policy,
                    const ImageTables& image, const DataPlan& data);

/// Warp-instructions committed so far by all SMs (what was executed twice counts once).
uint64_t committed_instructions(System& system);

}  // namespace nearwarp::sim
