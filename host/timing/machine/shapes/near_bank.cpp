// Cores below banks of their own: processors, each a die of cores under dies of DRAM, in rows and
// columns; cores in rows and columns on each. A core is an SM, a router, and TSVs to its groups of
// banks ("units"), each with a controller. There are no caches but the SMs'.
//
// Routers make one mesh, whose wires within a die are on-chip buses and between dies parts of the
// off-chip link that two neighbouring processors have: as many as there are cores side by side,
// with equal shares of its bandwidth. A router moves whole packets. What lies on a die and above it
// is stepped as a cluster: TSVs are shorter than windows should be.
//
// The address map's stacks are the cores, its vaults their units.
//
// No deadlock: requests and replies have channels of their own on every wire, requests wait only
// for units and these only for replies to leave, which SMs sink; and packets go along the row
// first: the ways found are shortest ones, and of two a router takes that with the lower port.
#include <fmt/format.h>

#include "host/timing/machine/shapes/shapes.h"

namespace nearwarp::sim {

namespace {

class NearBank {
 public:
  explicit NearBank(const Parts& parts)
      : p_(parts), m_(parts.machine), n_(m_.near_bank), g_(parts.empty_graph()) {
    const uint32_t cores = m_.gpu.sms / n_.processors;
    core_rows_ = cores / n_.cores_per_row;
    width_ = n_.processors_per_row * n_.cores_per_row;
    height_ = m_.gpu.sms / width_;
  }

  Graph build() {
    make_classes();
    for (uint16_t c = 0; c < m_.gpu.sms; ++c) cores_.push_back(make_core(c));
    for (uint32_t y = 0; y < height_; ++y)
      for (uint32_t x = 0; x < width_; ++x) place_router(x, y);
    for (const Core& core : cores_) link_core(core);
    return std::move(g_);
  }

 private:
  struct Core {
    NodeId sm = kNoNode, router = kNoNode, tsvs = kNoNode;
    std::vector<NodeId> units;
  };

  void make_classes() {
    SmSpec sm = p_.main_sm();
    homes_ = sm.homes = g_.add_homes(m_.gpu.sms, n_.units);
    sm_class_ = g_.add_class("sm", sm);
    dram_ = g_.add_class("dram", p_.vault(n_.unit_mbps));
    router_ = g_.add_class("router", p_.crossbar_switch(m_.interconnect.flit_bytes));
    tsvs_ = g_.add_class("stack_switch", p_.crossbar_switch(n_.tsv_bytes));
    front_end_ = g_.add(g_.add_class("front_end", p_.front_end()), "front end");
  }

  /// Cores are numbered processor by processor, row by row.
  Core make_core(uint16_t c) {
    Core core;
    core.sm = g_.add(sm_class_, fmt::format("core {}", c), c);
    core.router = g_.add(router_, fmt::format("router of core {}", c), c);
    core.tsvs = g_.add(tsvs_, fmt::format("TSVs of core {}", c), c);
    for (uint32_t u = 0; u < n_.units; ++u) {
      core.units.push_back(g_.add(dram_, fmt::format("unit {} of core {}", u, c), c));
      g_.set_home(homes_, c, u, core.units.back());
    }
    for (const NodeId n : {core.sm, core.router, core.tsvs}) step_with_die(n, c);
    for (const NodeId n : core.units) step_with_die(n, c);
    return core;
  }

  void step_with_die(NodeId node, uint32_t core) {
    g_.nodes[node].cluster = static_cast<uint16_t>(processor_of(core) + 1);
  }
  uint32_t processor_of(uint32_t core) const { return core * n_.processors / m_.gpu.sms; }
  uint32_t core_at(uint32_t x, uint32_t y) const {
    const uint32_t processor = y / core_rows_ * n_.processors_per_row + x / n_.cores_per_row;
    return (processor * core_rows_ + y % core_rows_) * n_.cores_per_row + x % n_.cores_per_row;
  }

  /// Linked to its neighbours, those of the row at the lower ports.
  void place_router(uint32_t x, uint32_t y) {
    Node& router = g_.nodes[cores_[core_at(x, y)].router];
    router.x = static_cast<uint16_t>(x);
    router.y = static_cast<uint16_t>(y);
    if (x + 1 < width_) join(core_at(x, y), core_at(x + 1, y), core_rows_);
    if (x > 0) join(core_at(x, y), core_at(x - 1, y), core_rows_);
    if (y + 1 < height_) join(core_at(x, y), core_at(x, y + 1), n_.cores_per_row);
    if (y > 0) join(core_at(x, y), core_at(x, y - 1), n_.cores_per_row);
  }
  /// One way; `shares` of an off-chip link.
  void join(uint32_t a, uint32_t b, uint32_t shares) {
    const bool same_die = processor_of(a) == processor_of(b);
    const Wire wire = same_die
                          ? Wire{m_.interconnect.router_latency_cycles * p_.icnt_period,
                                 m_.interconnect.queue_entries, 0}
                          : p_.off_chip(m_.links.one_way(m_.links.memory_to_memory_mbps) / shares);
    const ChannelClass kind = same_die ? ChannelClass::kOnChip : ChannelClass::kMemoryToMemory;
    const End from = g_.next_out(cores_[a].router), to = g_.next_in(cores_[b].router);
    g_.link(from, to, kind, kRequests, wire);
    g_.link(from, to, kind, kReplies, wire);
  }

  void link_core(const Core& core) {
    const End sm = g_.at(core.sm), front_end = g_.at(front_end_);
    g_.link(sm, g_.next_in(core.router), ChannelClass::kSmToNetwork, kRequests,
            p_.from_sm(p_.hop()));
    g_.link(g_.next_out(core.router), sm, ChannelClass::kNetworkToSm, kReplies, p_.hop());
    g_.link(sm, front_end, ChannelClass::kControl, kControl, p_.control(16));
    g_.link(front_end, sm, ChannelClass::kControl, kControl, p_.control(16));
    const Wire tsv{n_.tsv_latency_cycles * p_.icnt_period, n_.queue_entries, 0};
    const auto link = [&](End from, End to, uint8_t carries) {
      g_.link(from, to, ChannelClass::kInStack, carries, tsv);
    };
    link(g_.next_out(core.router), g_.at(core.tsvs, 0), kRequests);
    link(g_.at(core.tsvs, 0), g_.next_in(core.router), kReplies);
    // Replies of the core's own banks come straight down; the TSVs are the same.
    g_.link(g_.at(core.tsvs, 0), sm, ChannelClass::kBanksToSm, kReplies | kOwn, tsv);
    for (const NodeId unit : core.units) {  // all units share the TSVs
      link(g_.at(core.tsvs, 1), g_.at(unit), kRequests);
      link(g_.at(unit), g_.at(core.tsvs, 1), kReplies);
    }
  }

  const Parts& p_;
  const config::MachineConfig& m_;
  const config::MachineConfig::NearBank& n_;
  Graph g_;
  uint32_t core_rows_ = 1, width_ = 1, height_ = 1;
  std::vector<Core> cores_;
  uint16_t sm_class_ = 0, dram_ = 0, router_ = 0, tsvs_ = 0;
  NodeId front_end_ = kNoNode;
  uint32_t homes_ = 0;
};

}  // namespace

Graph make_near_bank(const Parts& parts) { return NearBank(parts).build(); }

}  // namespace nearwarp::sim
