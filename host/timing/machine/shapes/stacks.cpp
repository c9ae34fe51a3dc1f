// A machine of memory stacks that compute, without a main GPU. Each stack has SMs, two crossbars,
// L2 slices, and a switch to the stack's vaults and to the other stacks. links.topology says how
// stacks are joined: by a link for each pair, by one switch with a port for each stack, or by one
// link that all share.
//
// The L2 is on the SMs' side: its slices answer for all lines that the SMs of their stack want,
// wherever these live, and fetch lines of other stacks over the links. So the SMs of each stack
// have a table of homes of their own, and all slices have one in common. A vault acknowledges a
// write to the SM itself, through the switch of the SM's stack, unless the slice keeps what is
// written; an atomic is executed by the vault (l2.atomics), or in the L2 of the SM's stack. The L2s
// become coherent where launches begin (l2.at_launch, device/cache/l2_launches.h), of which the
// front end tells them; and with "remote" a vault tells its stack's slice of lines that other
// stacks write.
//
// The machine cannot deadlock: requests wait only for slices, for request channels to other stacks
// and for vaults, vaults wait only for replies to leave, and replies are sunk by SMs and by the
// slices' fills. A link has a channel for requests and one for replies, and so have the switches
// between stacks. Packets from another stack go no further than this one's vaults, slices and SMs.
#include <fmt/format.h>

#include "host/timing/machine/shapes/shapes.h"

namespace nearwarp::sim {

namespace {

class Stacks {
 public:
  explicit Stacks(const Parts& parts) : p_(parts), m_(parts.machine), g_(parts.empty_graph()) {}

  Graph build() {
    make_classes();
    for (uint16_t k = 0; k < count(); ++k) stacks_.push_back(make_stack(k));
    front_end_ = g_.add(g_.add_class("front_end", p_.front_end()), "front end");
    for (uint32_t k = 0; k < count(); ++k) {
      link_sms(stacks_[k]);
      link_memory(k);
      set_homes(k);
    }
    link_stacks();
    return std::move(g_);
  }

 private:
  struct Stack {
    std::vector<NodeId> sms, slices, vaults;
    NodeId requests = kNoNode, replies = kNoNode, memory = kNoNode;
  };

  uint32_t count() const { return m_.stack.count; }
  uint32_t slices_each() const { return m_.l2.slices / count(); }

  void make_classes() {
    SmSpec sm = p_.main_sm();
    L2SliceSpec slice = p_.l2_slice();
    sm_homes_ = sm.homes = g_.add_homes(count(), m_.stack.vaults);
    sm.homes_by_stack = true;
    for (uint32_t k = 1; k < count(); ++k) g_.add_homes(count(), m_.stack.vaults);
    vault_homes_ = slice.homes = g_.add_homes(count(), m_.stack.vaults);
    sm_class_ = g_.add_class("sm", sm);
    l2_ = g_.add_class("l2", slice);
    VaultSpec vault = p_.vault(m_.stack.tsv_mbps);
    if (m_.l2.at_launch == "remote" && count() > 1) vault.tells = sm_homes_;
    dram_ = g_.add_class("dram", vault);
    request_crossbar_ = g_.add_class("request_crossbar", p_.network(true));
    reply_crossbar_ = g_.add_class("reply_crossbar", p_.network(false));
    switch_ = g_.add_class("stack_switch", p_.crossbar_switch(m_.stack.switch_flit_bytes));
  }

  Stack make_stack(uint16_t k) {
    Stack s;
    const auto add = [&](uint16_t node_class, const char* what, uint32_t i) {
      return g_.add(node_class, fmt::format("{} {} of stack {}", what, i, k), k);
    };
    for (uint32_t i = 0; i < m_.gpu.sms / count(); ++i) s.sms.push_back(add(sm_class_, "sm", i));
    for (uint32_t i = 0; i < slices_each(); ++i) s.slices.push_back(add(l2_, "l2 slice", i));
    for (uint32_t i = 0; i < m_.stack.vaults; ++i) s.vaults.push_back(add(dram_, "vault", i));
    s.requests = g_.add(request_crossbar_, fmt::format("request crossbar of stack {}", k), k);
    s.replies = g_.add(reply_crossbar_, fmt::format("reply crossbar of stack {}", k), k);
    s.memory = g_.add(switch_, fmt::format("switch of stack {}", k), k);
    return s;
  }

  void link_sms(const Stack& s) {
    for (uint32_t i = 0; i < s.sms.size(); ++i) {
      const End sm = g_.at(s.sms[i]), front_end = g_.at(front_end_);
      g_.link(sm, g_.at(s.requests, i), ChannelClass::kSmToNetwork, kRequests,
              p_.from_sm(p_.hop()));
      g_.link(g_.at(s.replies, i), sm, ChannelClass::kNetworkToSm, kReplies, p_.hop());
      g_.link(sm, front_end, ChannelClass::kControl, kControl, p_.control(16));
      g_.link(front_end, sm, ChannelClass::kControl, kControl, p_.control(16));
    }
    for (uint32_t i = 0; i < slices_each(); ++i) {
      g_.link(g_.at(s.requests, i), g_.at(s.slices[i]), ChannelClass::kOnChip, kRequests, p_.hop());
      g_.link(g_.at(s.slices[i]), g_.at(s.replies, i), ChannelClass::kOnChip, kReplies, p_.hop());
      if (m_.l2.at_launch == "keep" || count() == 1) continue;
      const End slice = g_.at(s.slices[i]), front_end = g_.at(front_end_);
      g_.link(front_end, slice, ChannelClass::kControl, kInvalidations,
              p_.control(2 * frontend::kMaxRunning));
      if (m_.l2.write_policy == "back")
        g_.link(slice, front_end, ChannelClass::kControl, kInvalidations, p_.control(2));
    }
    // Vaults' acknowledgements of writes go through the switch to the SMs.
    const uint32_t port = first_link() + links_each();
    g_.link(g_.at(s.memory, port), g_.at(s.replies, slices_each()), ChannelClass::kOnChip, kReplies,
            p_.hop());
  }

