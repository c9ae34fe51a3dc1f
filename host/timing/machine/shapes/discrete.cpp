// A plain discrete GPU: SMs, two crossbars, and memory partitions. A partition has L2 slices and
// memory channels with a switch between them, since a slice may reach every channel of its
// partition, and a channel acknowledges writes to the SMs themselves. These acknowledgements leave
// through the crossbar port of the partition's first slice.
//
// With l2.link_latency_cycles the GPU has two halves with two crossbars each, and links between
// crossbars of the same kind. Packets from a link go on to slices or SMs, so links wait for no
// other links. With l2.link_copies SMs use slices of their own half only, and each slice has a link
// to its twin, the slice with the same place in the other half (device/cache/l2_halves.h).
//
// No deadlock: requests wait only for slices and channels, channels wait only for replies to leave,
// and replies are sunk by SMs and by the slices' fills.
#include <fmt/format.h>

#include <algorithm>

#include "host/timing/machine/shapes/shapes.h"

namespace nearwarp::sim {

namespace {

class Discrete {
 public:
  explicit Discrete(const Parts& parts) : p_(parts), m_(parts.machine), g_(parts.empty_graph()) {}

  Graph build() {
    make_nodes();
    for (uint32_t i = 0; i < sms_.size(); ++i) link_sm(i);
    if (p_.has_gpcs()) link_gpcs();
    for (uint32_t k = 0; k < m_.partitions.count; ++k) {
      link_partition(k);
      set_homes(k);
    }
    if (m_.l2.link_copies) {
      link_twins();
    } else if (halves() == 2) {
      link_halves();
    }
    return std::move(g_);
  }

 private:
  uint32_t slices_each() const { return m_.l2.slices / m_.partitions.count; }
  uint32_t channels_each() const { return m_.partitions.channels; }
  uint32_t halves() const { return m_.l2.link_latency_cycles != 0 ? 2 : 1; }
  uint32_t sm_ports() const {
    return (m_.gpu.sms + m_.gpu.sms_per_cluster - 1) / m_.gpu.sms_per_cluster;
  }
  /// The first of `count` slices, or ports, that is in the second half.
  uint32_t first_of_second(uint32_t count) const { return halves() == 2 ? (count + 1) / 2 : count; }
  /// The crossbar port of the i-th of `count` slices, or SM ports, in its half.
  End at_half(const NodeId (&crossbars)[2], uint32_t count, uint32_t i) const {
    const uint32_t second = first_of_second(count);
    return i < second ? g_.at(crossbars[0], i) : g_.at(crossbars[1], i - second);
  }
  /// The number of lanes by which the lines of a partition are dealt to its slices and channels.
  uint32_t lanes() const { return std::max(slices_each(), channels_each()); }

  void make_nodes() {
    SmSpec sm = p_.main_sm();
    L2SliceSpec slice = p_.l2_slice();
    slice_homes_ = sm.homes = g_.add_homes(m_.partitions.count, lanes());
    if (m_.l2.link_copies) {
      g_.add_homes(m_.partitions.count, lanes());  // the table for SMs of the second half
      sm.first_of_second_half = slice.sms_of_first_half =
          std::min(first_of_second(sm_ports()) * m_.gpu.sms_per_cluster, m_.gpu.sms);
    }
    channel_homes_ = slice.homes = g_.add_homes(m_.partitions.count, lanes());
    const uint16_t sm_class = g_.add_class("sm", sm);
    const uint16_t l2 = g_.add_class("l2", slice);
    const uint16_t dram = g_.add_class("dram", p_.vault(m_.partitions.channel_mbps));
    const uint16_t partition =
        g_.add_class("partition", p_.crossbar_switch(m_.partitions.flit_bytes));
    for (uint32_t i = 0; i < m_.gpu.sms; ++i)
      sms_.push_back(g_.add(sm_class, fmt::format("sm {}", i)));
    for (uint16_t k = 0; k < m_.partitions.count; ++k) {
      for (uint32_t i = 0; i < slices_each(); ++i)
        slices_.push_back(g_.add(l2, fmt::format("l2 slice {} of partition {}", i, k), k));
      for (uint32_t i = 0; i < channels_each(); ++i)
        channels_.push_back(
            g_.add(dram, fmt::format("memory channel {} of partition {}", i, k), k));
      partitions_.push_back(g_.add(partition, fmt::format("switch of partition {}", k), k));
    }
    for (const bool from_sms : {true, false}) {
      const std::string name = from_sms ? "request" : "reply";
      const uint16_t of_class = g_.add_class(name + "_crossbar", p_.network(from_sms));
      for (uint32_t half = 0; half < halves(); ++half)
        (from_sms ? requests_ : replies_)[half] = g_.add(
            of_class, name + " crossbar" + (halves() == 2 ? fmt::format(" of half {}", half) : ""));
    }
    front_end_ = g_.add(g_.add_class("front_end", p_.front_end()), "front end");
  }

