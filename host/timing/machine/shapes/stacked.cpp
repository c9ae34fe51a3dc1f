// A main GPU with memory stacks: SMs, two crossbars, L2 slices in front of the off-chip links, a
// link port for each stack, and stacks that consist of a switch and vaults. Mechanisms that compute
// in the stacks add their parts.
//
// The SMs of a cluster share a port of the request crossbar, which leads to the slices and, for
// packets to a stack itself, to the link ports. Replies of both come back through the reply
// crossbar: a vault answers writes and atomics of an SM past the slice, through the link port.
//
// No deadlock: requests wait only for vaults and cross-stack request channels, vaults wait only for
// reply channels, and replies wait only for SMs, L2 slices' fills and the RX link, all of which
// sink them without sending a request first. Requests and replies never share an input channel of a
// switch, except for channels of stack SMs, which sink both.
#include <fmt/format.h>

#include "host/timing/machine/shapes/shapes.h"

namespace nearwarp::sim {

namespace {

class Stacked {
 public:
  explicit Stacked(const Parts& parts) : p_(parts), m_(parts.machine), g_(parts.empty_graph()) {}

  Graph build() {
    make_nodes(p_.needs.stacks_compute ? m_.gpu.sms_with_ndp : m_.gpu.sms);
    link_gpu();
    for (uint32_t k = 0; k < m_.stack.count; ++k) link_stack(k);
    set_homes();
    return std::move(g_);
  }

 private:
  uint32_t slices_per_stack() const { return m_.l2.slices / m_.stack.count; }

  void make_nodes(uint32_t sms) {
    SmSpec sm = p_.main_sm();
    L2SliceSpec slice = p_.l2_slice();
    slice_homes_ = sm.homes = g_.add_homes(m_.stack.count, m_.stack.vaults);
    n_.vault_homes = slice.homes = g_.add_homes(m_.stack.count, m_.stack.vaults);
    n_.sm_class = g_.add_class("sm", sm);
    const uint16_t l2 = g_.add_class("l2", slice);
    const uint16_t dram = g_.add_class("dram", p_.vault(m_.stack.tsv_mbps));
    n_.port_class = g_.add_class("link_port", p_.link_port());
    n_.switch_class = g_.add_class("stack_switch", p_.crossbar_switch(m_.stack.switch_flit_bytes));
    n_.front_end_class = g_.add_class("front_end", p_.front_end());
    const auto stack_of = [&](uint32_t i, uint32_t each) {
      return static_cast<uint16_t>(i / each);
    };
    for (uint32_t i = 0; i < sms; ++i)
      n_.sms.push_back(g_.add(n_.sm_class, fmt::format("sm {}", i)));
    for (uint32_t i = 0; i < m_.l2.slices; ++i)
      n_.slices.push_back(
          g_.add(l2, fmt::format("l2 slice {}", i), stack_of(i, slices_per_stack())));
    for (uint16_t k = 0; k < m_.stack.count; ++k)
      for (uint32_t v = 0; v < m_.stack.vaults; ++v)
        vaults_.push_back(g_.add(dram, fmt::format("vault {} of stack {}", v, k), k));
    for (uint16_t k = 0; k < m_.stack.count; ++k)
      n_.ports.push_back(g_.add(n_.port_class, fmt::format("link port {}", k), k));
    for (uint16_t k = 0; k < m_.stack.count; ++k)
      n_.switches.push_back(g_.add(n_.switch_class, fmt::format("switch of stack {}", k), k));
    n_.request_network =
        g_.add(g_.add_class("request_crossbar", p_.network(true)), "request crossbar");
    n_.reply_network = g_.add(g_.add_class("reply_crossbar", p_.network(false)), "reply crossbar");
    n_.front_end = g_.add(n_.front_end_class, "front end");
  }

