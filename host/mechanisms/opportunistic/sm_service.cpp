#include "host/mechanisms/opportunistic/sm_service.h"

#include <map>
#include <optional>

#include "device/mechanisms/opportunistic/sm_state.h"
#include "host/mechanisms/opportunistic/settings.h"

namespace nearwarp::opportunistic {

uint64_t service_bytes(const config::MachineConfig& machine, const config::PolicyConfig& policy) {
  return uint64_t{policy.table<ChainSettings>().service_entries} * kMaxOperands *
         machine.l1.line_bytes;
}

bool sms_can_serve(const config::MachineConfig& machine, const config::PolicyConfig& policy,
                   const sim::ImageTables& image) {
  if (machine.interconnect.topology != "mesh") return false;
  const sm::SmResources capacity = sim::sm_capacity(machine);
  const uint64_t wanted = service_bytes(machine, policy);
  for (const sm::LaunchInfo& launch : image.launches) {
    const uint64_t taken =
        uint64_t{sim::blocks_per_sm(capacity, launch.needs)} * launch.needs.shared_bytes;
    if (taken + wanted > capacity.shared_bytes) return false;
  }
  return true;
}

void link_service_queues(sim::Graph& g, const sim::Parts& parts) {
  const sim::NodeId requests = g.members(g.class_named("request_crossbar")).at(0);
  const sim::NodeId replies = g.members(g.class_named("reply_crossbar")).at(0);
  const uint32_t first_out = g.next_out(requests).port, first_in = g.next_in(replies).port;
  const std::vector<sim::NodeId> sms = g.members(g.class_named("sm"));
  for (uint32_t i = 0; i < sms.size(); ++i) {
    const uint32_t port = parts.cluster_of(i);
    g.link(g.at(requests, first_out + port), g.at(sms[i]), sim::ChannelClass::kChainsToSm,
           sim::kRequests | sim::kOwn, parts.hop());
    g.link(g.at(sms[i]), g.at(replies, first_in + port), sim::ChannelClass::kChainsFromSm,
           sim::kReplies | sim::kOwn, parts.hop());
  }
}

Ways ways_of(const config::MachineConfig& machine, const config::PolicyConfig& policy) {
  if (policy.table<ChainSettings>().meet == "either") return Ways::kEither;
  return machine.mesh.routing == "yx" ? Ways::kColumnsFirst : Ways::kRowsFirst;
}

Meetings find_meetings(const sim::System& system, const sim::Tiles& tiles, uint32_t sms_per_cluster,
                       Ways ways) {
  const auto slices = system.members("l2");
  Meetings m;
  m.slices = static_cast<uint32_t>(slices.size());
  m.slice_at.resize(system.nodes.size());
  for (uint32_t i = 0; i < m.slices; ++i) m.slice_at[slices[i]] = static_cast<uint8_t>(i);
  std::map<uint32_t, uint32_t> cluster_on;
  for (uint32_t k = 0; k < tiles.sms.size(); ++k) cluster_on[tiles.sms[k]] = k;
  for (uint32_t i = 0; i < system.sms.size(); ++i) {
    std::vector<Endpoint>& table = m.of.emplace_back(m.slices * m.slices, kNoMeeting);
    for (uint32_t a = 0; a < m.slices; ++a)
      for (uint32_t b = 0; b < m.slices; ++b) {
        const std::optional<uint32_t> tile = meet_node(
            tiles, tiles.sms[i / sms_per_cluster], tiles.memory.at(a), tiles.memory.at(b), ways);
        if (!tile || a == b) continue;
        // The SM of the tile's cluster at the same place as this one in its own.
        const uint32_t sm = cluster_on.at(*tile) * sms_per_cluster + i % sms_per_cluster;
        if (sm < system.sms.size()) table[a * m.slices + b] = endpoint_of(system.sms[sm]);
      }
  }
  return m;
}

}  // namespace nearwarp::opportunistic