  void link_sm(uint32_t i) {
    const End sm = g_.at(sms_[i]), front_end = g_.at(front_end_);
    const uint32_t port = p_.cluster_of(i);
    g_.link(sm, at_half(requests_, sm_ports(), port), ChannelClass::kSmToNetwork, kRequests,
            p_.from_sm(p_.hop()));
    g_.link(at_half(replies_, sm_ports(), port), sm, ChannelClass::kNetworkToSm, kReplies,
            p_.hop());
    g_.link(sm, front_end, ChannelClass::kControl, kControl, p_.control(16));
    g_.link(front_end, sm, ChannelClass::kControl, kControl, p_.control(16));
  }

  /// Add the networks of each GPC through which SMs access shared memory of other thread blocks of
  /// a cluster: one for requests, and one for replies, which SMs sink.
  void link_gpcs() {
    SwitchSpec spec = p_.crossbar_switch(m_.lsu.remote_shared_bytes);
    spec.params.period = p_.core_period;
    for (const auto& [name, carries] :
         {std::pair{"cluster_requests", kRequests}, std::pair{"cluster_replies", kReplies}}) {
      const uint16_t of_class = g_.add_class(name, spec);
      std::vector<NodeId> networks;
      for (uint32_t k = 0; k < m_.gpu.gpcs; ++k)
        networks.push_back(g_.add(of_class, fmt::format("{} of GPC {}", name, k)));
      for (uint32_t i = 0; i < sms_.size(); ++i) {
        const NodeId network = networks[p_.gpc_of(i)];
        const uint8_t own = static_cast<uint8_t>(carries | kOwn);
        g_.link(g_.at(sms_[i]), g_.next_in(network), ChannelClass::kCluster, own, p_.in_gpc());
        g_.link(g_.next_out(network), g_.at(sms_[i]), ChannelClass::kCluster, own, p_.in_gpc());
      }
    }
    if (p_.image.has_copies) link_shared_lines();
  }

  /// Add the networks for lines that an SM's copy engine multicasts to other SMs of its GPC. They
  /// take one line per cycle from each SM, and deliver lines to an SM as fast as the GPU's network
  /// does (estimated).
  void link_shared_lines() {
    SwitchSpec spec = p_.crossbar_switch(m_.l1.line_bytes);
    spec.params.period = p_.core_period;
    const uint16_t of_class = g_.add_class("cluster_lines", spec);
    const NodeId first = static_cast<NodeId>(g_.nodes.size());
    for (uint32_t k = 0; k < m_.gpu.gpcs; ++k)
      g_.add(of_class, fmt::format("shared lines of GPC {}", k));
    const Wire out = p_.in_gpc();
    Wire in = out;
    in.mbps = p_.share_of_port();
    for (uint32_t i = 0; i < sms_.size(); ++i) {
      const NodeId network = static_cast<NodeId>(first + p_.gpc_of(i));
      const auto own = static_cast<uint8_t>(kReplies | kOwn);
      g_.link(g_.at(sms_[i]), g_.next_in(network), ChannelClass::kSharedLines, own, out);
      g_.link(g_.next_out(network), g_.at(sms_[i]), ChannelClass::kSharedLines, own, in);
    }
  }

