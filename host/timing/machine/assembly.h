// Assembly of a system: the state that its steps share. Each step has a file:
// assemble_channels.cpp, assemble_sms.cpp, assemble_networks.cpp, assemble_memory.cpp; system.cpp
// puts them in order.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <vector>

#include "host/config/config.h"
#include "host/timing/machine/system.h"

namespace nearwarp::sim {

/// Of a power of two.
inline uint32_t log2_exact(uint32_t n) { return static_cast<uint32_t>(std::countr_zero(n)); }

/// Builds the parts in an order in which every channel exists before its users.
class Assembly {
 public:
  Assembly(const config::MachineConfig& machine, const ImageTables& image,
           const MachineNeeds& needs, System& system)
      : m_(machine), image_(image), needs_(needs), s_(system) {}

  void build();

 private:
  using MachineConfig = config::MachineConfig;
  using Component = kernels::Component;
  using ComponentKind = kernels::ComponentKind;

  uint32_t period(uint32_t mhz) const { return static_cast<uint32_t>(s_.base_mhz / mhz); }
  Tick ns_ticks(uint64_t ns) const { return ns * s_.base_mhz / 1000; }
  uint32_t slices_per_stack() const { return s_.ends.num_slices / s_.ends.num_stacks; }
  void number_endpoints();
  void make_map();

  // --- assemble_channels.cpp ---

  struct Wire {
    uint32_t latency = 0;  ///< ticks, both ways
    uint32_t slots = 0;
    uint32_t mbps = 0;  ///< 0: unlimited
  };

  Ref<Channel> channel(uint32_t producer, uint32_t consumer, ChannelClass kind, const Wire& wire);
  Wire hop() const {
    return {m_.interconnect.channel_latency_cycles * icnt_, m_.interconnect.queue_entries, 0};
  }
  Wire in_stack() const {
    return {m_.stack.switch_latency_cycles * icnt_, m_.stack.queue_entries, 0};
  }
  Wire link(uint32_t mbps) const {
    return {m_.links.latency_cycles * icnt_, m_.links.queue_entries, mbps};
  }
  Wire pcie() const;
  Wire control(uint32_t slots) const { return {m_.gpu.control_latency_cycles * icnt_, slots, 0}; }
  void make_channels();

  // --- components ---

  template <class P>
  uint32_t store(const P& value) {
    const Ref<P> ref = s_.arena.allocate<P>(1);
    *s_.arena.get(ref) = value;
    return ref.offset;
  }

  template <class P, class S>
  void add(uint32_t endpoint, ComponentKind kind, const P& params, const S& state,
           std::span<const Ref<Channel>> inputs, std::string name) {
    Component c;
    c.kind = kind;
    c.params = store(params);
    c.state = store(state);
    c.inputs = s_.arena.allocate<Ref<Channel>>(static_cast<uint32_t>(inputs.size()));
    std::copy(inputs.begin(), inputs.end(), s_.arena.get(c.inputs));
    s_.component(endpoint) = c;
    s_.names[endpoint].name = std::move(name);
  }

  // --- assemble_sms.cpp ---

  sm::SmParams sm_params(bool in_stack_sm) const;
  template <uint32_t kWords>
  sm::SmStateOf<kWords> sm_state(const sm::SmParams& p, uint32_t endpoint);
  void make_sms();
  template <uint32_t kWords>
  void make_stack_sm(ComponentKind kind, const sm::SmParams& p, uint32_t i);
  void make_front_end();

  // --- assemble_networks.cpp ---

  SwitchParams switch_params(uint32_t flit_bytes, uint32_t endpoint) const;
  static std::vector<Ref<Channel>> channels_of(const std::vector<SwitchLink>& links);
  /// SM channels, with the SMs of a cluster on one port.
  std::vector<SwitchLink> by_cluster(const std::vector<Ref<Channel>>& channels) const;
  /// Slice channels and link-port channels, each on a port of its own.
  static std::vector<SwitchLink> one_by_one(const std::vector<Ref<Channel>>& slices,
                                            const std::vector<Ref<Channel>>& ports);
  void add_switch(uint32_t endpoint, const SwitchParams& p, const SwitchState& s,
                  const std::vector<SwitchLink>& in, std::string name);
  /// A network between channels, by the machine's topology; `routes(params, state)` sets its
  /// routes.
  template <class Routes>
  void add_network(uint32_t endpoint, const std::vector<SwitchLink>& in,
                   const std::vector<SwitchLink>& out, bool from_sms, std::string name,
                   Routes&& routes);
  void make_crossbars();
  void make_port(uint32_t k);

  // --- assemble_memory.cpp ---

  void make_slice(uint32_t i);
  void make_host_memory();
  bool is_stack_sm(uint32_t x) const {
    return s_.ends.offloading && x >= s_.ends.first_stack_sm &&
           x < uint32_t{s_.ends.first_stack_sm} + s_.ends.num_stacks;
  }
  bool is_vault(uint32_t x) const {
    return x >= s_.ends.first_vault &&
           x < s_.ends.first_vault + s_.ends.num_stacks * s_.ends.vaults_per_stack;
  }
  /// The stack that holds endpoint `x` (a vault or a stack SM).
  uint32_t stack_of(uint32_t x) const {
    return is_vault(x) ? (x - s_.ends.first_vault) / s_.ends.vaults_per_stack
                       : x - s_.ends.first_stack_sm;
  }
  void make_stack(uint32_t k);
  void make_vault_at(uint32_t endpoint, uint32_t stack, uint32_t vault, Ref<Channel> in,
                     Ref<Channel> out);

  const MachineConfig& m_;
  const ImageTables& image_;
  const MachineNeeds& needs_;
  System& s_;
  uint32_t icnt_ = 1;  ///< ticks per interconnect cycle
  Ref<Channel> to_host_, from_host_;
  std::vector<Ref<Channel>> sm_out_, sm_in_, control_out_, control_in_, invalidate_out_;
  std::vector<Ref<Channel>> slice_request_, slice_reply_, slice_to_port_, port_to_slice_,
      slice_invalidate_;
  std::vector<Ref<Channel>> port_request_, port_reply_, port_control_, tx_, rx_;
  std::vector<Ref<Channel>> stack_sm_out_, stack_sm_in_, cross_request_, cross_reply_;
};

}  // namespace nearwarp::sim
