// The on-chip networks of a system, and the ports of its off-chip links.
#include <fmt/format.h>

#include "host/timing/machine/assembly.h"
#include "host/timing/machine/router_network.h"

namespace nearwarp::sim {

SwitchParams Assembly::switch_params(uint32_t flit_bytes, uint32_t endpoint) const {
  SwitchParams p;
  p.period = icnt_;
  p.flit_bytes = flit_bytes;
  p.component = static_cast<uint16_t>(endpoint);
  p.endpoints = s_.ends.count;
  return p;
}

std::vector<Ref<Channel>> Assembly::channels_of(const std::vector<SwitchLink>& links) {
  std::vector<Ref<Channel>> channels;
  for (const SwitchLink& l : links) channels.push_back(l.channel);
  return channels;
}

std::vector<SwitchLink> Assembly::by_cluster(const std::vector<Ref<Channel>>& channels) const {
  std::vector<SwitchLink> links;
  for (uint32_t i = 0; i < channels.size(); ++i)
    links.push_back({channels[i], static_cast<uint16_t>(i / m_.gpu.sms_per_cluster)});
  return links;
}

std::vector<SwitchLink> Assembly::one_by_one(const std::vector<Ref<Channel>>& slices,
                                             const std::vector<Ref<Channel>>& ports) {
  std::vector<SwitchLink> links;
  for (const Ref<Channel> c : slices) links.push_back({c, static_cast<uint16_t>(links.size())});
  for (const Ref<Channel> c : ports) links.push_back({c, static_cast<uint16_t>(links.size())});
  return links;
}

void Assembly::add_switch(uint32_t endpoint, const SwitchParams& p, const SwitchState& s,
                          const std::vector<SwitchLink>& in, std::string name) {
  add(endpoint, ComponentKind::kSwitch, p, s, channels_of(in), std::move(name));
}

template <class Routes>
void Assembly::add_network(uint32_t endpoint, const std::vector<SwitchLink>& in,
                           const std::vector<SwitchLink>& out, bool from_sms, std::string name,
                           Routes&& routes) {
  if (m_.interconnect.topology == "switch") {
    const SwitchParams p = switch_params(m_.interconnect.flit_bytes, endpoint);
    const SwitchState s = make_switch(s_.arena, p, in, out);
    routes(p, s);
    add_switch(endpoint, p, s, in, std::move(name));
    return;
  }
  noc::ChannelNetworkParams p;
  p.period = icnt_;
  p.component = static_cast<uint16_t>(endpoint);
  p.endpoints = s_.ends.count;
  const RouterNetwork n = make_router_network(s_.arena, m_, p, in, out, from_sms);
  routes(n.params, n.state);
  add(endpoint, ComponentKind::kRouterNetwork, n.params, n.state, channels_of(in), std::move(name));
}

void Assembly::make_crossbars() {
  const Endpoints& e = s_.ends;
  const auto out_of = [](uint32_t i) { return static_cast<uint16_t>(i); };
  auto ports = port_request_;
  if (e.learning) ports.push_back(to_host_);
  add_network(
      e.request_crossbar, by_cluster(sm_out_), one_by_one(slice_request_, ports), true,
      "request crossbar", [&](const auto& p, const auto& s) {
        std::byte* base = s_.arena.base();
        if (e.learning)
          set_route(p, s, base, e.host_memory, out_of(e.num_slices + e.num_stacks), kNoRoute);
        for (uint32_t i = 0; i < e.num_slices; ++i)
          set_route(p, s, base, out_of(e.first_slice + i), out_of(i), kNoRoute);
        if (!e.offloading) return;
        for (uint32_t k = 0; k < e.num_stacks; ++k)
          set_route(p, s, base, out_of(e.first_stack_sm + k), out_of(e.num_slices + k), kNoRoute);
      });
  ports = port_reply_;
  if (e.learning) ports.push_back(from_host_);
  add_network(e.reply_crossbar, one_by_one(slice_reply_, ports), by_cluster(sm_in_), false,
              "reply crossbar", [&](const auto& p, const auto& s) {
                for (uint32_t i = 0; i < e.num_sms; ++i)
                  set_route(p, s, s_.arena.base(), out_of(e.first_sm + i), kNoRoute, out_of(i));
              });
  if (!e.offloading) return;
  const SwitchParams p = switch_params(m_.interconnect.flit_bytes, e.invalidation_crossbar);
  const auto in = by_cluster(invalidate_out_);
  const auto out = one_by_one(slice_invalidate_, {});
  const SwitchState s = make_switch(s_.arena, p, in, out);
  for (uint32_t i = 0; i < e.num_slices; ++i)
    set_route(p, s, s_.arena.base(), out_of(e.first_slice + i), out_of(i), kNoRoute);
  add_switch(e.invalidation_crossbar, p, s, in, "invalidation crossbar");
}

void Assembly::make_port(uint32_t k) {
  const Endpoints& e = s_.ends;
  const uint32_t n = slices_per_stack();
  LinkPortParams p;
  // The port moves a packet per cycle; the slices' channels and the link set the pace.
  p.ports = switch_params(m_.l1.line_bytes * 2, e.first_port + k);
  p.endpoint = static_cast<uint16_t>(e.first_port + k);
  p.front_end = e.front_end;
  p.control_bytes = static_cast<uint16_t>(m_.packets.header_bytes);
  const auto slice = [&](const std::vector<Ref<Channel>>& v) {
    return std::vector<Ref<Channel>>(v.begin() + k * n, v.begin() + (k + 1) * n);
  };
  const auto in = one_by_one(slice(slice_to_port_), {port_request_[k], rx_[k]});
  const auto out = one_by_one(slice(port_to_slice_), {port_reply_[k], tx_[k]});
  const LinkPortState s = make_link_port(s_.arena, p, in, out, tx_[k], rx_[k],
                                         e.offloading ? port_control_[k] : Ref<Channel>{});
  const auto to_sms = static_cast<uint16_t>(n), to_link = static_cast<uint16_t>(n + 1);
  for (uint32_t x = 0; x < e.count; ++x) {
    const bool main_sm = x < uint32_t{e.first_sm} + e.num_sms;
    const bool own_slice = x >= e.first_slice + k * n && x < e.first_slice + (k + 1) * n;
    const bool in_stack_part = is_stack_sm(x) || is_vault(x);
    set_route(p.ports, s.ports, s_.arena.base(), static_cast<uint16_t>(x),
              in_stack_part ? to_link : kNoRoute,
              own_slice ? static_cast<uint16_t>(x - e.first_slice - k * n)
                        : (main_sm ? to_sms : kNoRoute));
  }
  add(e.first_port + k, ComponentKind::kLinkPort, p, s, channels_of(in),
      fmt::format("link port {}", k));
}

}  // namespace nearwarp::sim
