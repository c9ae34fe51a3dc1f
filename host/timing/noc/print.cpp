// Measurements of a network as a table for people and as JSON for programs.
#include "host/timing/noc/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "host/core/json_as_text.h"
#include "host/timing/report/columns.h"

namespace nearwarp::noc {

namespace {

using Json = nlohmann::ordered_json;

std::string router_name(const NocReport& r, uint32_t router) {
  if (r.mesh_width == 0) return fmt::format("r{}", router);
  return fmt::format("({},{})", router % r.mesh_width, router / r.mesh_width);
}

std::string link_name(const NocReport& r, const LinkUse& l) {
  return fmt::format("{}->{}", router_name(r, l.router),
                     l.to_terminal ? fmt::format("node {}", l.to) : router_name(r, l.to));
}

const LinkUse& busiest(const LoadPoint& p) {
  return *std::max_element(p.links.begin(), p.links.end(), [](const LinkUse& a, const LinkUse& b) {
    return a.utilisation < b.utilisation;
  });
}

std::string packets_text(const NocConfig& c) {
  const char* const plural = c.packet_flits == 1 ? "" : "s";
  if (c.reply_flits == 0) return fmt::format("packets of {} flit{}", c.packet_flits, plural);
  return fmt::format("requests of {} flit{} and replies of {}", c.packet_flits, plural,
                     c.reply_flits);
}

/// Names the routers' abilities beyond one flit per port and cycle.
std::string speedups(const NocConfig& c) {
  std::string text;
  if (c.speedup != 1) text += fmt::format(", speed-up {}", c.speedup);
  if (c.input_speedup != 1) text += fmt::format(", input speed-up {}", c.input_speedup);
  if (c.wait_for_tail_credit) text += ", waiting for tail credits";
  return text;
}

std::string title(const NocReport& r, size_t width) {
  const NocConfig& c = r.config;
  const std::string share = c.vnets == 1 ? "" : fmt::format(" in {} virtual networks", c.vnets);
  return report::wrapped(
      fmt::format("{} {}{}, {} VC{} of {} flits{}{}, {} traffic, {}; zero load {:.2f} "
                  "cycles, channel bound {:.4f} flits/node/cycle",
                  c.topology, c.size, c.topology == "mesh" ? " " + c.routing : "", c.vcs,
                  c.vcs == 1 ? "" : "s", c.buffers, share, speedups(c), c.traffic, packets_text(c),
                  r.bounds.zero_load_latency, r.bounds.throughput),
      width);
}

std::string curve(const NocReport& r, size_t width) {
  std::vector<std::string> names;
  const bool replies = r.config.reply_flits != 0;
  std::vector<report::Column> columns{{"accepted", {}},
                                      {"latency", {}},
                                      {"+-", {}},
                                      {replies ? "request" : "network", {}},
                                      {replies ? "reply" : "routers", {}},
                                      {replies ? "round trip" : "max", {}},
                                      {"busiest link", {}}};
  for (const LoadPoint& p : r.points) {
    names.push_back(fmt::format("{:.4f}", p.rate));
    const LinkUse& link = busiest(p);
    const bool known = p.stable && p.packets != 0;
    const auto number = [known](double value) {
      return known ? fmt::format("{:.2f}", value) : std::string("-");
    };
    const std::string cells[] = {fmt::format("{:.4f}", p.accepted),
                                 p.stable ? number(p.latency) : "unstable",
                                 number(p.latency_error),
                                 number(replies ? p.request_latency : p.network_latency),
                                 number(replies ? p.reply_latency : p.hops),
                                 replies ? number(p.round_trip)
                                 : known ? std::to_string(p.max_latency)
                                         : "-",
                                 fmt::format("{:.3f} {}", link.utilisation, link_name(r, link))};
    for (size_t i = 0; i < columns.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  return report::columns_text(names, columns, width, "rate");
}

std::string busiest_links(const NocReport& r, size_t count, size_t width) {
  const LoadPoint* point = &r.points.front();
  for (const LoadPoint& p : r.points)
    if (p.stable) point = &p;
  std::vector<LinkUse> links = point->links;
  std::stable_sort(links.begin(), links.end(), [](const LinkUse& a, const LinkUse& b) {
    return a.utilisation > b.utilisation;
  });
  const size_t shown = std::min(count, links.size());
  std::vector<std::string> names;
  report::Column use{"flits/cycle", {}};
  for (size_t i = 0; i < shown; ++i) {
    names.push_back(link_name(r, links[i]));
    use.cells.push_back(fmt::format("{:.4f}", links[i].utilisation));
  }
  return fmt::format("\nbusiest links at rate {:.4f}, {} of {}\n", point->rate, shown,
                     links.size()) +
         report::columns_text(names, {use}, width);
}

std::string saturation_text(const Saturation& s) {
  if (s.unstable_rate == 0)
    return fmt::format("\ndoes not saturate: accepts {:.4f} of 1.0 offered\n", s.accepted_at_full);
  return fmt::format("\nsaturates between {:.4f} and {:.4f}; accepts {:.4f} of 1.0 offered\n",
                     s.stable_rate, s.unstable_rate, s.accepted_at_full);
}

Json point_json(const LoadPoint& p) {
  Json json = {{"rate", p.rate},
               {"stable", p.stable},
               {"accepted", p.accepted},
               {"latency", p.latency},
               {"latency_error", p.latency_error},
               {"network_latency", p.network_latency},
               {"request_latency", p.request_latency},
               {"reply_latency", p.reply_latency},
               {"round_trip", p.round_trip},
               {"routers", p.hops},
               {"max_latency", p.max_latency},
               {"packets", p.packets},
               {"warmup_cycles", p.warmup_cycles},
               {"measured_cycles", p.measured_cycles},
               {"drain_cycles", p.drain_cycles},
               {"router_cycles", p.router_cycles},
               {"seconds", p.seconds}};
  if (!p.stable) json["why"] = p.why;
  Json links = Json::array();
  for (const LinkUse& l : p.links) {
    links.push_back({{"router", l.router},
                     {"port", l.port},
                     {l.to_terminal ? "to_node" : "to_router", l.to},
                     {"utilisation", l.utilisation}});
  }
  json["links"] = std::move(links);
  return json;
}

Json config_json(const NocConfig& c, const MeasureConfig& m) {
  return {{"topology", c.topology},
          {"size", c.size},
          {"routing", c.routing},
          {"vcs", c.vcs},
          {"vnets", c.vnets},
          {"buffers", c.buffers},
          {"flits", c.packet_flits},
          {"reply_flits", c.reply_flits},
          {"traffic", c.traffic},
          {"hot_nodes", c.hot_nodes},
          {"hot_share", c.hot_share},
          {"routing_delay", c.routing_delay},
          {"vc_alloc_delay", c.vc_alloc_delay},
          {"sw_alloc_delay", c.sw_alloc_delay},
          {"traversal_delay", c.traversal_delay},
          {"credit_delay", c.credit_delay},
          {"speedup", c.speedup},
          {"input_speedup", c.input_speedup},
          {"wait_for_tail_credit", c.wait_for_tail_credit},
          {"link_latency", c.link_latency},
          {"seed", c.seed},
          {"period_cycles", m.period_cycles},
          {"period_packets", m.period_packets},
          {"warmup_periods", m.warmup_periods},
          {"min_periods", m.min_periods},
          {"max_periods", m.max_periods},
          {"tolerance", m.tolerance},
          {"latency_limit", m.latency_limit}};
}

}  // namespace

std::string format_report(const NocReport& r, size_t links, size_t width) {
  std::string text = title(r, width);
  if (!r.points.empty()) text += "\n" + curve(r, width);
  if (links > 0 && !r.points.empty()) text += busiest_links(r, links, width);
  if (r.saturation) text += saturation_text(*r.saturation);
  const char* const explanation =
      r.config.reply_flits == 0
          ? "rate, accepted: flits per sending node and cycle; latency: mean cycles from a "
            "packet's "
            "creation to its tail's arrival, +- its 95 % interval, max of any; network: from its "
            "head's entering; routers: passed, mean."
          : "rate, accepted: flits of requests and replies per sending node and cycle; latency: "
            "mean "
            "cycles from a packet's creation to its tail's arrival, +- its 95 % interval; request, "
            "reply: the same of either; a reply is created when its request's tail has arrived; "
            "round trip: from a request's creation to its reply's arrival.";
  return text + "\n" + report::wrapped(explanation, width);
}

std::string report_json(const NocReport& r, const std::string& version) {
  Json json = {{"schema", "nearwarp.noc/1"},
               {"nearwarp_version", version},
               {"config", config_json(r.config, r.measure)},
               {"zero_load_latency", r.bounds.zero_load_latency},
               {"throughput_bound", r.bounds.throughput},
               {"partial", r.partial}};
  Json points = Json::array();
  for (const LoadPoint& p : r.points) points.push_back(point_json(p));
  json["points"] = std::move(points);
  if (r.saturation) {
    Json& s = json["saturation"];
    s["stable_rate"] = r.saturation->stable_rate;
    s["unstable_rate"] = r.saturation->unstable_rate;
    s["accepted_at_full"] = r.saturation->accepted_at_full;
  }
  return json_as_text(json, 2) + "\n";
}

}  // namespace nearwarp::noc