  void link_gpu() {
    const Wire hop = p_.hop(), control = p_.control(16);
    for (uint32_t i = 0; i < n_.sms.size(); ++i) {
      const End sm = g_.at(n_.sms[i]), front_end = g_.at(n_.front_end);
      const uint32_t port = p_.cluster_of(i);
      g_.link(sm, g_.at(n_.request_network, port), ChannelClass::kSmToNetwork, kRequests,
              p_.from_sm(hop));
      g_.link(g_.at(n_.reply_network, port), sm, ChannelClass::kNetworkToSm, kReplies, hop);
      g_.link(sm, front_end, ChannelClass::kControl, kControl, control);
      g_.link(front_end, sm, ChannelClass::kControl, kControl, control);
    }
    const auto slices = static_cast<uint32_t>(n_.slices.size());
    for (uint32_t i = 0; i < slices; ++i) {
      const End slice = g_.at(n_.slices[i]);
      const End port = g_.at(n_.ports[i / slices_per_stack()], i % slices_per_stack());
      on_chip(g_.at(n_.request_network, i), slice, kRequests);
      on_chip(slice, g_.at(n_.reply_network, i), kReplies);
      on_chip(slice, port, kRequests);
      on_chip(port, slice, kReplies);
    }
    for (uint32_t k = 0; k < n_.ports.size(); ++k) {
      const End port = g_.at(n_.ports[k], slices_per_stack());
      on_chip(g_.at(n_.request_network, slices + k), port, kRequests);
      on_chip(port, g_.at(n_.reply_network, slices + k), kReplies);
    }
  }

  void on_chip(End from, End to, uint8_t carries) {
    g_.link(from, to, ChannelClass::kOnChip, carries, p_.hop());
  }

  void link_stack(uint32_t k) {
    const Wire link = p_.off_chip(m_.links.one_way(m_.links.gpu_to_memory_mbps));
    const NodeId port = n_.ports[k], sw = n_.switches[k];
    g_.link(g_.at(port, slices_per_stack() + 1), g_.at(sw, 0), ChannelClass::kGpuToMemory,
            kRequests, link);
    g_.link(g_.at(sw, 0), g_.at(port, slices_per_stack() + 1), ChannelClass::kMemoryToGpu, kReplies,
            link);
    // Each pair of stacks has a link with two virtual channels, which share a port and so its wire.
    const Wire cross = p_.off_chip(m_.links.one_way(m_.links.memory_to_memory_mbps));
    const auto place_among_others = [](uint32_t of, uint32_t at) {
      return 1 + (of < at ? of : of - 1);
    };
    for (uint32_t o = 0; o < m_.stack.count; ++o) {
      if (o == k) continue;
      const End from = g_.at(sw, place_among_others(o, k));
      const End to = g_.at(n_.switches[o], place_among_others(k, o));
      g_.link(from, to, ChannelClass::kMemoryToMemory, kRequests, cross);
      g_.link(from, to, ChannelClass::kMemoryToMemory, kReplies, cross);
    }
    for (uint32_t v = 0; v < m_.stack.vaults; ++v) {
      const End vault = g_.at(vaults_[k * m_.stack.vaults + v]);
      const End at_switch = g_.at(sw, m_.stack.count + v);
      g_.link(at_switch, vault, ChannelClass::kInStack, kRequests, p_.in_stack());
      g_.link(vault, at_switch, ChannelClass::kInStack, kReplies, p_.in_stack());
    }
  }

  /// Deal the vaults of each stack evenly to the slices in front of it.
  void set_homes() {
    for (uint32_t k = 0; k < m_.stack.count; ++k)
      for (uint32_t v = 0; v < m_.stack.vaults; ++v) {
        const uint32_t slice = k * slices_per_stack() + v % slices_per_stack();
        g_.set_home(slice_homes_, k, v, n_.slices[slice]);
        g_.set_home(n_.vault_homes, k, v, vaults_[k * m_.stack.vaults + v]);
      }
  }

  const Parts& p_;
  const config::MachineConfig& m_;
  Graph g_;
  struct {
    uint16_t sm_class = 0, switch_class = 0, port_class = 0, front_end_class = 0;
    uint32_t vault_homes = 0;
    NodeId request_network = kNoNode, reply_network = kNoNode, front_end = kNoNode;
    std::vector<NodeId> sms, slices, ports, switches;
  } n_;
  std::vector<NodeId> vaults_;
  uint32_t slice_homes_ = 0;
};

}  // namespace

Graph make_stacked(const Parts& parts) { return Stacked(parts).build(); }

}  // namespace nearwarp::sim
