// A run's use of time (SM cycles, utilisation, ways of requests, networks) as JSON.
#include "host/timing/report/use_json.h"

namespace nearwarp::report {

namespace {

Json uses_json(const SmCycles& cycles) {
  Json uses = Json::object();
  for (size_t i = 0; i < kCycleUses.size(); ++i) uses[kCycleUses[i].name] = cycles.uses[i];
  return uses;
}

}  // namespace

Json sm_cycles_json(const RunResult& run) {
  Json rows = Json::array();
  for (const SmCycles& c : run.sm_cycles)
    rows.push_back({{"sms", c.sms},
                    {"count", c.count},
                    {"warp_slots", c.capacity},
                    {"warps", c.resident()},
                    {"cycles", c.total()},
                    {"uses", uses_json(c)}});
  return rows;
}

Json kernel_cycles_json(const RunResult& run, const std::string& kernel) {
  Json rows = Json::array();
  for (const SmCycles& c : run.kernel_cycles)
    if (c.kernel == kernel)
      rows.push_back({{"sms", c.sms}, {"cycles", c.total()}, {"uses", uses_json(c)}});
  return rows;
}

Json utilisation_json(const RunResult& run) {
  Json rows = Json::array();
  for (const Utilisation& u : run.utilisation)
    rows.push_back({{"name", u.name},
                    {"text", u.text},
                    {"components", u.components},
                    {"mean", u.mean()},
                    {"most", u.most()},
                    {"busiest", u.busiest}});
  return rows;
}

Json way_json(const RunResult& run) {
  Json rows = Json::array();
  for (const WayTime& w : run.way)
    rows.push_back({{"name", w.name},
                    {"text", w.text},
                    {"ticks", w.ticks},
                    {"between_stacks", w.between_stacks}});
  return rows;
}

Json networks_json(const RunResult& run) {
  Json networks = Json::array();
  for (const RouterNetwork& n : run.networks) {
    Json json = {{"name", n.name}, {"routers", n.routers}, {"cycles", n.cycles}};
    if (n.width != 0) {
      json["width"] = n.width;
      json["height"] = n.height;
    }
    json["from"] = json["to"] = json["flits"] = Json::array();
    for (const RouterWire& w : n.wires) {
      json["from"].push_back(w.from);
      json["to"].push_back(w.to);
      json["flits"].push_back(w.flits);
    }
    networks.push_back(std::move(json));
  }
  return networks;
}

}  // namespace nearwarp::report