  void link_partition(uint32_t k) {
    const NodeId partition = partitions_[k];
    const Wire inside = p_.in_partition();
    for (uint32_t i = 0; i < slices_each(); ++i) {
      const uint32_t number = k * slices_each() + i;
      const End slice = g_.at(slices_[number]), at_switch = g_.at(partition, i);
      on_chip(at_half(requests_, m_.l2.slices, number), slice, kRequests, p_.hop());
      on_chip(slice, at_half(replies_, m_.l2.slices, number), kReplies, p_.hop());
      on_chip(slice, at_switch, kRequests, inside);
      on_chip(at_switch, slice, kReplies, inside);
    }
    for (uint32_t c = 0; c < channels_each(); ++c) {
      const End channel = g_.at(channels_[k * channels_each() + c]);
      const End at_switch = g_.at(partition, slices_each() + c);
      on_chip(at_switch, channel, kRequests, inside);
      on_chip(channel, at_switch, kReplies, inside);
    }
    on_chip(g_.next_out(partition), at_half(replies_, m_.l2.slices, k * slices_each()), kReplies,
            p_.hop());
  }

  /// Link each half's crossbars to the other half's, by ports after those of slices and SMs.
  void link_halves() {
    const Wire link = p_.between_halves();
    for (uint32_t half = 0; half < 2; ++half) {
      on_chip(g_.next_out(requests_[half]), g_.next_in(requests_[1 - half]), kRequests, link);
      on_chip(g_.next_out(replies_[half]), g_.next_in(replies_[1 - half]), kReplies, link);
    }
  }

  /// Link each slice to its twin. Invalidations of copies have a channel of their own, since the
  /// channel of replies has room only for the replies to requests under way.
  void link_twins() {
    const Wire link = p_.between_halves();
    const auto half = static_cast<uint32_t>(slices_.size() / 2);
    for (uint32_t i = 0; i < 2 * half; ++i) {
      const End from = g_.at(slices_[i]), to = g_.at(slices_[(i + half) % (2 * half)]);
      for (const uint8_t carries : {kRequests, kReplies, kInvalidations})
        g_.link(from, to, ChannelClass::kBetweenHalves, static_cast<uint8_t>(carries | kOwn), link);
    }
  }

  void on_chip(End from, End to, uint8_t carries, const Wire& wire) {
    g_.link(from, to, ChannelClass::kOnChip, carries, wire);
  }

  void set_homes(uint32_t k) {
    for (uint32_t lane = 0; lane < lanes(); ++lane) {
      const uint32_t number = k * slices_each() + lane % slices_each();
      if (m_.l2.link_copies) {
        const auto half = static_cast<uint32_t>(slices_.size() / 2);
        for (const uint32_t of_sms : {0u, 1u})
          g_.set_home(slice_homes_ + of_sms, k, lane, slices_[number % half + of_sms * half]);
      } else {
        g_.set_home(slice_homes_, k, lane, slices_[number]);
      }
      g_.set_home(channel_homes_, k, lane, channels_[k * channels_each() + lane % channels_each()]);
    }
  }

  const Parts& p_;
  const config::MachineConfig& m_;
  Graph g_;
  std::vector<NodeId> sms_, slices_, channels_, partitions_;
  NodeId requests_[2] = {kNoNode, kNoNode}, replies_[2] = {kNoNode, kNoNode};  // by half
  NodeId front_end_ = kNoNode;
  uint32_t slice_homes_ = 0, channel_homes_ = 0;
};

}  // namespace

Graph make_discrete(const Parts& parts) { return Discrete(parts).build(); }

}  // namespace nearwarp::sim