  /// Link the slices and vaults to the switch: its ports are those of slices, of vaults and of
  /// links to other stacks, in this order.
  void link_memory(uint32_t k) {
    const Stack& s = stacks_[k];
    const auto both_ways = [&](End at_switch, NodeId n, uint8_t towards, uint8_t back) {
      g_.link(at_switch, g_.at(n), ChannelClass::kInStack, towards, p_.in_stack());
      g_.link(g_.at(n), at_switch, ChannelClass::kInStack, back, p_.in_stack());
    };
    for (uint32_t i = 0; i < slices_each(); ++i)
      both_ways(g_.at(s.memory, i), s.slices[i], kReplies, kRequests);
    for (uint32_t v = 0; v < m_.stack.vaults; ++v)
      both_ways(g_.at(s.memory, slices_each() + v), s.vaults[v], kRequests, kReplies);
  }

  /// Link by two virtual channels, for requests and replies, which share a port and so its wire.
  void link_off_chip(End from, End to, ChannelClass kind, const Wire& wire) {
    g_.link(from, to, kind, kRequests, wire);
    g_.link(from, to, kind, kReplies, wire);
  }

  void link_stacks() {
    if (count() == 1) return;
    Wire cross = p_.off_chip(m_.links.one_way(m_.links.memory_to_memory_mbps));
    if (m_.links.topology == "pairs") {
      link_pairs(cross);
      return;
    }
    // Half of the latency lies on either side of the switch in the middle, which is
    // store-and-forward.
    Wire in = cross, plain = cross;
    in.latency = cross.latency / 2;
    cross.latency -= in.latency;
    plain.mbps = 0;
    const uint16_t between =
        g_.add_class("link_switch", p_.crossbar_switch(m_.stack.switch_flit_bytes));
    const NodeId gather = g_.add(between, "switch between stacks");
    const bool pool = m_.links.topology == "pool";
    const NodeId scatter = pool ? g_.add(between, "switch behind the shared link") : gather;
    for (uint32_t k = 0; k < count(); ++k) {
      const End port = g_.at(stacks_[k].memory, first_link());
      if (pool) {
        plain.latency = in.latency - in.latency / 2;
        link_off_chip(port, g_.at(gather, k), ChannelClass::kIntoStack, plain);
        plain.latency = in.latency / 2;
        link_off_chip(g_.at(scatter, k), port, ChannelClass::kIntoStack, plain);
      } else {
        link_off_chip(port, g_.at(gather, k), ChannelClass::kMemoryToMemory, cross);
        link_off_chip(g_.at(gather, k), port, ChannelClass::kIntoStack, in);
      }
    }
    if (pool) link_off_chip(g_.at(gather), g_.at(scatter), ChannelClass::kMemoryToMemory, cross);
  }

  void link_pairs(const Wire& wire) {
    const auto link_of = [&](uint32_t a, uint32_t b) {
      return g_.at(stacks_[a].memory, first_link() + (b < a ? b : b - 1));
    };
    for (uint32_t a = 0; a < count(); ++a)
      for (uint32_t b = 0; b < count(); ++b)
        if (a != b)
          link_off_chip(link_of(a, b), link_of(b, a), ChannelClass::kMemoryToMemory, wire);
  }

  /// The first of a switch's ports to other stacks, and how many of them there are.
  uint32_t first_link() const { return slices_each() + m_.stack.vaults; }
  uint32_t links_each() const {
    return count() == 1 ? 0 : m_.links.topology == "pairs" ? count() - 1 : 1;
  }

  void set_homes(uint32_t k) {
    for (uint32_t o = 0; o < count(); ++o)
      for (uint32_t v = 0; v < m_.stack.vaults; ++v)
        g_.set_home(sm_homes_ + k, o, v, stacks_[k].slices[v % slices_each()]);
    for (uint32_t v = 0; v < m_.stack.vaults; ++v)
      g_.set_home(vault_homes_, k, v, stacks_[k].vaults[v]);
  }

  const Parts& p_;
  const config::MachineConfig& m_;
  Graph g_;
  std::vector<Stack> stacks_;
  uint16_t sm_class_ = 0, l2_ = 0, dram_ = 0, switch_ = 0;
  uint16_t request_crossbar_ = 0, reply_crossbar_ = 0;
  NodeId front_end_ = kNoNode;
  uint32_t sm_homes_ = 0, vault_homes_ = 0;
};

}  // namespace

Graph make_stacks(const Parts& parts) { return Stacks(parts).build(); }

}  // namespace nearwarp::sim
